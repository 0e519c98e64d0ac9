/**
 * The port to whoever decides which session runs and when. It promises only this: run `drive(id)` at least once after
 * a wake, one at a time per id. Everything durable is in the store, and fencing is the log's.
 */

import type { SessionId } from '../core/ids.ts';

export type Drive = (session: SessionId, signal: AbortSignal) => Promise<void>;

export interface Driver {
  start(drive: Drive): void;
  /** Drive soon. A hint: waking an idle session is cheap, a lost wake is found by the sweeper. */
  wake(session: SessionId): void;
  isDriving(session: SessionId): boolean;
  /** Ends all drives cleanly and starts none any more. */
  stop(): Promise<void>;
}
