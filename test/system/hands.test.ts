/** Hands on another machine: their loss is the loss of an environment, and never of a task. Brain and hands are processes. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { createOutlast } from '../../src/compose.ts';
import type { Event } from '../../src/core/event.ts';
import type { ModelRequest } from '../../src/core/message.ts';
import type { Model, ModelReply } from '../../src/models/port.ts';
import { detectCage } from '../../src/sandbox/process/confine/detect.ts';
import { findPython } from '../../src/sandbox/process/python.ts';
import { alive, unique, until } from '../../src/sandbox/process/suite-kit.ts';
import { calls, say } from '../../src/testing/harness.ts';
import { instructions, present, results } from '../faults/kit.ts';
import { command, environment, MAIN, startServer } from '../server/process.ts';
import { killedWorker } from '../worker.ts';

const detected = await detectCage();
const noPython = (await findPython()) === null;
const missing = detected.found ? null : detected.why.join('; ');
const TOKEN = 'token-of-the-hands-4f1c9b';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

function newFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'outlast-apart-'));
  endings.push(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }));
  return path;
}

interface Hands {
  readonly url: string;
  readonly data: string;
  /** SIGKILL for the server of the hands; what it watches over lives on. */
  kill(): Promise<void>;
  /** On the same port, in the same folder. */
  again(): Promise<void>;
  /** The machine is gone: all that ran there, and its disk. */
  lose(): Promise<void>;
}

async function startHands(): Promise<Hands> {
  const data = newFolder();
  let { child, url } = await handsProcess(data, '0');
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  const lose = async (): Promise<void> => {
    await kill();
    for (const pid of supervisorsIn(data)) process.kill(pid, 'SIGKILL');
    await until(() => supervisorsIn(data).length === 0, 'its supervisors are gone');
    for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true, force: true });
  };
  endings.push(lose);
  return {
    ...{ url, data, kill, lose },
    async again() {
      ({ child, url } = await handsProcess(data, new URL(url).port));
    },
  };
}

async function handsProcess(data: string, port: string): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [MAIN, 'hands', '--json', '--port', port, '--data', data], {
    env: environment({ OUTLAST_HANDS_TOKEN: TOKEN }),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, url: (JSON.parse(line) as { url: string }).url };
}

function supervisorsIn(data: string): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const [, main = '', file = ''] = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      return main.endsWith('supervisor/main.js') && file.startsWith(data) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

/** Each instruction is a call, `shell {…}` as JSON; its result is the answer. */
function obedient(asked: ModelRequest[] = []): Model {
  return {
    name: 'scripted/test',
    scripted: true,
    async generate(request): Promise<ModelReply> {
      asked.push(request);
      const said = instructions(request);
      const got = results(request);
      const next = said[got.length];
      if (next === undefined) return say(got.at(-1)?.text ?? 'nothing');
      const at = next.indexOf(' ');
      return calls([next.slice(0, at), JSON.parse(next.slice(at))]);
    },
  };
}

async function brain({ url }: Hands, asked: ModelRequest[] = [], dataDir = newFolder()) {
  const outlast = await createOutlast({
    ...{ dataDir, model: obedient(asked), env: process.env, report: () => {} },
    hands: { url, token: TOKEN },
  });
  endings.push(() => outlast.close());
  const events = async (session: string) => (await outlast.events(session, 0, 1_000)) as readonly Event[];
  return {
    outlast,
    dataDir,
    asked,
    events,
    async start(message: string): Promise<string> {
      const { session } = await outlast.start({ message, persist: true });
      endings.push(() => outlast.stop(session).catch(() => {}));
      return session;
    },
    /** The result of the last call, as the model reads it. */
    async result(session: string): Promise<Record<string, unknown>> {
      await outlast.rest(session);
      return { said: results(asked.at(-1)).at(-1)?.text };
    },
  };
}

const shell = (command: string): string => `shell ${JSON.stringify({ command })}`;
const python = (code: string): string => `python ${JSON.stringify({ code })}`;

