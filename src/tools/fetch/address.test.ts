import { expect, test } from 'vitest';
import { addressOf } from './address.ts';

const place = (text: string): string => {
  const address = addressOf(text);
  return typeof address === 'string' ? 'refused' : address.place;
};

test('A1: only a complete http or https address passes', () => {
  expect(place('http://127.0.0.1:4801/messages?a=1#part')).toBe('http://127.0.0.1:4801/messages');
  expect(place('HTTPS://Shop.Example:443')).toBe('https://shop.example/');
  const hostile = [
    'http://127.0.0.1:4801@evil/',
    'http://user:word@127.0.0.1:4801/',
    'http://@127.0.0.1:4801/',
    'http:\\\\127.0.0.1:4801\\x',
    'http://127.0.0.1:4801\\@evil/',
    'http://127.0.0.1:4801/a b',
    'http://127.0.0.1:4801/\r\nX: y',
    ' http://127.0.0.1:4801/',
    '//127.0.0.1:4801/',
    '/messages',
    'http:/127.0.0.1:4801/',
    'http:///127.0.0.1:4801/',
    'http:127.0.0.1:4801/',
    'file:///etc/hosts',
    'javascript:alert(1)',
    'data:text/plain,x',
    'ws://127.0.0.1:4801/',
    'http://127.0.0.1:99999/',
    'http://[::1/',
    'http://%zz/',
    '',
  ];
  expect(hostile.filter((text) => place(text) !== 'refused')).toEqual([]);
});

test('A1: a refusal repeats nothing of the address', () => {
  for (const text of ['http://user:topsecret@h/', 'http://h/%2ftopsecret', 'http://h//topsecret']) {
    expect(addressOf(text)).not.toContain('topsecret');
  }
});

test('A2: one path has one spelling, and hides no other', () => {
  expect(place('http://h/%61uth/%7Euser')).toBe('http://h/auth/~user');
  expect(place('http://h/a%c3%a9')).toBe('http://h/a%C3%A9');
  expect(place('http://h/a/../b/./c')).toBe('http://h/b/c');
  expect(place('http://h/a/%2e%2E/b')).toBe('http://h/b');
  expect(place('http://h/a/')).toBe('http://h/a');
  expect(place('http://h/é')).toBe('http://h/%C3%A9');
  const tricks = [
    '/a%2fb',
    '/a%2Fb',
    '/a%5Cb',
    '/a%00',
    '/a%252fb',
    '/a%252e%252e/b',
    '/a//b',
    '//evil/x',
    '/a%zz',
  ];
  const more = ['/a/..;/b', '/a/.;x/b', '/a/%2e%2e;/b', '/a%'];
  expect([...tricks, ...more].filter((path) => place(`http://h${path}`) !== 'refused')).toEqual([]);
});

test('A3: other spellings of an IP mean that IP', () => {
  expect(place('http://2130706433:4801/')).toBe('http://127.0.0.1:4801/');
  expect(place('http://0x7f.1:4801/')).toBe('http://127.0.0.1:4801/');
  expect(place('http://[::ffff:127.0.0.1]:4801/')).toBe('http://[::ffff:7f00:1]:4801/');
});
