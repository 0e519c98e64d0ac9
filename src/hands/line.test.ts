/** The line between brain and hands: who may come, what a cut means, and what is paused. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SessionId } from '../core/ids.ts';
import { EMPTY_TREE } from '../core/workspace/tree.ts';
import { sha256 } from '../lib/digest.ts';
import { detectCage } from '../sandbox/process/confine/detect.ts';
import { findPython } from '../sandbox/process/python.ts';
import { alive, command, unique, until } from '../sandbox/process/suite-kit.ts';
import { listen } from '../server/listen.ts';
import { directoryWorkspaces } from '../workspace/directory.ts';
import { FRAME_TYPE, toFrame } from './frame.ts';
import { httpEnvironments } from './http.ts';
import { openMachine } from './machine.ts';
import { openHands } from './open.ts';
import type { Environments } from './port.ts';
import { handsApp } from './server.ts';

const detected = await detectCage();
const missing = detected.found ? null : detected.why.join('; ');
const noPython = (await findPython()) === null;
const never = new AbortController().signal;
const session = `ses_line${process.pid}` as SessionId;
const report = (): void => {};

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

beforeAll(() => {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/ensure.mjs', import.meta.url))]);
}, 120_000);

async function hands(token: string | null = null) {
  const dataDir = mkdtempSync(join(tmpdir(), 'outlast-line-'));
  endings.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const machine = await openMachine({ dataDir, pollMs: 150, report });
  const { fetch } = handsApp(machine, { token, report });
  const listening = await listen({ fetch, port: 0, hasTokens: true });
  endings.push(async () => {
    await listening.close(0);
    await machine.close();
  });
  return { url: listening.url, dataDir };
}

async function brain(from: Environments) {
  const here = directoryWorkspaces(join(tmpdir(), 'outlast-line-here'));
  const isHeld = async () => true;
  const opened = await openHands({ hands: from, remembered: null, here, isHeld, report, everyMs: 200 });
  endings.push(async () => {
    await opened.processes.end(session);
    await opened.processes.close();
  });
  return opened;
}

/** A way to the hands that can be cut. */
async function line(url: string) {
  const sockets = new Set<Socket>();
  let isCut = false;
  const relay = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(Number(new URL(url).port), '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => one.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  endings.push(() => relay.close());
  const { port } = relay.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    cut(): void {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend(): void {
      isCut = false;
    },
  };
}

const cell = (reference: string, code: string) => ({ reference, cell: reference, code, timeoutMs: 20_000 });

describe.skipIf(missing !== null)(`brain and hands${missing === null ? '' : ` (${missing})`}`, () => {
  it.each([
    ['no token', {}],
    ['another token', { authorization: 'Bearer other-token' }],
    ['a token that goes on', { authorization: 'Bearer the-token-and-more' }],
  ])('S1 refuses %s', async (_, headers) => {
    const { url } = await hands('the-token');
    const ask = (more: object) =>
      fetch(`${url}/v1/abilities`, {
        method: 'POST',
        headers: { 'content-type': FRAME_TYPE, ...more },
        body: toFrame({}),
      });
    const refused = await ask(headers);
    expect(refused.status).toBe(401);
    expect(await refused.text()).not.toContain('the-token');
    expect((await ask({ authorization: 'Bearer the-token' })).status).toBe(200);
  });

  it.each([
    ['of a page', { origin: 'http://127.0.0.1:1', 'content-type': FRAME_TYPE }, 403],
    ['of a task', { 'x-outlast-epoch': '1', 'content-type': FRAME_TYPE }, 403],
    ['that a form can send', { 'content-type': 'text/plain' }, 415],
  ])('S2 without a token, refuses a request %s', async (_, headers, status) => {
    const { url } = await hands();
    const asked = await fetch(`${url}/v1/abilities`, { method: 'POST', headers, body: toFrame({}) });
    expect(asked.status).toBe(status);
  });

  it('E1 refuses what is no name of a session, and what is not in this environment', async () => {
    const { url } = await hands();
    const environments = httpEnvironments({ url });
    await expect(environments.create('..%2Fx')).rejects.toMatchObject({ code: 'request.invalid' });
    await environments.create(session);
    const at = { session, id: 'another', epoch: 1 };
    await expect(environments.exec(at, { op: 'open' })).rejects.toMatchObject({ code: 'hands.lost' });
    await expect(environments.files(at, { op: 'list', path: '' })).rejects.toMatchObject({
      code: 'hands.lost',
    });
    const id = await environments.create(session);
    const other = { session, id, epoch: 1 };
    const evil = environments.files(other, { op: 'take', digest: '../../../environments/x' });
    await expect(evil).rejects.toMatchObject({ code: 'request.invalid' });
    const forged = environments.files(other, { op: 'put', digest: sha256('x') }, new Uint8Array([0, 1]));
    await expect(forged).rejects.toMatchObject({ code: 'request.invalid' });
  });

  it('C1 an answer that a cut line has lost is there under its reference, and nothing ran twice', async () => {
    const { url } = await hands();
    const between = await line(url);
    const { processes } = await brain(httpEnvironments({ url: between.url }));
    const box = await processes.open(session, 1, null);
    const text = unique();
    const once = command(`echo ran >> log; ${text}; wc -l < log`);
    const running = box.run(once, never);
    running.catch(() => {});
    await until(() => alive(text).length === 1, 'it runs');
    between.cut();
    await expect(box.jobs()).rejects.toMatchObject({ code: 'hands.unreachable' });
    const looking = processes.find(session, 1, once.reference, never);
    for (const pid of alive(text)) process.kill(pid);
    between.mend();
    expect(await looking).toMatchObject({
      status: 'known',
      report: { output: { head: expect.stringMatching(/^1$/m) } },
    });
  });

  it('W1 nothing runs in a new environment before the session has entered it', async () => {
    const { url, dataDir } = await hands();
    const { processes, workspaces } = await brain(httpEnvironments({ url }));
    await workspaces.enter(session, 1);
    await workspaces.write(session, 1, 'file', new Uint8Array([1]));
    const box = await processes.open(session, 1, null);
    await processes.end(session);
    for (const name of ['environments', 'workspaces']) rmSync(join(dataDir, name), { recursive: true });
    const lost = { code: 'hands.lost' };
    await expect(box.run(command('echo wrong > place'), never)).rejects.toMatchObject(lost);
    await expect(processes.open(session, 1, null)).rejects.toMatchObject(lost);
    await expect(workspaces.write(session, 1, 'file', new Uint8Array([1]))).rejects.toMatchObject(lost);
    expect(await processes.find(session, 1, 'r', never)).toEqual({ status: 'gone' });
    expect(await processes.objects(session, 1)).toBeNull();
    await workspaces.enter(session, 2);
    expect(await workspaces.snapshot(session, EMPTY_TREE, async () => '' as never)).toBeNull();
    const anew = await processes.open(session, 2, null);
    expect((await anew.run(command('ls'), never)).output.head).toBe('');
  });

  it('a look says only what is other, and a piece that is known does not travel', async () => {
    const { url } = await hands();
    const sent: string[] = [];
    const inner = httpEnvironments({ url });
    const { workspaces } = await brain({
      ...inner,
      async files(at, asked, bytes) {
        const told = await inner.files(at, asked, bytes);
        sent.push(asked.op === 'look' ? `look ${JSON.stringify(told.answer).length < 1_000}` : asked.op);
        return told;
      },
    });
    await workspaces.enter(session, 1);
    for (let n = 0; n < 20; n++) await workspaces.write(session, 1, `f${n}`, new Uint8Array([n, n >> 4]));
    const first = await workspaces.snapshot(session, EMPTY_TREE, async (packed) => sha256(packed) as never);
    const { tree } = first ?? { tree: EMPTY_TREE };
    await workspaces.write(session, 1, 'f7', new Uint8Array([255]));
    sent.length = 0;
    const next = await workspaces.snapshot(session, tree, async (packed) => sha256(packed) as never);
    expect(next?.tree).toHaveLength(20);
    // A look that takes long is asked for again.
    expect(sent.filter((one) => one !== 'look true')).toEqual(['take']);
  });

  it.skipIf(noPython)('E4 what rests is paused, and the next call wakes it with its values', async () => {
    const { url, dataDir } = await hands();
    const { processes } = await brain(httpEnvironments({ url }));
    const box = await processes.open(session, 1, null);
    await box.cell(cell('a', 'kept = [1, 2]'), never);
    await processes.park(session, 1, false);
    const note = join(dataDir, 'environments', `${session}.json`);
    await until(() => readFileSync(note, 'utf8').includes('"isPaused":true'), 'it is paused');
    const woken = await (await processes.open(session, 1, null)).cell(cell('b', 'kept'), never);
    expect(woken.result).toMatchObject({ ran: true, value: '[1, 2]', generation: 2 });
  });

  it('E4 what runs in the background is not paused', async () => {
    const { url } = await hands();
    const inner = httpEnvironments({ url });
    const seen: string[] = [];
    const { processes } = await brain({
      ...inner,
      pause: async () => void seen.push('paused'),
      async renew(held) {
        seen.push('renewed');
        await inner.renew(held);
      },
    });
    const text = unique();
    const box = await processes.open(session, 1, null);
    await box.run(command(text, { background: true }), never);
    await processes.park(session, 1, false);
    seen.length = 0;
    await until(() => seen.length > 3, 'it would have been quiet for long enough');
    expect(new Set(seen)).toEqual(new Set(['renewed']));
    expect(alive(text)).toHaveLength(1);
  });

  it.skipIf(noPython)('E4 where a pause keeps the memory, nothing is given up for it', async () => {
    const { url } = await hands();
    const inner = httpEnvironments({ url });
    const seen: string[] = [];
    const { processes } = await brain({
      ...inner,
      async abilities() {
        const { abilities, says } = await inner.abilities();
        return { abilities: { ...abilities, pauseKeeps: 'memory' }, says };
      },
      pause: async () => void seen.push('paused'),
      async resume(name) {
        seen.push('resumed');
        return inner.resume(name);
      },
    });
    const box = await processes.open(session, 1, null);
    await box.cell(cell('a', 'gen = (i for i in range(3))\nnext(gen)'), never);
    expect(await processes.park(session, 1, false)).toEqual({ status: 'parked', kept: [] });
    await until(() => seen.includes('paused'), 'it is paused');
    const woken = await (await processes.open(session, 1, null)).cell(cell('b', 'next(gen)'), never);
    expect(woken.result).toMatchObject({ ran: true, value: '1', generation: 1 });
    expect(seen).toEqual(['paused', 'resumed']);
  });
});
