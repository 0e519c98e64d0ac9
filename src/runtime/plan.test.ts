import { expect, it } from 'vitest';
import type { CellId } from '../core/ids.ts';
import { sequence } from '../testing/facts.ts';
import { planGuestCalls } from './plan.ts';
import { registry } from './registry.ts';

const cell = 'c1' as CellId;
const timer = (ms: number) => [{ guestCall: 1, name: 'timer', args: JSON.stringify({ ms }) }];
const working = sequence().started().acquired(1).message('x').turn();
const resting = working.reply('Done.').surfaced('Done.');

it('a timer that a cell sets is due when it says; one that is set at rest, not sooner than in a second', () => {
  const due = ({ state }: typeof working, ms: number): number => {
    const [event] = planGuestCalls(state, cell, timer(ms), registry([]));
    return event?.kind === 'timer.set' ? event.due - state.at : Number.NaN;
  };
  expect([due(working, 0), due(working, 250)]).toEqual([1, 250]);
  expect([due(resting, 0), due(resting, 250), due(resting, 5_000)]).toEqual([1_000, 1_000, 5_000]);
});

it('a call that is not granted is intended and refused, so that its promise rejects by the log', () => {
  const events = planGuestCalls(
    working.state,
    cell,
    [{ guestCall: 2, name: 'tools.rm', args: '{}' }],
    registry([]),
  );
  expect(events).toMatchObject([
    { kind: 'effect.intended', effect: 'e1', origin: { guestCall: 2 } },
    { kind: 'effect.refused', effect: 'e1', code: 'tool.not_granted' },
  ]);
});
