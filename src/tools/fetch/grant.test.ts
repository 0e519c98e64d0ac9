import { expect, test } from 'vitest';
import { addressOf } from './address.ts';
import { capabilityOf, type Grant, notGranted, type Rule, ruleFor } from './grant.ts';

const origin = 'http://127.0.0.1:4801';
const shop = (...rules: Rule[]): readonly Grant[] => [{ name: 'shop', origin, rules }];
const address = (path: string, at = origin) => {
  const parsed = addressOf(`${at}${path}`);
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
};
const grants = (path: string, asked: string, method = 'GET', except: readonly string[] = []): boolean =>
  ruleFor(shop({ method: 'GET', path, except }), method, address(asked)) !== undefined;

test('a path pattern is exact, has * for a segment, and ** for all below', () => {
  expect(grants('/messages', '/messages')).toBe(true);
  expect(grants('/messages', '/messages/1')).toBe(false);
  expect(grants('/messages', '/messages/')).toBe(false);
  expect(grants('/users/*/mail', '/users/7/mail')).toBe(true);
  expect(grants('/users/*/mail', '/users/7/8/mail')).toBe(false);
  expect(grants('/users/*', '/users/')).toBe(false);
  expect(grants('/auth/**', '/auth')).toBe(true);
  expect(grants('/auth/**', '/auth/a/b')).toBe(true);
  expect(grants('/auth/**', '/authority')).toBe(false);
  expect(grants('/**', '/')).toBe(true);
  expect(grants('/', '/')).toBe(true);
  expect(grants('/', '/x')).toBe(false);
});

test('G1: GET grants HEAD, * grants all, another method is another request, the first match counts', () => {
  expect(grants('/a', '/a', 'HEAD')).toBe(true);
  expect(grants('/a', '/a', 'POST')).toBe(false);
  const any = shop({ method: '*', path: '/a' });
  expect(ruleFor(any, 'DELETE', address('/a'))).toBeDefined();
  const [first, second]: Rule[] = [
    { method: 'POST', path: '/auth/token', secrets: ['token'] },
    { method: 'POST', path: '/auth/*' },
  ];
  expect(ruleFor(shop(first as Rule, second as Rule), 'POST', address('/auth/token'))).toBe(first);
});

test('G3: what a rule leaves out stays out, also when it is spelled in another way', () => {
  const except = ['/__hooks/**'];
  expect(grants('/**', '/accounts', 'GET', except)).toBe(true);
  for (const path of ['/__hooks', '/__hooks/x', '/%5F_hooks', '/a/../__hooks', '/a/%2e%2e/__hooks']) {
    expect(grants('/**', path, 'GET', except)).toBe(false);
  }
});

test('G2: reads read and anything else is blind, unless the rule says otherwise', () => {
  const plain: Rule = { method: '*', path: '/**' };
  expect(
    ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'].map((method) => capabilityOf(plain, method).kind),
  ).toEqual([...['read', 'read', 'blind', 'blind', 'blind']]);
  expect(capabilityOf({ ...plain, capability: 'read' }, 'POST')).toEqual({ kind: 'read' });
  expect(capabilityOf({ ...plain, capability: { kind: 'keyed', retentionMs: 5 } }, 'PUT')).toEqual({
    kind: 'keyed',
    retentionMs: 5,
  });
});

test('a refusal says what is granted: there, or where', () => {
  const granted = shop({ method: 'GET', path: '/a' }, { method: 'POST', path: '/b' });
  expect(notGranted(granted, 'PUT', address('/a?token=x')).refused).toEqual({
    code: 'grant.none',
    message: `PUT ${origin}/a is not granted. Granted: shop at ${origin} with GET /a, POST /b.`,
  });
  const elsewhere = address('/', 'http://169.254.169.254');
  expect(notGranted(granted, 'GET', elsewhere).refused.message).toBe(
    `GET http://169.254.169.254/ is not granted. Granted: shop at ${origin}.`,
  );
  expect(notGranted([], 'GET', elsewhere).refused.message).toContain('No service is granted.');
});
