/** Made-up commits and a clock by hand, for the suite and for the tests of adapters. */

import { type Owner, type SessionId, sessionId } from '../core/ids.ts';
import type { Clock } from '../lib/clock.ts';
import { blobRef } from './check.ts';
import type { Blob, Commit, CommitResult, Store, StoredEvent, Summary } from './port.ts';

export const local = 'local' as Owner;

/** `sampleId(7)` is always the same session id. */
export function sampleId(n: number): SessionId {
  return sessionId(`sample${String(n).padStart(14, '0')}`);
}

/** A clock that stands still until it is moved. */
export function handClock(start = 1_000_000): Clock & { advance(ms: number): void } {
  let now = start;
  return {
    now: () => now,
    monotonic: () => now,
    sleep: () => Promise.resolve(),
    advance(ms) {
      now += ms;
    },
  };
}

export function sampleEvent(seq: number, body: unknown = { n: seq }): StoredEvent {
  return { seq, at: 1000 + seq, kind: 'sample.noted', version: 1, body: JSON.stringify(body) };
}

export function sampleBlob(bytes: Uint8Array): Blob {
  return { ref: blobRef(bytes), bytes };
}

export function sampleSummary(over: Partial<Summary> = {}): Summary {
  return {
    owner: local,
    phase: 'working',
    title: 'a sample',
    persist: true,
    dueAt: null,
    updatedAt: 1000,
    startedAt: 1000,
    lastResponse: null,
    openDecisions: 0,
    unknownEffects: 0,
    turn: 0,
    ...over,
  };
}

/** A commit of `count` events after `head`. */
export function sampleCommit(
  session: SessionId,
  head: number,
  over: Partial<Commit> & { count?: number } = {},
): Commit {
  const { count = 1, ...rest } = over;
  const events = Array.from({ length: count }, (_, index) => sampleEvent(head + 1 + index));
  return { session, head, epoch: null, events, blobs: [], summary: sampleSummary(), ...rest };
}

/** Appends as a client does: on a conflict, again from the head that stands. */
export async function append(store: Store, session: SessionId, count = 1): Promise<CommitResult> {
  for (let head = (await store.row(session))?.head ?? 0; ; ) {
    const result = await store.commit(sampleCommit(session, head, { count }));
    if (result.status !== 'conflict') return result;
    head = result.head;
  }
}
