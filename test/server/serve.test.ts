/** `outlast serve` as a process: how it starts, what it refuses, how it ends, and that a kill loses nothing. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runs } from '../../src/lib/runs.ts';
import {
  command,
  environment,
  launch,
  MAIN,
  type ServerProcess,
  startServer,
  temporaryFolder,
} from './process.ts';

let data: ReturnType<typeof temporaryFolder>;
let server: ServerProcess | null = null;

beforeEach(() => {
  data = temporaryFolder();
});

afterEach(async () => {
  await server?.end();
  server = null;
  data.remove();
});

const note = () => JSON.parse(readFileSync(join(data.path, 'server.json'), 'utf8'));
const servicePids = (): number[] => {
  const notes: Record<string, { pid: number }> = JSON.parse(
    readFileSync(join(data.path, 'books', 'services.json'), 'utf8'),
  );
  return Object.values(notes).map(({ pid }) => pid);
};

test('it says where it is, in words, as JSON, and in a note for its owner only', async () => {
  server = await startServer({ data: data.path });
  expect(server.output()).toContain(`Outlast listens on ${server.url}`);
  expect(server.output()).toContain('scripted planner, no model: set OPENAI_API_KEY');
  expect(server.output()).toMatch(/outlast start --persist.+outlast send last.+outlast stop last/s);
  expect(note()).toEqual({ url: server.url, pid: server.pid, startedAt: expect.stringMatching(/^\d{4}-/) });
  expect(statSync(join(data.path, 'server.json')).mode & 0o777).toBe(0o600);
  const health = await (await fetch(`${server.url}/healthz`)).json();
  expect(health).toMatchObject({ ok: true, pid: server.pid, data: data.path, model: { scripted: true } });
});

test('SIGTERM: streams get a last word, the services end, the note goes, exit code 0 in time', async () => {
  server = await startServer({ data: data.path });
  const started = await command(['start', '--persist', '--json', 'Say hello', '--url', server.url]);
  const { session } = JSON.parse(started.stdout);
  const stream = await fetch(`${server.url}/v1/sessions/${session}/events`, {
    headers: { accept: 'text/event-stream' },
  });
  const services = servicePids();
  const from = performance.now();
  const ending = server.end();
  expect(await stream.text()).toMatch(/\n\n: the server is closing; [^\n]+\n\n$/);
  expect(await ending).toBe(0);
  expect(performance.now() - from).toBeLessThan(10_000);
  expect(services.map(runs)).toEqual([false, false]);
  expect(existsSync(join(data.path, 'server.json'))).toBe(false);
  expect(server.output()).toContain('ended; everything is in the data folder');
});

test('a Ctrl-C that npm passes on a second time is one asking', async () => {
  server = await startServer({ data: data.path });
  const exited = once(server.child, 'exit');
  server.child.kill('SIGINT');
  server.child.kill('SIGINT');
  expect(await exited).toEqual([0, null]);
});

test('B096: after a kill the session is found by its id, as it was, and goes on', async () => {
  server = await startServer({ data: data.path });
  const start = ['start', '--persist', '--json', "Report on February's invoices", '--data', data.path];
  const { session, response } = JSON.parse((await command(start)).stdout);
  expect(response).toContain('February 2026');
  const services = servicePids();
  await server.kill();
  expect(note().pid).toBe(server.pid);
  expect((await command(['list', '--data', data.path])).code).toBe(3);

  server = await startServer({ data: data.path });
  expect(servicePids()).toEqual(services);
  const send = ['send', session, '--json', 'Now do the same for March', '--data', data.path];
  const sent = await command(send);
  expect([sent.code, JSON.parse(sent.stdout).response]).toEqual([0, expect.stringContaining('March 2026')]);
  const verified = await command(['verify', session, '--json', '--data', data.path]);
  expect(JSON.parse(verified.stdout)).toMatchObject({ sound: true, identical: true, image: 'intact' });
}, 60_000);

test('who watches through a kill sees the rest, once', async () => {
  server = await startServer({ data: data.path });
  const { port } = server;
  const start = ['start', '--persist', '--json', '--detach', 'Say hello', '--data', data.path];
  const { session } = JSON.parse((await command(start)).stdout);
  const following = launch(['follow', session, '--json', '--data', data.path]);
  await expect.poll(() => following.said.stdout, { timeout: 20_000 }).toContain('session.started');
  await server.kill();
  server = await startServer({ data: data.path, port });
  await command(['send', session, 'Say more', '--data', data.path]);
  await command(['stop', session, '--data', data.path]);
  const lines = (await following.ended).stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const last = lines.pop();
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
  expect(lines.at(-1).kind, JSON.stringify(last)).toBe('session.stopped');
  expect(last).toMatchObject({ ended: true, after: lines.length });
}, 60_000);

test('a port that is taken, and a folder that is in use, are refused by saying by whom', async () => {
  server = await startServer({ data: data.path });
  const other = temporaryFolder();
  const port = await command(['serve', '--json', '--port', String(server.port), '--data', other.path]);
  expect(port.code).toBe(1);
  expect(port.stderr).toContain(`taken by another Outlast: process ${server.pid}, data in ${data.path}`);
  expect(port.stderr).toContain('--port');
  expect(JSON.parse(port.stdout)).toMatchObject({ error: { code: 'port.taken' } });
  expect(existsSync(join(other.path, 'outlast.db'))).toBe(false);
  other.remove();

  const folder = await command(['serve', '--json', '--port', '0', '--data', data.path]);
  expect([folder.code, folder.stderr]).toEqual([1, expect.stringContaining(`process ${server.pid}`)]);
  expect(JSON.parse(folder.stdout)).toMatchObject({ error: { code: 'store.locked' } });
  expect(servicePids().map(runs)).toEqual([true, true]);
  expect((await command(['list', '--data', data.path])).code).toBe(0);
}, 60_000);

test('V3: a server that stands by takes the place of one that was killed, and what it knows', async () => {
  server = await startServer({ data: data.path });
  const { port } = server;
  const started = await command(['start', '--persist', '--json', 'Say hello', '--url', server.url]);
  const { session } = JSON.parse(started.stdout.trimEnd().split('\n').at(-1) ?? '');
  const standby = ['serve', '--json', '--standby', '--port', String(port), '--data', data.path];
  const next = launch(standby);
  const lines = () => next.said.stdout.split('\n').filter((line) => line !== '');
  await expect.poll(lines, { timeout: 15_000 }).toHaveLength(1);
  expect(JSON.parse(lines()[0] ?? '')).toEqual({ standby: true, pid: next.child.pid, data: data.path });
  expect(next.said.stderr).toContain(`in use by process ${server.pid}`);

  await server.kill();
  await expect.poll(lines, { timeout: 15_000 }).toHaveLength(2);
  expect(JSON.parse(lines()[1] ?? '')).toMatchObject({ ready: true, url: server.url, pid: next.child.pid });
  const list = await command(['list', '--json', '--data', data.path]);
  expect(list.stdout).toContain(session);

  const third = launch(standby);
  await expect.poll(() => third.said.stdout, { timeout: 15_000 }).toContain('"standby":true');
  third.child.kill('SIGTERM');
  expect((await third.ended).code).toBe(0);
  expect(runs(next.child.pid ?? 0)).toBe(true);
  next.child.kill('SIGTERM');
  expect((await next.ended).code).toBe(0);
}, 60_000);

test('an address that others reach is refused without tokens, and wants one with them', async () => {
  const refused = await command(['serve', '--host', '0.0.0.0', '--port', '0', '--data', data.path]);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('OUTLAST_TOKENS')]);
  server = await startServer({
    data: data.path,
    env: { OUTLAST_TOKENS: 'ann:ann-secret', OUTLAST_HOST: '0.0.0.0' },
  });
  const list = (env: NodeJS.ProcessEnv) => command(['list', '--data', data.path], { env });
  expect((await list({})).code).toBe(4);
  expect((await list({ OUTLAST_TOKEN: 'ann-secret' })).code).toBe(0);
}, 60_000);

test('a server whose npm was killed ends by itself', async () => {
  const args = JSON.stringify([MAIN, 'serve', '--json', '--port', '0', '--data', data.path]);
  const npm = spawn(
    process.execPath,
    ['-e', `require('node:child_process').spawn(process.execPath, ${args}, { stdio: 'inherit' })`],
    { env: environment({ npm_lifecycle_event: 'start' }), stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const [line] = await once(createInterface({ input: npm.stdout }), 'line');
  const { pid } = JSON.parse(line);
  npm.kill('SIGKILL');
  await expect.poll(() => runs(pid), { timeout: 15_000 }).toBe(false);
  expect(existsSync(join(data.path, 'server.json'))).toBe(false);
  expect(servicePids().map(runs)).toEqual([false, false]);
}, 60_000);
