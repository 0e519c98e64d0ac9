import { expect, test } from 'vitest';
import type { Json } from '../../lib/json.ts';
import type { FetchResult } from './answer.ts';
import { askUrl, readAsked, resultIn } from './ask.ts';
import type { Ask } from './grant.ts';

const ask: Ask = { path: '/m?ref={reference}', found: '/messages', reference: '/ref' };
const read = (body: Json, { status = 200, as = ask }: { status?: number; as?: Ask } = {}) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return readAsked(as, { status, headers: {}, body: text } as FetchResult, 'r1');
};

test('the reference stands in the address and cannot leave its place', () => {
  expect(askUrl(ask, 'http://h', 'ses_1.e2&x=/../')).toBe('http://h/m?ref=ses_1.e2%26x%3D%2F..%2F');
});

test('K1: found needs our record', () => {
  expect(read({ messages: [{ ref: 'r0' }, { ref: 'r1', id: 7 }] })).toEqual({
    status: 'found',
    records: [{ ref: 'r1', id: 7 }],
  });
  expect(read({ messages: [{ ref: 'r0' }] })).toMatchObject({ status: 'unclear' });
  expect(read({ messages: [{ id: 7 }] })).toMatchObject({ status: 'unclear' });
  const { reference: _, ...trusting } = ask;
  expect(read({ messages: [{ id: 7 }] }, { as: trusting })).toEqual({
    status: 'found',
    records: [{ id: 7 }],
  });
  const withId = { ...ask, result: '/id' };
  expect(resultIn(withId, { ref: 'r1', id: 7 })).toBe(7);
  expect(resultIn(withId, { ref: 'r1' })).toBeUndefined();
  expect(read({ ref: 'r1' }, { as: { ...ask, found: '' } })).toMatchObject({ status: 'found' });
});

test('K1: absent needs the service to say so', () => {
  for (const messages of [[], null, false] as Json[])
    expect(read({ messages })).toEqual({ status: 'absent' });
  expect(read('', { status: 404, as: { ...ask, notFound: 'absent' } })).toEqual({ status: 'absent' });
  expect(read('', { status: 404 })).toMatchObject({ status: 'unclear' });
  for (const body of [{}, { error: 'x' }, [], 'no json', 'null', ''] as Json[]) {
    expect([body, read(body).status]).toEqual([body, 'unclear']);
  }
  for (const status of [204, 302, 401, 429, 500]) {
    expect(read({ messages: [] }, { status }).status).toBe('unclear');
  }
  const cut = { status: 200, headers: {}, body: '{"messages":[]}', truncated: true } as FetchResult;
  expect(readAsked(ask, cut, 'r1').status).toBe('unclear');
});
