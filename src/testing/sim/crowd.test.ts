/** Slots under crashes: at every boundary, on both sides, and with planted bugs that must be caught. */

import { expect, it } from 'vitest';
import { overlaid } from '../../lib/overlaid.ts';
import type { Store } from '../../store/port.ts';
import { inlineSandbox } from '../inline-sandbox.ts';
import { type Crowd, crowd } from './crowd.ts';
import type { Crash } from './life.ts';
import type { Mutation } from './machine.ts';

const sandbox = await inlineSandbox();

/** Every run, until one finds something where that is all that is wanted. */
async function loop(
  slots: number,
  bug?: () => Mutation,
): Promise<{ runs: number; crashes: number; findings: string[] }> {
  const run = (crash?: Crash): Promise<Crowd> =>
    crowd({ slots, sandbox, ...(crash ? { crash } : {}), ...(bug ? { mutation: bug() } : {}) });
  const clean = await run();
  const findings = clean.findings.map((finding) => `clean: ${finding}`);
  let [runs, crashes] = [1, 0];
  for (const [index, at] of clean.boundaries.entries()) {
    for (const side of ['before', 'after'] as const) {
      if (bug && findings.length > 0) return { runs, crashes, findings };
      const { crashed, findings: found } = await run({ boundary: index + 1, side });
      findings.push(...found.map((finding) => `${side} ${index + 1} (${at}): ${finding}`));
      runs++;
      crashes += Number(crashed);
    }
  }
  return { runs, crashes, findings };
}

it.each([1, 2])(
  '%i slots: kills anywhere, and never more at work, all get a turn, in order',
  { timeout: 240_000 },
  async (slots) => {
    const { crashes, findings } = await loop(slots);
    expect(findings).toEqual([]);
    expect(crashes).toBeGreaterThan(100);
  },
);

const BUGS: readonly (readonly [name: string, bug: () => Mutation])[] = [
  [
    'not freed at rest: who sleeps keeps its slot',
    () => ({ store: (real) => overlaid<Store>(real, { free: async () => null }) }),
  ],
  [
    // Counted by hand, as if somebody always came by to give it back.
    'leaked: the slot of a dead worker is never free again',
    () => {
      const held = new Set<string>();
      return {
        store: (real) =>
          overlaid<Store>(real, {
            async claim(session, epoch, slots, ttlMs) {
              if (held.size >= slots && !held.has(session)) return { status: 'full', place: 1 };
              held.add(session);
              return real.claim(session, epoch, 1_000, ttlMs);
            },
            async free(session, epoch) {
              held.delete(session);
              return real.free(session, epoch);
            },
            async release(session, epoch) {
              held.delete(session);
              return real.release(session, epoch);
            },
          }),
      };
    },
  ],
  [
    'out of order: a free slot goes to whoever asks first',
    () => ({
      store: (real) =>
        overlaid<Store>(real, {
          async claim(session, epoch, slots, ttlMs) {
            const { working, waiting } = await real.queue('local' as never);
            return real.claim(session, epoch, working < slots ? slots + waiting.length : slots, ttlMs);
          },
        }),
    }),
  ],
  [
    'uncounted: a session that is taken over is let in without a slot',
    () => ({
      store: (real) =>
        overlaid<Store>(real, {
          claim: async (session, epoch, slots, ttlMs) =>
            epoch > 1 ? { status: 'granted' } : real.claim(session, epoch, slots, ttlMs),
        }),
    }),
  ],
];

it.each(BUGS)('caught: %s', { timeout: 240_000 }, async (_name, bug) => {
  const { findings } = await loop(1, bug);
  expect(findings).not.toEqual([]);
});
