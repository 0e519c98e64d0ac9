import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { runs } from '../lib/runs.ts';
import { readBooks, revokeBooks } from './books.ts';
import { type Samples, startSamples } from './spawn.ts';

const atRoot = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

let dataDir: string;
beforeAll(() => {
  execFileSync(process.execPath, [atRoot('scripts/ensure.mjs')]);
  process.env.OUTLAST_SERVICES_PARENT = String(process.pid); // nothing outlives these tests, even if they are killed
}, 120_000);
afterAll(() => {
  delete process.env.OUTLAST_SERVICES_PARENT;
});
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'outlast-samples-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true })); // which ends what a failed test left running

const notesFile = () => join(dataDir, 'books', 'services.json');
const gone = (samples: { billing: { pid: number }; mailing: { pid: number } }) =>
  expect
    .poll(() => [runs(samples.billing.pid), runs(samples.mailing.pid)], { timeout: 10_000 })
    .toEqual([false, false]);

async function lookUp(samples: Pick<Samples, 'billing'>): Promise<number> {
  return (await fetch(`${samples.billing.url}/accounts?name=Northwind`)).status;
}

/** A server in small: starts the samples, says where they are, and stays until it is killed. */
async function server(parent: string): Promise<{ child: ChildProcess; samples: Samples }> {
  const program = `
    const { startSamples } = await import(${JSON.stringify(new URL('../../dist/services/spawn.js', import.meta.url))});
    if (process.env.PARENT === 'self') process.env.OUTLAST_SERVICES_PARENT = String(process.pid);
    console.log(JSON.stringify(await startSamples({ dataDir: ${JSON.stringify(dataDir)} })));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, PARENT: parent },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, samples: JSON.parse(line) as Samples };
}

test('N4: started, both answer; after stop both processes have exited and the note stays', async () => {
  const samples = await startSamples({ dataDir });
  expect(await lookUp(samples)).toBe(200);
  expect((await fetch(samples.mailing.url)).status).toBe(200);
  const notes = JSON.parse(readFileSync(notesFile(), 'utf8'));
  expect(notes.billing).toMatchObject({ ...samples.billing, startedAt: expect.any(String) });
  expect(statSync(notesFile()).mode & 0o777).toBe(0o600);
  await samples.stop();
  expect([runs(samples.billing.pid), runs(samples.mailing.pid)]).toEqual([false, false]);
  await samples.stop();
});

test('N1: the samples outlive a killed server, and the next one finds them', async () => {
  const { child, samples } = await server('the tests');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await lookUp(samples)).toBe(200);
  const found = await startSamples({ dataDir });
  expect(found).toMatchObject({ billing: samples.billing, mailing: samples.mailing });
  expect(await lookUp(found)).toBe(200);
  await found.stop();
  await gone(found);
});

test('N3: one that died is started anew at its old URL, its books kept', async () => {
  const first = await startSamples({ dataDir });
  await lookUp(first);
  process.kill(first.billing.pid, 'SIGKILL');
  await expect.poll(() => runs(first.billing.pid)).toBe(false);
  const second = await startSamples({ dataDir });
  expect(second.billing.url).toBe(first.billing.url);
  expect(second.billing.pid).not.toBe(first.billing.pid);
  expect(second.mailing).toEqual(first.mailing);
  await lookUp(second);
  expect(readBooks(dataDir, 'billing').rows.map(({ kind }) => kind)).toEqual([
    'account.lookup',
    'account.lookup',
  ]);
  await second.stop();
});

test('N2, N3: a stranger at the noted port and process id is not taken for a service', async () => {
  const stranger = createServer((_request, response) => response.end('{"instance":"another"}'));
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  const { port } = stranger.address() as { port: number };
  const url = `http://127.0.0.1:${port}`;
  mkdirSync(join(dataDir, 'books'));
  writeFileSync(
    notesFile(),
    JSON.stringify({ billing: { url, pid: process.pid, instance: 'noted', startedAt: '' } }),
  );
  const samples = await startSamples({ dataDir });
  expect(samples.billing.url).not.toBe(url);
  expect(await lookUp(samples)).toBe(200);
  await samples.stop();
  stranger.close();
});

test('a service that cannot start says why, and no service is left behind', async () => {
  mkdirSync(join(dataDir, 'books'));
  writeFileSync(join(dataDir, 'books', 'billing.jsonl'), 'not a row\n');
  await expect(startSamples({ dataDir })).rejects.toThrow(
    /billing service failed to start.*damaged at line 1/,
  );
  expect(existsSync(notesFile())).toBe(false);
  expect(existsSync(join(dataDir, 'books', 'mailing.writer'))).toBe(false);
});

test('B4, P3: a service whose books were revoked ends by itself', async () => {
  const samples = await startSamples({ dataDir });
  revokeBooks(dataDir, 'billing');
  revokeBooks(dataDir, 'mailing');
  await gone(samples);
});

test('P3: the samples end by themselves when their data folder is gone', async () => {
  const samples = await startSamples({ dataDir });
  rmSync(dataDir, { recursive: true });
  await gone(samples);
});

test('P3: the samples end by themselves when the process they belong to is gone', async () => {
  const { child, samples } = await server('self');
  expect(await lookUp(samples)).toBe(200);
  child.kill('SIGKILL');
  await gone(samples);
});
