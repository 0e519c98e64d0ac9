/** What the parts of the suite share: the store of the running test, two sessions, and small helpers. */

import { OutlastError } from '../../core/error.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Acquired, Store, StoredEvent } from '../port.ts';
import { append, sampleId } from '../sample.ts';

export interface Trial {
  /** Another one after `reopen`. */
  readonly store: Store;
  advance(ms: number): void | Promise<void>;
  /** Opens the data again as if the worker had gone without a word, or skips the test with the adapter's reason. */
  reopen(skip: (reason: string) => void): Promise<void>;
}

export const a = sampleId(1);
export const b = sampleId(2);

/** Creates the session and takes its lease; gives the epoch. */
export async function hold(trial: Trial, session: SessionId, holder = 'w1', ttlMs = 1000): Promise<number> {
  await append(trial.store, session);
  return epochOf(await trial.store.acquire(session, holder, ttlMs));
}

export function epochOf(acquired: Acquired): number {
  if (acquired.status !== 'acquired') throw new Error(`held by ${acquired.holder}`);
  return acquired.epoch;
}

export async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (cause: unknown) => cause,
  );
  return error instanceof OutlastError ? error.code : `no code: ${error}`;
}

export function seqs(events: readonly StoredEvent[]): number[] {
  return events.map((event) => event.seq);
}

export function range(n: number): number[] {
  return Array.from({ length: n }, (_, index) => index);
}

/** Bytes that do not compress to nothing, the same each time. */
export function bytes(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 2654435761) >>> 13);
}
