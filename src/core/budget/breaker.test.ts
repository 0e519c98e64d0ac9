import { expect, it } from 'vitest';
import type { Json } from '../../lib/json.ts';
import type { ResultStatus } from '../message.ts';
import type { Call } from '../state.ts';
import { counted, failures, NONE_FAILING, tripped } from './breaker.ts';

const call = (status: ResultStatus, input: Json = { a: 1, b: 2 }, tool = 'look', broken?: string): Call => ({
  part: { type: 'tool-call', call: 'call_1' as never, tool, input, ...(broken ? { broken } : {}) },
  state: 'answered',
  result: { status, text: '' },
});
const times = (n: number, one: Call): Call[] => Array.from({ length: n }, () => one);

it('counts failures and refusals of the same tool with the same input, in any spelling', () => {
  const failing = counted(NONE_FAILING, [
    call('failed'),
    call('refused', { b: 2, a: 1 }),
    call('failed', {}),
  ]);
  expect(failures(failing, call('done').part)).toBe(2);
  expect(failures(failing, call('done', {}).part)).toBe(1);
  expect(failures(failing, call('done', { a: 1, b: 2 }, 'pay').part)).toBe(0);
});

it('forgets one that succeeds, and takes an unknown outcome for neither', () => {
  const failing = counted(NONE_FAILING, times(2, call('failed')));
  expect(failures(counted(failing, [call('unknown'), call('suspended')]), call('done').part)).toBe(2);
  expect(counted(failing, [call('done')])).toBe(NONE_FAILING);
});

it('costs nothing while nothing has failed', () => {
  const input = new Proxy({}, { ownKeys: () => expect.unreachable('the input is looked at') });
  expect(counted(NONE_FAILING, [call('done', input as Json)])).toBe(NONE_FAILING);
  expect(failures(NONE_FAILING, call('done', input as Json).part)).toBe(0);
});

it('trips at the sixth, and leaves cut calls to their own bound', () => {
  expect(tripped(counted(NONE_FAILING, times(4, call('failed'))), [call('refused')])).toBeNull();
  expect(tripped(counted(NONE_FAILING, times(5, call('failed'))), [call('refused')])).toBe('look');
  expect(tripped(NONE_FAILING, times(6, call('refused', {}, 'look', 'cut')))).toBeNull();
});
