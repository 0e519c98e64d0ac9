import { expect, test } from 'vitest';
import type { Json } from '../../lib/json.ts';
import type { Grant, Rule } from './grant.ts';
import { granted } from './request.ts';

const origin = 'http://127.0.0.1:4801';
const grant = (rule: Partial<Rule> = {}): readonly Grant[] => [
  { name: 'shop', origin, rules: [{ method: '*', path: '/**', ...rule }] },
];
const ask = (args: { readonly [name: string]: Json }, rule: Partial<Rule> = {}) =>
  granted({ url: `${origin}/x`, ...args }, grant(rule));
const planOf = (args: { readonly [name: string]: Json }, rule: Partial<Rule> = {}) => {
  const asked = ask(args, rule);
  if ('refused' in asked) throw new Error(asked.refused.message);
  return asked.plan;
};

test('Q1: one request has one form, however it is worded', () => {
  const one = planOf({
    url: 'HTTP://127.0.0.1:4801/a/../%78?b=1#c',
    method: 'post',
    headers: { 'X-B': ' 2 ', 'Content-Type': 'text/plain', Accept: 'a' },
    body: 'hello',
  });
  const other = planOf({
    url: `${origin}/x?b=1`,
    method: 'POST',
    headers: [
      ['accept', 'a'],
      ['content-type', 'text/plain'],
      ['x-b', '2'],
    ],
    body: 'hello',
  });
  expect(JSON.stringify(one)).toBe(JSON.stringify(other));
  expect(one).toEqual({
    capability: { kind: 'blind' },
    target: `POST ${origin}/x`,
    identity: null,
    args: {
      method: 'POST',
      url: `${origin}/x?b=1`,
      headers: { accept: 'a', 'content-type': 'text/plain', 'x-b': '2' },
      body: 'hello',
    },
  });
  expect(planOf(one.args as { readonly [name: string]: Json })).toEqual(one);
});

test('D1, D2: headers of the connection, of proxies, of other methods and of the runtime are dropped', () => {
  const dropped = [
    ...[
      'Host',
      'Content-Length',
      'Transfer-Encoding',
      'TE',
      'Trailer',
      'Connection',
      'Keep-Alive',
      'Upgrade',
    ],
    ...[
      'Expect',
      'Cookie',
      'Proxy-Authorization',
      'X-Forwarded-For',
      'Forwarded',
      'Sec-Fetch-Site',
      'Origin',
    ],
    ...[
      'X-HTTP-Method-Override',
      'Accept-Encoding',
      'Idempotency-Key',
      'X-Reference',
      'X-Outlast-Epoch',
      'X-My-Key',
    ],
  ];
  const headers = Object.fromEntries([...dropped, 'Authorization'].map((name) => [name, 'v']));
  const plan = planOf({ headers }, { keyHeader: 'X-My-Key' });
  expect((plan.args as { headers: Json }).headers).toEqual({ authorization: 'v' });
});

test('headers that could begin a line, or are none, are refused without being repeated', () => {
  const hostile = [
    { 'X-A': 'topsecret\r\nHost: evil' },
    { 'X-A': 'topsecret\nB: c' },
    { 'X-A': 'topsecret\0' },
    { 'X-A': 'topsecret\u{1f600}' },
    { 'X-A\r\nB': 'topsecret' },
    { 'topsecret: x\r\n': 'y' },
    { '': 'topsecret' },
    { 'X-A': ['topsecret'] },
    [['X-A']],
    'X-A: topsecret',
    7,
  ];
  for (const headers of hostile as Json[]) {
    const asked = ask({ headers });
    expect(asked).toEqual({
      refused: { code: 'call.invalid', message: expect.not.stringContaining('topsecret') },
    });
  }
});

test('what is no request is refused', () => {
  const refused = (args: Json) => 'refused' in granted(args, grant());
  for (const args of [null, 7, 'x', [], {}, { url: 7 }] as Json[]) expect(refused(args)).toBe(true);
  for (const method of ['', 'CONNECT', 'trace', 'TRACK', 'GET /evil', 'G\r\nX', 7, null] as Json[]) {
    expect([method, 'refused' in ask({ method })]).toEqual([method, true]);
  }
  for (const body of [7, {}, []] as Json[]) expect('refused' in ask({ method: 'POST', body })).toBe(true);
  expect('refused' in ask({ method: 'GET', body: 'x' })).toBe(true);
  expect('refused' in ask({ method: 'GET', body: '' })).toBe(false);
});

test('half a surrogate pair is made whole before anything is digested', () => {
  expect(planOf({ method: 'POST', body: 'a\ud800b' }).args).toMatchObject({ body: 'a\ufffdb' });
  expect(planOf({ method: 'POST', body: 'a\u{1f600}b' }).args).toMatchObject({ body: 'a\u{1f600}b' });
  expect(planOf({ url: `${origin}/x?q=\udc00` }).args).toMatchObject({ url: `${origin}/x?q=%EF%BF%BD` });
});

test('identity narrows only when every field can be told', () => {
  const identity = ['to', '/order/id'];
  const of = (body: Json, rule: Partial<Rule> = { identity }) =>
    planOf({ method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) }, rule).identity;
  expect(of({ to: 'a', order: { id: 7 }, note: 'x' })).toBe('["a",7]');
  expect(of({ note: 'other words', order: { id: 7 }, to: 'a' })).toBe('["a",7]');
  expect(of({ to: 'a' })).toBeNull();
  expect(of({ to: null, order: { id: 7 } })).toBeNull();
  expect(of('no json')).toBeNull();
  expect(of({ to: 'sealed:v1:abc', order: { id: 7 } })).toBeNull();
  expect(of({ to: 'a', order: { id: 7 } }, {})).toBeNull();
});

test('Q2: a sealed secret has no place in a path', () => {
  for (const path of ['/sealed:v1:abc', '/x/sealed%3Av1%3aabc', '/%73ealed:v1:abc']) {
    expect(ask({ url: `${origin}${path}` })).toMatchObject({ refused: { code: 'call.invalid' } });
  }
});
