import { expect, it } from 'vitest';
import { sequence } from '../../testing/facts.ts';
import { evolve } from '../evolve.ts';
import { next } from '../next.ts';
import type { State } from '../state.ts';
import { graceMs } from './next.ts';

const DAY = 24 * 3_600_000;
const KEPT_DAYS = 90;

/** A session at rest that is kept for so many days. */
const rested = (days: number): State =>
  sequence()
    .started({ limits: { retentionMs: days * DAY } })
    .acquired(1)
    .message('Load')
    .turn()
    .reply('Loaded.')
    .surfaced('Loaded.').state;

/** What is asked for about the end of the session, day by day, for two years. */
function days(s: State): readonly (readonly [day: number, asked: string])[] {
  return Array.from({ length: 730 }, (_, day) => day).flatMap((day) => {
    const { calls } = next(s, s.activeAt + day * DAY);
    return calls.flatMap((call) => (call.do === 'survey' ? [[day, JSON.stringify(call)] as const] : []));
  });
}

it('R1 nothing is deleted where nobody asked for it, in two years', () => {
  expect(days(rested(0))).toEqual([]);
});

it('R1 a notice stands for its whole grace time before anything goes, and the time that is kept is as it was said', () => {
  const s = rested(KEPT_DAYS);
  const grace = graceMs(KEPT_DAYS * DAY);
  expect(grace).toBe(7 * DAY);
  const [first] = days(s);
  expect(first).toEqual([KEPT_DAYS - 7, JSON.stringify({ do: 'survey', since: s.activeAt, until: null })]);

  // Noticed late, since no worker ran: the grace time is as long.
  const at = s.activeAt + 200 * DAY;
  const until = at + grace;
  const noticed = evolve(s, { kind: 'retention.noticed', since: s.activeAt, until, seq: s.head + 1, at });
  expect(noticed.activeAt).toBe(s.activeAt);
  expect(days(noticed)[0]).toEqual([207, JSON.stringify({ do: 'survey', since: s.activeAt, until })]);

  // Whoever speaks begins another rest, and it is kept as long again.
  const spoken = evolve(noticed, { kind: 'session.resumed', by: 'ann', seq: noticed.head + 1, at: at + DAY });
  expect(spoken.activeAt).toBe(at + DAY);
  expect(days(spoken)[0]?.[0]).toBe(KEPT_DAYS - 7);
});
