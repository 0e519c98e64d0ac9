/** What a supervisor is told when it is started: a file in the folder of its session. */

import type { CageSpec } from '../confine/detect.ts';
import type { Shown } from '../confine/visible.ts';
import type { ProcessLimits } from '../port.ts';

export interface Settings {
  readonly session: string;
  /** Folder of this session: journal, outputs, scratch, socket. */
  readonly dir: string;
  readonly socket: string;
  readonly workspace: string;
  readonly cage: CageSpec;
  readonly shown: readonly Shown[];
  /** The Python of the kernel; null without one. */
  readonly python: string | null;
  /** What keeps its whole process when it is parked; null where only values are. */
  readonly criu: string | null;
  /** Folders with programs, for `PATH`. */
  readonly path: string;
  /** Hosts that may be reached, as people write them, and the sockets of the way out; null without any. */
  readonly network: {
    readonly hosts: readonly string[];
    readonly egress: string;
    readonly hold: string;
  } | null;
  readonly limits: ProcessLimits;
  /** Of the holder that starts it. */
  readonly epoch: number;
  /** How long it acts without a holder that renews. */
  readonly holdMs: number;
  /** How long it stays with nothing running and nobody asking. */
  readonly idleMs: number;
}

export const files = {
  settings: 'supervisor.json',
  journal: 'journal.jsonl',
  epoch: 'epoch',
  log: 'supervisor.log',
  outputs: 'outputs',
  scratch: 'scratch',
} as const;
