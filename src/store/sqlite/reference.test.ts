/** Any sequence of calls has the same outcomes on SQLite as on the reference. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Owner } from '../../core/ids.ts';
import { given } from '../../lib/given.ts';
import { memoryStore } from '../memory.ts';
import type { Store } from '../port.ts';
import { handClock, local, sampleCommit, sampleId, sampleSummary } from '../sample.ts';
import { sqliteStore } from './open.ts';

/** One call, made of numbers small enough that sessions, heads, epochs and keys often meet. */
type Call = (store: Store, advance: (ms: number) => void) => Promise<unknown>;

const session = fc.nat(3).map(sampleId);
const owner = fc.constantFrom(local, 'eve' as Owner);
const count = fc.integer({ min: 1, max: 3 });
const dueAt = fc.constantFrom(null, 0, 1_000_100, 1_000_900);
const epoch = fc.constantFrom(null, null, 0, 1, 2, 3);
const phase = fc.constantFrom('working', 'paused');
const queuedAt = fc.constantFrom(undefined, undefined, 7, 9);

const call: fc.Arbitrary<Call> = fc.oneof(
  fc
    .record({
      session,
      head: fc.nat(6),
      count,
      epoch,
      owner,
      dueAt,
      phase,
      queuedAt,
      key: fc.constantFrom(null, 'k', 'l'),
    })
    .map(
      ({ session, head, count, epoch, owner, dueAt, phase, queuedAt, key }): Call =>
        (store) => {
          const summary = sampleSummary({
            ...{ owner, dueAt, phase },
            ...given({ queuedAt }),
            startedAt: 1000 + count,
          });
          return store.commit(sampleCommit(session, head, { count, epoch, summary, startKey: key }));
        },
    ),
  // The head that stands, so that logs grow.
  fc.record({ session, count, epoch, queuedAt }).map(
    ({ session, count, epoch, queuedAt }): Call =>
      async (store) => {
        const row = await store.row(session);
        const over = {
          count,
          epoch,
          summary: sampleSummary({ owner: row?.owner ?? local, ...given({ queuedAt }) }),
        };
        return store.commit(sampleCommit(session, row?.head ?? 0, over));
      },
  ),
  fc.record({ session, epoch }).map(
    ({ session, epoch }): Call =>
      async (store) => {
        const row = await store.row(session);
        if (!row) return null;
        const summary = sampleSummary({ owner: row.owner, phase: 'deleted' });
        return store.commit(sampleCommit(session, row.head, { epoch, summary, erases: true }));
      },
  ),
  fc.tuple(session, fc.constantFrom('w1', 'w2')).map(
    ([id, who]): Call =>
      (store) =>
        store.acquire(id, who, 500),
  ),
  fc.tuple(session, fc.nat(3)).map(
    ([id, epoch]): Call =>
      (store) =>
        store.renew(id, epoch, 500),
  ),
  fc.tuple(session, fc.nat(3)).map(
    ([id, epoch]): Call =>
      (store) =>
        store.release(id, epoch),
  ),
  fc.tuple(session, fc.nat(3), fc.nat(2)).map(
    ([id, epoch, slots]): Call =>
      (store) =>
        store.claim(id, epoch, slots, 500),
  ),
  fc.tuple(session, fc.nat(3)).map(
    ([id, epoch]): Call =>
      (store) =>
        store.free(id, epoch),
  ),
  owner.map(
    (who): Call =>
      (store) =>
        store.queue(who),
  ),
  fc.nat(600).map(
    (ms): Call =>
      async (_, advance) =>
        advance(ms),
  ),
  fc.tuple(session, fc.nat(6), fc.nat(4)).map(
    ([id, after, limit]): Call =>
      (store) =>
        store.read(id, after, limit),
  ),
  fc.record({ owner, phase, after: session, limit: fc.nat(4) }, { requiredKeys: ['limit'] }).map(
    (query): Call =>
      (store) =>
        store.list(query),
  ),
  fc.nat(4).map(
    (limit): Call =>
      (store) =>
        store.due(1_000_500, limit, 1),
  ),
  fc.constant<Call>((store) => store.nextDue()),
  fc.tuple(owner, fc.constantFrom('k', 'l')).map(
    ([who, key]): Call =>
      (store) =>
        store.findStart(who, key),
  ),
);

/** What comes of each call; of an error, its words. */
async function play(store: Store, calls: readonly Call[], advance: (ms: number) => void): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  for (const make of calls) outcomes.push(await make(store, advance).catch((error: Error) => error.message));
  for (const id of [0, 1, 2, 3].map(sampleId))
    outcomes.push(await store.row(id), await store.read(id, 0, 100));
  return outcomes;
}

describe('sqlite and the reference', () => {
  it('agree on every call', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 10, maxLength: 60 }), async (calls) => {
        const dir = mkdtempSync(join(tmpdir(), 'outlast-'));
        const [clockA, clockB] = [handClock(), handClock()];
        const store = await sqliteStore({ dir, clock: clockB });
        const expected = await play(memoryStore(clockA), calls, clockA.advance);
        expect(await play(store, calls, clockB.advance)).toEqual(expected);
        await store.close();
        rmSync(dir, { recursive: true });
      }),
      { numRuns: 60, seed: 1 },
    );
  });
});
