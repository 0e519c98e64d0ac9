/** What counts as appended by a holder whose lease has ended, and what does not. */

import { expect, it } from 'vitest';
import type { Event, EventBody } from '../../core/event.ts';
import { underOldLease } from './freeze.ts';

const FROZEN_AT = 100;
const THAWED_AT = 16_100;

type Stamped = readonly [number, EventBody['kind']];

const log = (...events: Stamped[]) =>
  events.map(([at, kind], i) => ({ seq: i + 1, at, kind }) as unknown as Event);

const kinds = (...events: Stamped[]): readonly string[] =>
  underOldLease(log([90, 'lease.acquired'], ...events), THAWED_AT).map(({ kind }) => kind);

it('facts and choices of before the next lease', () => {
  const late = [
    [16_105, 'effect.settled'],
    [16_106, 'effect.dispatched'],
    [16_107, 'heap.restored'],
  ] as const;
  expect(kinds(...late, [16_110, 'lease.acquired'])).toEqual(late.map(([, kind]) => kind));
  expect(kinds(...late)).toHaveLength(3);
});

it('not inputs and evidence, nor what was being written, nor what comes under the next lease', () => {
  const written = [FROZEN_AT, 'effect.dispatched'] as const;
  const inputs = [
    [16_101, 'message.accepted'],
    [16_102, 'evidence.received'],
  ] as const;
  expect(kinds(written, ...inputs, [16_110, 'lease.acquired'], [16_111, 'effect.settled'])).toEqual([]);
});
