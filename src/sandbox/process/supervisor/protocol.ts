/**
 * What a worker and a supervisor say to each other: a line of JSON for each request and one for its answer, over a unix
 * socket that only the user of the server can open.
 */

import type { Cell, CellReport, Command, Found, KernelObjects, Parked, Report } from '../port.ts';

export type Request =
  /** Here is the holder of this epoch, and it renews. */
  | { readonly op: 'renew' }
  /** The key of what is kept of this session, in base64; it is kept in memory. */
  | { readonly op: 'trust'; readonly key: string }
  | { readonly op: 'run'; readonly command: Command }
  | { readonly op: 'cell'; readonly cell: Cell }
  | { readonly op: 'objects' }
  | { readonly op: 'park'; readonly mayLose: boolean }
  | { readonly op: 'find'; readonly reference: string }
  /** Whoever asked for it does not want it any more. */
  | { readonly op: 'callOff'; readonly reference: string }
  | { readonly op: 'jobs' }
  | { readonly op: 'look'; readonly job: string; readonly chars: number | null }
  | { readonly op: 'input'; readonly job: string; readonly text: string; readonly reference: string }
  | { readonly op: 'kill'; readonly job: string }
  | { readonly op: 'end' };

export interface Answers {
  readonly renew: null;
  readonly trust: null;
  readonly run: Report;
  readonly cell: CellReport;
  readonly objects: KernelObjects | null;
  readonly park: Parked;
  readonly find: Found;
  readonly callOff: null;
  readonly jobs: readonly Report[];
  readonly look: Report | null;
  readonly input: boolean;
  readonly kill: Report | null;
  readonly end: null;
}

export type Asked = Request & { readonly id: number; readonly epoch: number };

export type Answered =
  | { readonly id: number; readonly ok: true; readonly answer: unknown }
  /** `old`: a newer epoch has been here. */
  | { readonly id: number; readonly ok: false; readonly code: 'old' | 'failed'; readonly message: string };
