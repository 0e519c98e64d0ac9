import { expect, test } from 'vitest';
import { OutlastError } from '../../core/error.ts';
import { checkGrants, parseGrants } from './grant-file.ts';
import { sampleGrants } from './samples.ts';

const file = (rule: object, grant: object = {}): string =>
  JSON.stringify({ grants: [{ name: 'shop', origin: 'https://shop.example', rules: [rule], ...grant }] });
const get = { method: 'GET', path: '/**' };

function complaint(text: string): string {
  try {
    parseGrants(text);
  } catch (error) {
    expect(error).toBeInstanceOf(OutlastError);
    expect((error as OutlastError).code).toBe('tool.invalid');
    return (error as OutlastError).message;
  }
  return 'nothing';
}

test('a file is read as it is written', () => {
  const rule = {
    method: 'POST',
    path: '/orders/*',
    capability: { kind: 'queryable', lateMs: 2000 },
    referenceHeader: 'X-Order',
    ask: {
      path: '/orders?ref={reference}',
      found: '/orders',
      reference: '/ref',
      result: '',
      notFound: 'absent',
    },
    failures: 'clean',
    secrets: ['token', '/links/0'],
    identity: ['sku'],
    except: ['/orders/all'],
  };
  expect(parseGrants(file(rule))).toEqual([{ name: 'shop', origin: 'https://shop.example', rules: [rule] }]);
  expect(parseGrants('{"grants":[]}')).toEqual([]);
  expect(parseGrants(file({ ...get, capability: 'read' }))[0]?.rules[0]?.capability).toBe('read');
});

const cancelable = {
  method: 'POST',
  path: '/bookings',
  capability: { kind: 'cancelable', lateMs: 2000 },
  ask: { path: '/bookings?ref={reference}', found: '/bookings', reference: '/ref' },
  cancel: { method: 'DELETE', path: '/bookings/{id}', id: '/id', undone: '/cancelledAt' },
};

test('a rule whose extras can be undone says how to ask and how to undo', () => {
  expect(parseGrants(file(cancelable))[0]?.rules).toEqual([cancelable]);
  const { ask: _ask, ...unasked } = cancelable;
  const { cancel: _cancel, ...fixed } = cancelable;
  const place = 'grants[0].rules[0]';
  const cases: readonly [string, object][] = [
    [`${place}.ask: says how to ask; a cancelable rule needs it`, unasked],
    [`${place}.cancel: says how an extra is undone; a cancelable rule needs it`, fixed],
    [
      `${place}.cancel: goes with the capability cancelable only`,
      { ...cancelable, capability: { kind: 'queryable', lateMs: 1 } },
    ],
    [`${place}.capability`, { ...cancelable, capability: { kind: 'cancelable' } }],
    [`${place}.capability`, { ...cancelable, capability: 'cancelable' }],
    [`${place}.cancel.method`, { ...cancelable, cancel: { ...cancelable.cancel, method: 'delete' } }],
    [
      `${place}.cancel.path: is a path with {id}`,
      { ...cancelable, cancel: { ...cancelable.cancel, path: '/b' } },
    ],
    [`${place}.cancel.path`, { ...cancelable, cancel: { ...cancelable.cancel, path: '//evil/{id}' } }],
    [`${place}.cancel.path`, { ...cancelable, cancel: { ...cancelable.cancel, path: 'https://evil/{id}' } }],
    [`${place}.cancel.id`, { ...cancelable, cancel: { ...cancelable.cancel, id: 'id' } }],
    [`${place}.cancel.undone`, { ...cancelable, cancel: { ...cancelable.cancel, undone: 'x' } }],
    [`${place}.cancel`, { ...cancelable, cancel: { ...cancelable.cancel, body: 'x' } }],
  ];
  for (const [complained, rule] of cases) expect(complaint(file(rule))).toContain(complained);
});

test('what is wrong is named by its place', () => {
  expect(complaint('{')).toBe('The grants are not JSON.');
  expect(complaint('[]')).toContain('the file: ');
  expect(complaint('{"grants":{}}')).toContain('grants: ');
  const cases: readonly [string, object, object?][] = [
    ['grants[0].rules[0].capability', { ...get, capability: 'write' }],
    ['grants[0].rules[0].capability', { ...get, capability: { kind: 'keyed' } }],
    ['grants[0].rules[0].capability.retentionMs', { ...get, capability: { kind: 'keyed', retentionMs: -1 } }],
    ['grants[0].rules[0].method', { ...get, method: 'get' }],
    ['grants[0].rules[0].path', { method: 'GET' }],
    ['grants[0].rules[0].except[0]', { ...get, except: ['hooks'] }],
    ['grants[0].rules[0].secrets[1]', { ...get, secrets: ['token', '/a~2'] }],
    ['grants[0].rules[0].ask', { ...get, capability: { kind: 'queryable', lateMs: 1 } }],
    ['grants[0].rules[0].ask', { ...get, ask: { path: '/x?{reference}', found: '' } }],
    ['grants[0].rules[0].ask.path', { ...get, ask: { path: '/x', found: '' } }],
    ['grants[0].rules[0].ask.path', { ...get, ask: { path: '//x/{reference}', found: '' } }],
    ['grants[0].rules[0].keyHeader', { ...get, keyHeader: 'X-Key' }],
    [
      'grants[0].rules[0].keyHeader',
      { ...get, capability: { kind: 'keyed', retentionMs: 1 }, keyHeader: 'a b' },
    ],
    ['grants[0].rules[0]', { ...get, capabilty: 'read' }],
    ['grants[0].origin', get, { origin: 'https://shop.example/path' }],
    ['grants[0].origin', get, { origin: 'https://shop.example/' }],
    ['grants[0].origin', get, { origin: 'https://me:word@shop.example' }],
    ['grants[0].origin', get, { origin: 'ftp://shop.example' }],
    ['grants[0].describe', get, { describe: 'two\nlines' }],
    ['grants[0].name', get, { name: '' }],
  ];
  for (const [place, rule, grant] of cases) {
    expect([place, JSON.stringify(rule), complaint(file(rule, grant))]).toEqual([
      place,
      JSON.stringify(rule),
      expect.stringContaining(`${place}: `),
    ]);
  }
});

test('a path that no address can have is no path', () => {
  const wrong = ['', 'a', '/a?b', '/a#b', '/a/**/b', '/a*', '//a', '/a/../b', '/%61', '/a b', '/é', '/a\\b'];
  const complaints = wrong.map((path) => complaint(file({ ...get, path })));
  expect(complaints.filter((text) => !text.includes('grants[0].rules[0].path: '))).toEqual([]);
  const right = ['/', '/**', '/a/*/b', '/a/', '/a/%C3%A9', '/a.b_c~d-e', '/:id/@x'];
  expect(right.map((path) => complaint(file({ ...get, path })))).toEqual(right.map(() => 'nothing'));
});

test('two grants of one name, and grants made in code, are checked too', () => {
  const grant = { name: 'shop', origin: 'https://shop.example', rules: [] };
  expect(() => checkGrants([grant, grant])).toThrow('grants[1].name: "shop" is taken');
  const samples = sampleGrants({ billingUrl: 'http://127.0.0.1:4801', mailingUrl: 'http://127.0.0.1:4802/' });
  expect(checkGrants(samples)).toEqual(samples);
});
