/**
 * The port to sandboxes of real processes: the commands of a session, in the foreground and behind it, and its Python
 * kernel. One suite (`suite.ts`) proves each adapter, by the abilities that it declares.
 *
 * C1  One reference, one run: asked again, by any worker, the answer is what became of the first.
 * C2  A call returns at the end of its command or at a limit, never later, whoever still holds its pipes.
 * C3  Whatever a session has started is in one tree, and `end` resolves when nothing of it is left.
 * C4  Who comes with an older epoch is refused. Nothing acts for long without a holder that renews.
 */

export type ConfinementName = 'bubblewrap' | 'namespaces' | 'none';

export interface Abilities {
  readonly confinement: ConfinementName;
  /** Whether anything outside the workspace can be reached. */
  readonly network: 'denied' | 'listed' | 'open';
  /** Whether commands and kernel live on when the worker dies. */
  readonly outlivesWorker: boolean;
  readonly pty: boolean;
  /** Version of the Python that was found; null without one. */
  readonly python: string | null;
  /** What keeps the whole kernel when it is parked, `criu 4.2`; else its values are kept. */
  readonly keepsWhole?: string | null;
}

/** Bounds of one session's tree; each says what happens when it is reached. */
export interface ProcessLimits {
  /** All memory of the tree; then the kernel's choice among its processes dies, or all of the command. */
  readonly memoryMb: number;
  /** Processes and threads at once; then no more start. */
  readonly processes: number;
  /** The largest file that can be written; then the writer is ended. */
  readonly fileMb: number;
  /** Workspace and scratch together; then what runs is ended. */
  readonly diskMb: number;
  /** Kept output of one command; then it is ended. */
  readonly outputMb: number;
}

export const PROCESS_LIMITS: ProcessLimits = {
  memoryMb: 2_048,
  processes: 256,
  fileMb: 1_024,
  diskMb: 4_096,
  outputMb: 64,
};

export interface Command {
  /** C1. */
  readonly reference: string;
  /** For the shell. */
  readonly command: string;
  /** Inside the sandbox; relative to the workspace. */
  readonly cwd: string;
  /** Running time in the foreground; with `background`, in all; null for no bound there. */
  readonly timeoutMs: number | null;
  readonly background: boolean;
  /** What it reads from stdin, which then ends; null for an stdin that is at its end. With `pty`, it stays open. */
  readonly input: string | null;
  readonly pty: boolean;
}

/** Why a command ended. */
export type Ending =
  | 'exit'
  | 'time'
  | 'memory'
  | 'processes'
  | 'output'
  | 'disk'
  /** By whoever asked for it, or by an order to end all. */
  | 'killed'
  /** With its sandbox; nobody saw its end. */
  | 'lost';

/** Output of any length in bounds: its beginning, its end, and where all of it is. */
export interface Excerpt {
  readonly head: string;
  /** Empty when the head is all. */
  readonly tail: string;
  readonly bytes: number;
  /** Bytes between head and tail. */
  readonly omitted: number;
  /** Path inside the sandbox. */
  readonly file: string;
}

export interface Report {
  readonly reference: string;
  /** `j1`, `j2` … */
  readonly job: string;
  readonly command: string;
  readonly status: 'running' | 'ended';
  /** Null while it runs, or when nobody saw its end. */
  readonly exitCode: number | null;
  readonly ending: Ending | null;
  readonly startedAt: number;
  readonly ms: number;
  readonly output: Excerpt;
  /** Whether processes of it still run: itself, or what it left behind. */
  readonly isAlive: boolean;
}

/** A piece of Python for the kernel. */
export interface Cell {
  /** C1. */
  readonly reference: string;
  /** What it is called: the names that it binds are known by it. */
  readonly cell: string;
  readonly code: string;
  readonly timeoutMs: number;
}

export interface LiveName {
  readonly name: string;
  /** With the shape of what has more than one dimension: `DataFrame 500×4`. */
  readonly type: string;
  readonly size: number | null;
  /** The cell that last bound it. */
  readonly cell: string;
}

