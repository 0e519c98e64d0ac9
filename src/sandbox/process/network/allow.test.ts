import { expect, it } from 'vitest';
import { allowedOf, isAllowed } from './allow.ts';

it('allows by host and port, exactly', () => {
  const list = allowedOf(['api.example.org', '*.cdn.example.org:443', '127.0.0.1:8080', '[::1]:81']);
  const may = (host: string, port: number) => isAllowed(list, host, port);
  expect([may('api.example.org', 443), may('API.example.org.', 80), may('a.b.cdn.example.org', 443)]).toEqual(
    [true, true, true],
  );
  expect([may('127.0.0.1', 8080), may('[::1]', 81)]).toEqual([true, true]);
  for (const [host, port] of [
    ['api.example.org', 22],
    ['xapi.example.org', 443],
    ['api.example.org.evil.net', 443],
    ['apixexample.org', 443],
    ['cdn.example.org', 443],
    ['a.cdn.example.org', 80],
    ['127.0.0.1', 80],
    ['evil.net', 443],
  ] as const) {
    expect([host, port, may(host, port)]).toEqual([host, port, false]);
  }
});

it.each(['', '*', 'a b', 'http://a', 'a:0', 'a:70000', '*.'])('refuses %j', (text) => {
  expect(() => allowedOf([text])).toThrow('is no host');
});
