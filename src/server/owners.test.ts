import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Caller, caller, refusal } from '../../test/server/caller.ts';
import { type World, world } from '../../test/server/world.ts';
import { ROUTES, type RouteId } from '../protocol/routes.ts';
import { app } from './app.ts';
import { authenticate, parseTokens } from './auth.ts';
import { isLoopback } from './guard.ts';
import { listen } from './listen.ts';

let outlast: World;

beforeEach(() => {
  outlast = world();
});

afterEach(async () => {
  outlast.release();
  await outlast.close();
});

describe('owners and tokens', () => {
  let ann: Caller;
  let bob: Caller;
  let nobody: Caller;

  beforeEach(() => {
    const server = app(outlast, { tokens: parseTokens('ann:ann-secret, bob:bob-secret,bob:bob-second') });
    const bearing = (token: string) => caller(server, { authorization: `Bearer ${token}` });
    ann = bearing('ann-secret');
    bob = bearing('bob-secret');
    nobody = caller(server);
  });

  const bodies: Partial<Record<RouteId, object>> = {
    send: { message: 'say x' },
    decide: { decision: 'd1', answer: 'done' },
    ask: { question: 'say x' },
  };
  const ofOne = (Object.keys(ROUTES) as RouteId[]).filter((id) => ROUTES[id].path.includes(':id'));

  test.each(ofOne)('B022: %s on another owner’s session answers exactly as on an unknown one', async (id) => {
    const session = await ann.start('pay');
    const before = await ann.rested(session);
    const ask = async (of: string) => {
      const path = ROUTES[id].path.replace(':id', of);
      const response = await (ROUTES[id].method === 'GET' ? bob.get(path) : bob.post(path, bodies[id] ?? {}));
      const headers = [...response.headers].filter(([name]) => name !== 'date');
      return { status: response.status, headers, body: await response.text() };
    };
    expect(await ask(session)).toEqual(await ask('ses_00000000000000000000'));
    expect(await ann.rested(session)).toEqual(before);
  });

  test('B022: a stream of another owner’s session is no stream', async () => {
    const session = await ann.start('say hello');
    const stream = { accept: 'text/event-stream' };
    const refused = await refusal(bob.get(`/v1/sessions/${session}/events`, stream));
    expect(refused).toMatchObject({ status: 404, code: 'session.unknown' });
    expect((await bob.call('list')).sessions).toEqual([]);
    expect((await bob.call('start', '', { message: 'say x' }, { 'idempotency-key': 'k' })).session).not.toBe(
      session,
    );
  });

  test('the same key of two owners is two sessions', async () => {
    const key = { 'idempotency-key': 'same' };
    const { session } = await ann.call('start', '', { message: 'say a' }, key);
    expect((await bob.call('start', '', { message: 'say b' }, key)).session).not.toBe(session);
  });

  test('without a token, or with a wrong one, nothing is done and little is told', async () => {
    const session = await ann.start('say hello');
    for (const id of Object.keys(ROUTES) as RouteId[]) {
      if (id === 'health') continue;
      const path = ROUTES[id].path.replace(':id', session);
      const response = ROUTES[id].method === 'GET' ? nobody.get(path) : nobody.post(path, bodies[id] ?? {});
      expect(await refusal(response), id).toMatchObject({ status: 401, code: 'owner.unauthorized' });
    }
    expect((await nobody.get('/v1/sessions', { authorization: 'Bearer ann-secre' })).status).toBe(401);
    expect((await nobody.get('/v1/sessions', { authorization: 'Basic ann-secret' })).status).toBe(401);
    expect(await nobody.call('health')).toMatchObject({
      ok: true,
      owner: null,
      pid: null,
      data: null,
      model: null,
    });
    expect(await ann.call('health')).toMatchObject({ owner: 'ann', model: { name: 'test/parrot' } });
  });

  test('tokens: several of one owner, and what is no token', () => {
    const tokens = parseTokens('ann:a:b:c,bob:x');
    expect(authenticate(tokens, 'bearer a:b:c')).toBe('ann');
    expect(authenticate(tokens, 'Bearer ')).toBeNull();
    expect(authenticate(tokens, undefined)).toBeNull();
    expect(parseTokens(' ')).toEqual([]);
    expect(() => parseTokens('ann:secret-1,secret-2')).toThrow(/Entry 2/);
    expect(() => parseTokens('ann:secret-1,:secret-2')).toThrow(expect.not.stringMatching('secret-2'));
    expect(() => parseTokens('Ann B:secret')).toThrow(/owner/);
  });
});

describe('a loopback server without tokens', () => {
  test('answers to loopback names only: a name that was pointed here is not one', async () => {
    const http = caller(app(outlast));
    for (const host of [
      '127.0.0.1:4747',
      'localhost',
      'localhost:80',
      '[::1]:4747',
      'outlast.localhost',
      '127.1.2.3',
    ]) {
      expect((await http.get('/v1/sessions', { host })).status, host).toBe(200);
    }
    for (const host of [
      'evil.example',
      'evil.example:4747',
      '10.0.0.1',
      '127.0.0.1.evil.example',
      'localhost.evil',
    ]) {
      const refused = await refusal(http.get('/v1/sessions', { host }));
      expect(refused, host).toMatchObject({ status: 403, code: 'owner.unauthorized' });
    }
  });

  test('does nothing for a page of another origin', async () => {
    const http = caller(app(outlast));
    const from = (origin: string) =>
      http.post('/v1/sessions', { message: 'say x' }, { host: '127.0.0.1:4747', origin });
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:9999']) {
      expect((await from(origin)).status, origin).toBe(403);
    }
    expect((await from('http://127.0.0.1:4747')).status).toBe(201);
  });

  test('is not let out of the machine', async () => {
    const { fetch } = app(outlast);
    for (const host of ['0.0.0.0', '::', '192.168.0.1', 'example.com']) {
      await expect(listen({ fetch, port: 0, host })).rejects.toMatchObject({
        code: 'owner.unauthorized',
        message: expect.stringContaining('without tokens'),
        next: expect.stringContaining('OUTLAST_TOKENS'),
      });
    }
    expect(['127.0.0.1', '::1', 'localhost', '[::1]'].map(isLoopback)).toEqual([true, true, true, true]);
  });
});

describe('a port', () => {
  test('that is taken is refused by saying who has it', async () => {
    const first = await listen({ fetch: app(outlast).fetch, port: 0 });
    const second = listen({ fetch: app(outlast).fetch, port: first.port });
    await expect(second).rejects.toMatchObject({
      code: 'port.taken',
      message: `Port ${first.port} is taken by another Outlast: process ${process.pid}, data in memory.`,
      next: expect.stringContaining('--port'),
    });
    await first.close();
    const again = await listen({ fetch: app(outlast).fetch, port: first.port });
    await again.close();
  });

  test('that a stranger has is refused too', async () => {
    const stranger = await listen({ fetch: () => new Response('hello'), port: 0 });
    const second = listen({ fetch: app(outlast).fetch, port: stranger.port });
    await expect(second).rejects.toThrow(/taken by another program/);
    await stranger.close();
  });
});