/** A name that could not be brought back. */
export interface LostName extends LiveName {
  readonly why: string;
  /** The code of its cell. */
  readonly code: string;
}

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Rows and columns that there are. */
  readonly of: readonly [rows: number, columns: number];
}

/** What a cell gave. */
export interface CellResult {
  /** Whether the code was run. Not, where names are gone since the cell before: first it is told which. */
  readonly ran: boolean;
  readonly value?: string;
  readonly table?: Table;
  readonly error?: string;
  /** PNG files, as paths inside. */
  readonly plots: readonly string[];
  /** Another kernel is another generation. */
  readonly generation: number;
  readonly live: readonly LiveName[];
  /** Gone since the cell before this one, or with it. */
  readonly lost: readonly LostName[];
  /** Brought back by value into a new kernel. */
  readonly restored: readonly string[];
}

export interface CellReport extends Report {
  readonly result: CellResult | null;
}

/** What becomes of a kernel that is to be parked: its memory given up, or what could not be kept without it. */
export type Parked =
  | { readonly status: 'parked'; readonly kept: readonly string[] }
  | { readonly status: 'kept'; readonly unsaved: readonly LostName[] };

/** What stands under a reference. */
export type Found =
  | { readonly status: 'known'; readonly report: Report | CellReport }
  /** It never came, and cannot come any more. */
  | { readonly status: 'absent' }
  /** The sandbox is gone and with it everything that could say. */
  | { readonly status: 'gone' };

export interface ProcessBox {
  /** Runs a command to its end, or until it is in the background. Called off, it ends the command and says so. */
  run(command: Command, signal: AbortSignal): Promise<Report>;
  /** Runs a cell in the kernel of the session, which is started for the first one. Called off, it is interrupted. */
  cell(cell: Cell, signal: AbortSignal): Promise<CellReport>;
  /** Looks for a reference without running anything; waits for a foreground command that still runs. */
  find(reference: string, signal: AbortSignal): Promise<Found>;
  /** Everything that has processes, oldest first. */
  jobs(): Promise<readonly Report[]>;
  /** One job, with an excerpt of at most so many characters; null when there is none of that name. */
  look(job: string, chars?: number): Promise<Report | null>;
  /** Writes to the stdin of a job with a terminal, once for each reference; false when nobody reads there. */
  input(job: string, text: string, reference: string): Promise<boolean>;
  /** Ends everything of a job; null when there is none of that name. */
  kill(job: string): Promise<Report | null>;
}

/** What lives in a kernel, and what is lost of it and was not told yet. */
export interface KernelObjects {
  readonly generation: number;
  readonly live: readonly LiveName[];
  readonly lost: readonly LostName[];
}

/** The sandboxes of all sessions, as the worker has them. */
export interface Processes {
  readonly abilities: Abilities;
  /** What confinement is in force, in a line for people. */
  readonly says: string;
  /**
   * The sandbox of a session for the holder of this epoch: attached where it lives, else started. `workspace` is null
   * where the files are not on this machine.
   */
  open(session: string, epoch: number, workspace: string | null): Promise<ProcessBox>;
  /** Looks for a reference where nothing may be started. */
  find(session: string, epoch: number, reference: string, signal: AbortSignal): Promise<Found>;
  /** The session is held under this epoch now, by this worker. */
  hold(session: string, epoch: number): void;
  /** What runs of a session, without starting anything. */
  running(session: string): Promise<readonly Report[]>;
  /**
   * Gives up the memory of a kernel, its values kept on the disk, without starting anything. One with names that cannot be
   * kept stays, unless they may go. What runs in the background goes on.
   */
  park(session: string, epoch: number, mayLose: boolean): Promise<Parked>;
  /** What lives in the kernel of a session, without starting anything; null when nothing is known of any. */
  objects(session: string, epoch: number): Promise<KernelObjects | null>;
  /** C3. */
  end(session: string): Promise<void>;
  /** After `end`: nothing of it is left on the disk either, no output, journal or kept kernel. Again, it does nothing. */
  erase(session: string, epoch: number): Promise<void>;
  /** Lets go of all, which then ends by itself unless another worker comes: C4. */
  close(): Promise<void>;
}
