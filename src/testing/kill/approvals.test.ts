/** The desk for approvals: one answer to each, noted from when it was begun to be said, and none to questions of another kind. */

import { expect, it } from 'vitest';
import type { Event } from '../../core/event.ts';
import { systemClock } from '../../lib/clock.ts';
import { Approvals } from './approvals.ts';

const event = (body: object): Event => body as unknown as Event;

const intended = event({
  ...{ kind: 'effect.intended', effect: 'e1' },
  args: { url: 'http://outside/asked/keyed', body: '{"what":"r1.1.1"}' },
});
const asked = (about: string): Event =>
  event({ kind: 'decision.requested', about, effect: 'e1', decision: 'd1' });

function desk(...numbers: readonly number[]) {
  const said: (readonly [string, string])[] = [];
  const left = [...numbers];
  const over = new AbortController();
  const approvals = new Approvals({
    random: () => left.shift() ?? 0,
    decide: async (decision, answer) => void said.push([decision, answer]),
    signal: over.signal,
  });
  return { approvals, said, over };
}

it('says yes, or now and then no, once, however often it is asked', async () => {
  const yes = desk(0.5, 0);
  const before = systemClock.now();
  for (const one of [intended, asked('approval'), asked('approval')]) yes.approvals.heard(one);
  await yes.approvals.done();
  expect(yes.said).toEqual([['d1', 'approve']]);
  expect(yes.approvals.made.get('r1.1.1')?.answer).toBe('approve');
  expect(yes.approvals.made.get('r1.1.1')?.at).toBeGreaterThanOrEqual(before);

  const no = desk(0.1, 0);
  for (const one of [intended, asked('approval')]) no.approvals.heard(one);
  await no.approvals.done();
  expect(no.said).toEqual([['d1', 'reject']]);
});

it('leaves questions about what happened to others, and says nothing when all is over', async () => {
  const { approvals, said, over } = desk(0.5, 0.9);
  for (const one of [intended, asked('unknown'), asked('approval')]) approvals.heard(one);
  over.abort();
  await approvals.done();
  expect(said).toEqual([]);
  expect(approvals.made.size).toBe(0);
});
