/** The conversation over HTTP: one under each name, which is a session like any other. */

import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Caller, caller, refusal } from '../../test/server/caller.ts';
import { type World, world } from '../../test/server/world.ts';
import { app } from './app.ts';
import { parseTokens } from './auth.ts';

let outlast: World;

beforeEach(() => {
  outlast = world();
});

afterEach(async () => {
  outlast.release();
  await outlast.close();
});

const keyed = (key: string) => ({ 'idempotency-key': key });
const standing = (http: Caller) => http.call('conversation', '', {});

test('the first word starts it, the next go to it, and a repeat is done once', async () => {
  const http = caller(app(outlast));
  const say = (message: string, key: string, more = {}) =>
    http.call('converse', '', { message, ...more }, keyed(key));
  expect(await standing(http)).toEqual({ session: null });
  const first = await say('say one', 'k1');
  const { session } = first;
  expect(await standing(http)).toEqual({ session });
  await http.rested(session);
  const second = await say('say two', 'k2');
  expect(second).toMatchObject({ session, message: 'm2' });
  expect(await say('say two', 'k2')).toEqual(second);
  expect(await say('say one', 'k1')).toEqual(first);
  expect((await http.rested(session)).lastTurn?.text).toBe('two');
  const { sessions } = await http.call('list');
  expect(sessions).toMatchObject([{ id: session, profile: 'conversation', waitsFor: 'an instruction' }]);
  expect((await say('say three', 'k3', { name: 'work' })).session).not.toBe(session);
  const bad = await refusal(http.post('/v1/conversations', { message: 'x', name: 'No Name' }));
  expect(bad).toMatchObject({ status: 400, code: 'request.invalid' });
});

test('each owner has their own', async () => {
  const server = app(outlast, { tokens: parseTokens('ann:a-secret,bob:b-secret') });
  const as = (token: string) => caller(server, { authorization: `Bearer ${token}` });
  const { session } = await as('a-secret').call('converse', '', { message: 'say hi' });
  expect(await standing(as('b-secret'))).toEqual({ session: null });
  expect(await standing(as('a-secret'))).toEqual({ session });
});
