/** `outlast fork` and `outlast at`, as processes of their own. */

import { afterEach, beforeEach, expect, test } from 'vitest';
import { app } from '../../src/server/app.ts';
import { type Listening, listen } from '../../src/server/listen.ts';
import { command, type Ran } from './process.ts';
import { type World, world } from './world.ts';

let outlast: World;
let listening: Listening;

beforeEach(async () => {
  outlast = world();
  listening = await listen({ fetch: app(outlast).fetch, port: 0 });
});

afterEach(async () => {
  outlast.release();
  await listening.close(0);
  await outlast.close();
});

const run = (...args: string[]): Promise<Ran> => command(args, { env: { OUTLAST_URL: listening.url } });
const resultOf = ({ stdout }: Ran): Record<string, unknown> =>
  JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');

async function rested(message: string): Promise<string> {
  const { session } = await outlast.start({ message, persist: true });
  await outlast.rest(session);
  return session;
}

test('fork says what it starts from, and with a message what came of it', async () => {
  const id = await rested('pay');
  const { head } = await outlast.inspect(id);
  const bare = await run('fork', id);
  expect([bare.code, bare.stdout]).toEqual([
    0,
    expect.stringMatching(new RegExp(`^ses_\\w+ fork of ${id}: starts from event ${head}\n.*send ses_`)),
  ]);
  const spoken = await run('fork', id, 'say', 'something else', '--at', '2', '--title', 'early', '--json');
  expect(spoken.code).toBe(0);
  expect(resultOf(spoken)).toMatchObject({ from: id, at: 2, response: 'something else' });
  const list = (await run('list')).stdout.split('\n');
  expect(list[0]).toMatch(new RegExp(`awaiting_input.* early {2}fork of ${id}$`));
  expect((await run('inspect', 'last')).stdout).toContain(`fork     of ${id} at 2`);
  expect((await outlast.inspect(id)).phase).toBe('awaiting_decision');
}, 60_000);

test('at shows an older event, and how to go on from there', async () => {
  const id = await rested('say one');
  const { head } = await outlast.inspect(id);
  await outlast.send(id, 'say two');
  await outlast.rest(id);
  const ran = await run('at', id, String(head));
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringMatching(/Last response\n {2}one\n/)]);
  expect(ran.stdout).toContain(`fork ${id} --at ${head}`);
  expect(resultOf(await run('at', id, String(head), '--json'))).toMatchObject({
    head,
    lastTurn: { text: 'one' },
  });
}, 60_000);

test('a place that is none is wrong usage, or refused', async () => {
  const id = await rested('say one');
  expect((await run('at', id, 'x')).code).toBe(2);
  expect((await run('fork', id, '--at', '0')).code).toBe(2);
  expect((await run('fork', id, '--at', '9999')).code).toBe(4);
  expect((await run('at', id, '9999', '--json')).code).toBe(4);
  expect(await outlast.list()).toHaveLength(1);
}, 60_000);
