/** The limits of a session: part of its contract, fixed when it starts. */

/** Bounds of a session; each names what happens when it is reached. */
export interface Limits {
  /** Model calls in one turn; then the turn fails and the session awaits input. */
  readonly stepsPerTurn: number;
  /** Attempts at one model call; then the turn fails. */
  readonly modelAttempts: number;
  /** Time for one model call; then it counts as failed and is tried again. */
  readonly modelTimeoutMs: number;
  /** Time without an answer after which an effect's outcome is unknown. */
  readonly effectTimeoutMs: number;
  /** Attempts at one read. */
  readonly readAttempts: number;
  /** Running time of one cell between two awaits; then the cell is aborted. */
  readonly cellMs: number;
  /** Heap of the sandbox. */
  readonly heapMb: number;
  /** Characters of output that the model gets of one cell. */
  readonly outputChars: number;
  /** Workers that may die over the same spot; then the session is quarantined. */
  readonly crashes: number;
  /** The most that the model takes in one request; what is more is compacted before it is asked. */
  readonly windowTokens: number;
  /** Size of the model's view above which its past is compacted; 0: where that costs least. */
  readonly contextTokens: number;
  /** The most bytes that a request may have; what is more is compacted before it is sent. */
  readonly requestBytes: number;
  /** Generations of children below a session that is nobody's child; 0: none. A deeper one is refused. */
  readonly childDepth: number;
  /** Sessions below the top one, over all its life. One more is refused. */
  readonly childrenTotal: number;
  /** Children of one session that are at work at the same time. One more is refused. */
  readonly childrenAtOnce: number;
  /**
   * A kernel of a resting session with objects that cannot be kept by value is given up so long after a notice, unless
   * something comes in; 0: never, it stays in memory.
   */
  readonly kernelNoticeMs: number;
  /**
   * A session that rests for so long, or is over, is deleted; for the last part of it, a quarter or an hour to a week, a
   * notice stands, and whatever comes in keeps it. 0: it is kept for ever.
   */
  readonly retentionMs: number;
}

export const DEFAULT_LIMITS: Limits = {
  stepsPerTurn: 40,
  modelAttempts: 4,
  modelTimeoutMs: 600_000,
  effectTimeoutMs: 30_000,
  readAttempts: 3,
  cellMs: 10_000,
  heapMb: 256,
  outputChars: 16_000,
  crashes: 5,
  windowTokens: 128_000,
  contextTokens: 0,
  requestBytes: 32 * 1024 * 1024,
  childDepth: 2,
  childrenTotal: 30,
  childrenAtOnce: 8,
  kernelNoticeMs: 0,
  retentionMs: 0,
};
