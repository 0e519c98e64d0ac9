/**
 * The port to environments on other machines, in the way of those who rent them: created, used by `exec` and `files`,
 * paused, resumed. `http.ts` is the one that comes with us; whoever has E2B, Daytona, Modal or machines of their own
 * writes these few methods (docs/design/process-sandbox.md).
 *
 * E1  A session has one environment, found by the session. Its id names it: another id is another environment, and
 *     nothing of the one before is in it. A call for an id that is not there any more throws `hands.lost`.
 * E2  `exec` and `files` are answered by the hands inside. A call without an answer throws `hands.unreachable`, and that
 *     says nothing about what it was to do: a command is known inside by its reference, and is asked for by it.
 * E3  Whoever comes with an older epoch than the newest that was there is refused: `lease.lost`.
 * E4  What is paused costs nothing, or little, and answers nothing. `keeps` says what a pause leaves as it is.
 */

import type { Tree } from '../core/workspace/tree.ts';
import type { Json } from '../lib/json.ts';
import type {
  Abilities,
  Cell,
  CellReport,
  Command,
  Found,
  KernelObjects,
  Parked,
  Report,
} from '../sandbox/process/port.ts';

export interface EnvironmentAbilities extends Abilities {
  /** What a pause keeps: nothing where there is none, the files, or all that lives in memory as well. */
  readonly pauseKeeps: 'no pause' | 'files' | 'memory';
}

/** Where a call goes, and by whom. */
export interface At {
  readonly session: string;
  /** E1. */
  readonly id: string;
  /** E3. */
  readonly epoch: number;
}

/** What is asked of the processes of a session: what their port has, in a call that can be written down. */
export type Exec =
  /** Starts what is needed. */
  | { readonly op: 'open' }
  | { readonly op: 'run'; readonly command: Command }
  | { readonly op: 'cell'; readonly cell: Cell }
  | { readonly op: 'find' | 'callOff'; readonly reference: string }
  | { readonly op: 'jobs' }
  | { readonly op: 'look'; readonly job: string; readonly chars: number | null }
  | { readonly op: 'input'; readonly job: string; readonly text: string; readonly reference: string }
  | { readonly op: 'kill'; readonly job: string }
  /** Starts nothing, like those that follow. */
  | { readonly op: 'running' }
  | { readonly op: 'objects' }
  | { readonly op: 'park'; readonly mayLose: boolean }
  | { readonly op: 'end' };

export interface ExecAnswers {
  readonly open: null;
  readonly run: Report;
  readonly cell: CellReport;
  readonly find: Found;
  readonly callOff: null;
  readonly jobs: readonly Report[];
  readonly look: Report | null;
  readonly input: boolean;
  readonly kill: Report | null;
  readonly running: readonly Report[];
  readonly objects: KernelObjects | null;
  readonly park: Parked;
  readonly end: null;
}

/** One that has this among its names. */
export type ExecCall<Op extends Exec['op']> = Exec & { readonly op: Op };

/** It goes on: ask for the reference of a command, and for files in the same words again. No request is left open for long. */
export const PENDING = 'pending';

/** What is asked of the files. Bytes go beside a call and its answer, pieces packed (`lib/pack`). */
export type FileCall =
  | { readonly op: 'enter' }
  /** What stands there, as what is other than in the tree with this digest; pieces that are new are set aside. */
  | { readonly op: 'look'; readonly known: string }
  /** The same for one who does not have that tree: the digests of all known pieces are in the bytes. */
  | { readonly op: 'lookAnew' }
  /** A piece that was set aside. */
  | { readonly op: 'take'; readonly digest: string }
  /** Which pieces are missing there to make this tree. */
  | { readonly op: 'want'; readonly tree: Tree }
  | { readonly op: 'put'; readonly digest: string }
  /** Makes it, of pieces that were put; `lost` says of a piece why it is not among them. */
  | { readonly op: 'restore'; readonly tree: Tree; readonly lost: Readonly<Record<string, string>> }
  | { readonly op: 'find' | 'list'; readonly path: string }
  | { readonly op: 'read'; readonly path: string; readonly from: number; readonly length: number }
  | { readonly op: 'write'; readonly path: string }
  | { readonly op: 'remember'; readonly name: string; readonly value: Json }
  | { readonly op: 'recall'; readonly name: string };

/** What a look saw: entries by what is other than in the known tree, or all of them. */
export type Looked =
  | { readonly status: 'none' }
  /** It does not have the known tree: look anew. */
  | { readonly status: 'ask anew' }
  | {
      readonly status: 'seen';
      readonly set: Tree;
      readonly gone: readonly string[];
      readonly left: readonly { readonly path: string; readonly why: string }[];
    };

export interface Environments {
  /** In a line for people: what they are, and where. */
  readonly name: string;
  abilities(): Promise<{ readonly abilities: EnvironmentAbilities; readonly says: string }>;
  /** The id of the one that is there, awake; else of a new one. */
  create(session: string): Promise<string>;
  /** The id of the one that is there, awake; null when there is none. */
  resume(session: string): Promise<string | null>;
  /** Ends it with all that is in it, for good. One that is not there is no error. E3. */
  destroy(session: string, epoch: number): Promise<void>;
  /** E4. */
  pause(at: At): Promise<void>;
  /** `PENDING` instead of an answer where that takes long; for files too. */
  exec<Op extends Exec['op']>(at: At, asked: ExecCall<Op>): Promise<ExecAnswers[Op] | typeof PENDING>;
  files(
    at: At,
    asked: FileCall,
    bytes?: Uint8Array,
  ): Promise<{ readonly answer: unknown; readonly bytes: Uint8Array }>;
  /** These sessions are held under these epochs. What nobody renews ends by itself. */
  renew(held: readonly At[]): Promise<void>;
  /** Lets go of all. What is still asked fails at once. */
  close(): Promise<void>;
}
