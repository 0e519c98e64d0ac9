/** `http`, asked for by the model itself, over real HTTP: another way to ask for `fetch`, and booked as one. */

import { afterEach, beforeEach, expect, it } from 'vitest';
import { calls, say } from '../../src/testing/harness.ts';
import { events, given, responses, results, sandbox } from '../faults/kit.ts';
import { type Service, service } from './services.ts';

let hotel: Service;
beforeEach(async () => {
  hotel = await service();
});
afterEach(() => hotel.close());

it('sends what is granted, a body that is no text as JSON, and is booked as fetch', async () => {
  const h = given({
    tools: hotel.tools,
    isUnderWay: hotel.isUnderWay,
    model: (request) => {
      const got = results(request);
      const url = `${hotel.origin}/notes`;
      if (got.length > 0) return say(got.map(({ status, text }) => `${status} ${text}`).join('\n'));
      return calls(
        ['http', { url: `${hotel.origin}/rooms` }],
        ['http', { url, method: 'POST', body: { room: 7, guests: ['Ada'] } }],
        ['http', { url, method: 'POST', body: 'as it is', headers: { 'Content-Type': 'text/plain' } }],
        ['http', { url, method: 'POST', body: [1], headers: { 'Content-Type': 'application/x-list' } }],
      );
    },
  });
  const id = await h.start('note it');
  await h.rest(id);

  const sent = [...hotel.seen].sort((a, b) => (a.body < b.body ? -1 : 1));
  expect(sent).toEqual([
    { method: 'GET', url: '/rooms', body: '', type: '' },
    { method: 'POST', url: '/notes', body: '[1]', type: 'application/x-list' },
    { method: 'POST', url: '/notes', body: 'as it is', type: 'text/plain' },
    { method: 'POST', url: '/notes', body: '{"room":7,"guests":["Ada"]}', type: 'application/json' },
  ]);
  expect((await h.done(h.api.inspect(id))).ledger).toMatchObject([
    { tool: 'fetch', target: `GET ${hotel.origin}/rooms`, status: 'done' },
    ...Array.from({ length: 3 }, () => ({
      tool: 'fetch',
      target: `POST ${hotel.origin}/notes`,
      status: 'done',
    })),
  ]);
  expect((await responses(h, id))[0]?.split('\n')[0]).toBe(
    'done {"status":200,"headers":{"content-type":"application/json"},"body":"{\\"bookings\\":[]}"}',
  );
});

it('what is not granted is refused with what is, and nothing is sent', async () => {
  const h = given({
    tools: hotel.tools,
    model: (request) => {
      const got = results(request);
      if (got.length > 0) return say(got.map(({ status, text }) => `${status} ${text}`).join('\n'));
      return calls(
        ['http', { url: `${hotel.origin}/notes`, method: 'PUT', body: {} }],
        ['http', { url: 'http://elsewhere.example/' }],
        ['fetch', { url: `${hotel.origin}/rooms` }],
      );
    },
  });
  const id = await h.start('note it');
  await h.rest(id);
  expect((await responses(h, id))[0]?.split('\n')).toEqual([
    expect.stringMatching(/^refused PUT http:.*\/notes is not granted\. Granted: hotel at .* POST \/notes/),
    expect.stringMatching(/^refused GET http:\/\/elsewhere.* is not granted/),
    // In code it is `fetch`, as a call of the model it is `http`.
    expect.stringMatching(/^refused There is no tool "fetch"\. There are: code, .*http/),
  ]);
  expect([hotel.seen, await events(h, id, 'effect.intended')]).toEqual([[], []]);
});

it('a POST through `http` whose outcome is unknown holds a POST of code to the same place', async () => {
  hotel.tear = 1;
  const h = given({
    sandbox,
    tools: hotel.tools,
    isUnderWay: hotel.isUnderWay,
    model: (request) => {
      const got = results(request);
      const url = `${hotel.origin}/notes`;
      if (got.length === 0) return calls(['http', { url, method: 'POST', body: 'first' }]);
      if (got.length > 1) return say(got[1]?.text ?? '');
      const source = `(await (await fetch('${url}', { method: 'POST', body: 'second' })).json()).noted`;
      return calls(['code', { source }]);
    },
  });
  const id = await h.start('note it');
  expect(await h.rest(id)).toBe('awaiting_decision');
  await h.done(h.api.send(id, 'go on', { when: 'now' }));
  await h.until(async () => (await events(h, id, 'effect.intended')).length === 2, 'a second POST');
  await h.pass(60_000);
  expect(hotel.seen.map(({ body }) => body)).toEqual(['first']);
  expect((await h.done(h.api.inspect(id))).ledger).toMatchObject([
    { effect: 'e1', status: 'unknown' },
    { effect: 'e2', status: 'intended' },
  ]);
  await h.done(h.api.decide(id, 'd1', 'done'));
  await h.rest(id);

  expect(hotel.seen.map(({ body }) => body)).toEqual(['first', 'second']);
  expect((await responses(h, id)).at(-1)).toBe('"second"');
});
