/**
 * A cage: how the processes of one session are kept from everything else. Two walls:
 *
 * - the outer one, around the supervisor and all that it starts: a process id, network and IPC namespace of the session.
 *   It has no network but its own loopback, and it ends as a whole when its first process does.
 * - the inner one, around each command: a user without rights, a read-only system, the workspace, and no environment. A
 *   command has a process id namespace of its own inside that of the session, so it, too, ends as a whole.
 */

import type { ConfinementName } from '../port.ts';
import type { Shown } from './visible.ts';

/** What every command of a session sees. */
export interface Room {
  readonly shown: readonly Shown[];
  /** On the host; inside it is `WORKSPACE`. */
  readonly workspace: string;
  /** On the host; inside it is `/tmp`. */
  readonly scratch: string;
  /** On the host, empty, and not to be seen inside: a place to put a root together. */
  readonly root: string;
  /** On the host; inside it is `/outputs`, read-only. */
  readonly outputs: string;
  /** Files that stand in for those of the machine: path inside, path on the host. */
  readonly files: readonly (readonly [inside: string, host: string])[];
  readonly env: Readonly<Record<string, string>>;
}

/** One process to start inside. */
export interface Inmate {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Whether it gets a terminal of its own, and so keeps the session of that. */
  readonly pty: boolean;
  /**
   * A descriptor of a user namespace in which to put it, as the first process of its own: so all of it can be frozen. Only
   * bubblewrap can.
   */
  readonly userns?: number;
}

export interface Cage {
  readonly name: ConfinementName;
  /** The command line that runs `argv` behind the outer wall; it lives as long as anything in there. */
  outer(argv: readonly string[]): readonly string[];
  /**
   * The command line of one command. On descriptor 3 it says `{"exit-code":N}` when the command itself ends; descriptor
   * 4 stays open until all that it started is gone.
   */
  inner(inmate: Inmate, room: Room): readonly string[];
}

export const WORKSPACE = '/workspace';
export const SCRATCH = '/tmp';
export const OUTPUTS = '/outputs';
/** Nobody, on most systems. */
export const NOBODY = 65_534;