describe.skipIf(missing !== null)(`hands elsewhere${missing === null ? '' : ` (${missing})`}`, () => {
  it('files and commands are there, the snapshots are here, and every tool sees the same files', async () => {
    const hands = await startHands();
    const h = await brain(hands);
    const id = await h.start('write_file {"path":"src/a.txt","content":"one\\ntwo\\n"}');
    await h.result(id);
    const told = async (message: string): Promise<string> => {
      await h.outlast.send(id, message);
      return String((await h.result(id)).said);
    };
    expect(await told(shell('cat src/a.txt; echo three >> src/a.txt'))).toContain('one\\ntwo');
    expect(await told('read_file {"path":"src/a.txt"}')).toContain('three');
    expect(await told('edit_file {"path":"src/a.txt","old_string":"two","new_string":"2"}')).toMatch(
      /src.a.txt/,
    );
    expect(await told('list_files {}')).toContain('a.txt');
    expect(await told('search_files {"pattern":"thr.e"}')).toContain('src/a.txt:3');
    expect(await told('diff_files {"at":1}')).toMatch(/\+one.*\+2.*\+three/s);
    expect(await told(shell('cat src/a.txt'))).toContain('one\\n2\\nthree');
    expect(existsSync(join(hands.data, 'workspaces', id, 'files', 'src', 'a.txt'))).toBe(true);
    expect(existsSync(join(h.dataDir, 'workspaces', id))).toBe(false);
    const shown = await h.outlast.files(id);
    expect(JSON.stringify(shown)).toContain('src/a.txt');
  });

  it('B139 the token of the hands is in no log, no request and no sandbox', async () => {
    const hands = await startHands();
    const h = await brain(hands);
    const id = await h.start(shell('env; cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n"'));
    await h.result(id);
    const all = JSON.stringify([await h.events(id), h.asked]);
    expect(all).toContain('LANG=C.UTF-8');
    expect(all).not.toContain(TOKEN);
    expect(readFileSync(join(h.dataDir, 'hands.json'), 'utf8')).not.toContain(TOKEN);
  });

  it('B100 hands that are killed while a command runs find it again, and it has run once', async () => {
    const hands = await startHands();
    const h = await brain(hands);
    const text = unique();
    const id = await h.start(shell(`echo ran >> log; ${text}; echo "$(wc -l < log) times"`));
    await until(() => alive(text).length === 1, 'it runs');
    await hands.kill();
    await hands.again();
    expect(alive(text)).toHaveLength(1);
    for (const pid of alive(text)) process.kill(pid);
    await h.outlast.rest(id);
    expect((await h.events(id)).findLast(({ kind }) => kind === 'effect.reconciled')).toMatchObject({
      finding: { status: 'done', result: { output: expect.stringContaining('1 times') } },
      evidence: 'queried',
    });
  });

  it.skipIf(noPython)(
    'B100 a brain that is killed leaves its hands to the next one, with the very objects',
    async () => {
      const hands = await startHands();
      const dataDir = newFolder();
      const first = await killedWorker(
        { dataDir, hands: { url: hands.url, token: TOKEN } },
        null,
        python('kept = object(); n = id(kept); n'),
      );
      const text = unique();
      await killedWorker(
        { dataDir, hands: { url: hands.url, token: TOKEN } },
        first,
        shell(`echo ran >> log; ${text}; wc -l < log`),
        text,
      );
      expect(alive(text)).toHaveLength(1);
      const h = await brain(hands, [], dataDir);
      const done = h.outlast.rest(first);
      for (const pid of alive(text)) process.kill(pid);
      await done;
      expect((await h.events(first)).findLast(({ kind }) => kind === 'effect.reconciled')).toMatchObject({
        finding: { status: 'done', result: { output: expect.stringMatching(/^1$/m) } },
      });
      await h.outlast.send(first, python('id(kept) == n'));
      expect((await h.result(first)).said).toContain('True');
      await h.outlast.stop(first);
      expect(supervisorsIn(hands.data)).toEqual([]);
    },
    120_000,
  );

  it('B056 B057 an environment that is gone is told, its files come back from the log, and the task goes on', async () => {
    const hands = await startHands();
    const h = await brain(hands);
    const id = await h.start(shell('mkdir src; echo kept > src/file; chmod 700 src/file'));
    await h.result(id);
    if (!noPython) {
      await h.outlast.send(id, python('x = 40 + 1'));
      await h.result(id);
    }
    const text = unique();
    const before = h.asked.length;
    await h.outlast.send(id, shell(`echo half > src/file; ${text}`));
    await until(() => alive(text).length === 1, 'it runs');
    await hands.lose();
    await hands.again();
    await h.outlast.rest(id);
    const events = await h.events(id);
    expect(events.findLast(({ kind }) => kind === 'effect.reconciled')).toMatchObject({
      finding: { status: 'failed', code: 'sandbox.lost' },
    });
    expect(events.findLast(({ kind }) => kind === 'workspace.opened')).toMatchObject({ rung: 'restored' });
    if (!noPython)
      expect(h.asked.slice(before).map(present).join()).toMatch(/lost: x of Python \(int, made by e2\)/);
    await h.outlast.send(id, shell('cat src/file; stat -c %a src/file'));
    expect((await h.result(id)).said).toContain('kept\\n700');
  }, 120_000);

  it('B099 an environment that is removed behind the back of the runtime costs no more than its restore', async () => {
    const hands = await startHands();
    const h = await brain(hands);
    const id = await h.start(shell('echo kept > file'));
    await h.result(id);
    await hands.lose();
    await hands.again();
    await h.outlast.send(id, shell('cat file'));
    await until(async () => (await h.result(id)).said !== undefined, 'an answer');
    await h.outlast.send(id, shell('cat file'));
    expect((await h.result(id)).said).toContain('kept');
  }, 120_000);

  it('a server and its hands are two processes: what is imported here stands there', async () => {
    const hands = await startHands();
    const [data, project] = [newFolder(), newFolder()];
    writeFileSync(join(project, 'notes.txt'), 'from here');
    const env = { OUTLAST_HANDS: hands.url, OUTLAST_HANDS_TOKEN: TOKEN };
    const server = await startServer({ data, env });
    endings.push(() => server.end());
    const at = ['--url', server.url, '--json'];
    const started = await command([
      ...['start', '--persist', '--workspace', project, "Report on February's invoices"],
      ...at,
    ]);
    expect(started.code).toBe(0);
    const [id = ''] = readdirSync(join(hands.data, 'workspaces'));
    expect(readFileSync(join(hands.data, 'workspaces', id, 'files', 'notes.txt'), 'utf8')).toBe('from here');
    const listed = await command(['files', 'last', ...at]);
    expect(listed.stdout).toContain('notes.txt');
    expect(server.output()).toContain(`by the hands at ${hands.url}`);
    expect((await command(['stop', 'last', ...at])).code).toBe(0);
  }, 60_000);

  it('says what is wrong: no hands, another token, and no token where everybody could come', async () => {
    const hands = await startHands();
    const there = { dataDir: newFolder(), model: obedient() };
    await expect(
      createOutlast({ ...there, hands: { url: hands.url, token: 'other' } }),
    ).rejects.toMatchObject({
      code: 'owner.unauthorized',
      next: expect.stringContaining('OUTLAST_HANDS_TOKEN'),
    });
    await expect(
      createOutlast({ ...there, dataDir: newFolder(), hands: { url: 'http://127.0.0.1:1' } }),
    ).rejects.toMatchObject({ code: 'hands.unreachable', next: expect.stringContaining('outlast hands') });
    const open = await command([
      'hands',
      '--json',
      '--host',
      '0.0.0.0',
      '--port',
      '0',
      '--data',
      newFolder(),
    ]);
    expect(open).toMatchObject({ code: 1, stderr: expect.stringContaining('OUTLAST_HANDS_TOKEN') });
    const both = await command(['serve', '--json', '--hands', hands.url, '--network', 'example.org']);
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('outlast hands') });
  });

  it('a brain starts while its hands are away, when it has known them', async () => {
    const hands = await startHands();
    const first = await brain(hands);
    const id = await first.start(shell('echo kept > file'));
    await first.result(id);
    await first.outlast.close();
    await hands.kill();
    const h = await brain(hands, [], first.dataDir);
    await h.outlast.send(id, shell('cat file'));
    await hands.again();
    expect((await h.result(id)).said).toContain('kept');
  }, 60_000);
});
