/** Processes: nothing that a task has started outlives it, blocks it, or is run twice. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createOutlast } from '../../src/compose.ts';
import type { Event } from '../../src/core/event.ts';
import type { ModelRequest } from '../../src/core/message.ts';
import type { Model, ModelReply } from '../../src/models/port.ts';
import { detectCage } from '../../src/sandbox/process/confine/detect.ts';
import { alive, unique, until } from '../../src/sandbox/process/suite-kit.ts';
import { calls, say } from '../../src/testing/harness.ts';
import { instructions, results } from './kit.ts';

const detected = await detectCage();
const missing = detected.found ? null : detected.why.join('; ');

type Outlast = Awaited<ReturnType<typeof createOutlast>>;
const folders: string[] = [];
const running: { outlast: Outlast; sessions: string[] }[] = [];

afterEach(async () => {
  for (const { outlast, sessions } of running.splice(0)) {
    for (const session of sessions) await outlast.stop(session);
    await outlast.close();
  }
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
});

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

async function given(model = obedient(), dataDir = mkdtempSync(join(tmpdir(), 'outlast-faults-'))) {
  if (!folders.includes(dataDir)) folders.push(dataDir);
  const outlast = await createOutlast({ dataDir, model, env: process.env, report: () => {} });
  const sessions: string[] = [];
  running.push({ outlast, sessions });
  const shell = (args: object): string => `shell ${JSON.stringify(args)}`;
  return {
    outlast,
    shell,
    async start(message: string): Promise<string> {
      const { session } = await outlast.start({ message, persist: true });
      sessions.push(session);
      return session;
    },
    /** The result of the last call, as the model reads it. */
    async result(session: string): Promise<Record<string, unknown>> {
      await outlast.rest(session);
      const events = (await outlast.events(session, 0, 1_000)) as readonly Event[];
      const last = events.findLast((event) => event.kind === 'effect.settled');
      return last?.outcome.status === 'done'
        ? (last.outcome.result as Record<string, unknown>)
        : { ...last?.outcome };
    },
  };
}

const none = (texts: readonly string[]) => texts.every((text) => alive(text).length === 0);

describe.skipIf(missing !== null)(`with a confinement${missing === null ? '' : ` (${missing})`}`, () => {
  it.each([
    ['a child', (text: string) => `${text} & echo done`],
    ['a child that left its session', (text: string) => `(setsid ${text} &) ; echo done`],
    [
      'a writer',
      (text: string) => `(while ${text.replace(/8.*/, '0.01')}; do echo more; done) & echo done; ${text} &`,
    ],
  ])(
    'B012 a command whose pipe is held by %s in the background comes back, and what is left is listed',
    async (_, of) => {
      const h = await given();
      const text = unique();
      const id = await h.start(h.shell({ command: of(text) }));
      expect(await h.result(id)).toMatchObject({ exitCode: 0, leftRunning: 'what it started goes on as j1' });
      const settled = (await h.outlast.events(id, 0, 100)) as readonly Event[];
      const [sent, came] = ['effect.dispatched', 'effect.settled'].map(
        (kind) => settled.find((event) => event.kind === kind)?.at ?? 0,
      );
      expect((came ?? 0) - (sent ?? 0)).toBeLessThan(2_000);
      await h.outlast.send(id, 'shell_jobs {}');
      expect(await h.result(id)).toMatchObject({ running: [{ job: 'j1', leftRunning: expect.any(String) }] });
      await h.outlast.send(id, 'shell_jobs {"job":"j1","do":"kill"}');
      expect(await h.result(id)).not.toHaveProperty('leftRunning');
      expect(none([text])).toBe(true);
    },
  );

  it('B024 a stop ends the command that runs, and no call of the model follows', async () => {
    const asked: ModelRequest[] = [];
    const h = await given(obedient(asked));
    const [text, behind] = [unique(), unique()];
    const id = await h.start(
      h.shell({ command: `(setsid ${behind} &); while echo line >> log; do sleep 0.05; ${text} & done` }),
    );
    await until(() => alive(text).length > 2 && alive(behind).length === 1, 'it writes');
    expect(await h.outlast.stop(id)).toEqual({ status: 'stopped', unknown: [] });
    expect(none([text, behind])).toBe(true);
    expect(asked).toHaveLength(1);
    const ended = await h.result(id);
    expect(ended).toMatchObject({ ended: 'on request, with all that it started' });
  });

  it('B024 an interrupt ends the command, and the session goes on', async () => {
    const h = await given();
    const text = unique();
    const id = await h.start(h.shell({ command: text }));
    await until(() => alive(text).length === 1, 'it runs');
    await h.outlast.interrupt(id);
    await until(() => none([text]), 'it is gone');
    await h.outlast.send(id, h.shell({ command: 'echo next' }));
    await until(async () => (await h.result(id)).output === 'next\n', 'the next one');
  });

  it.each(['cat', 'read x', 'python3 -c "input()"'])(
    'B077 `%s` reads the end of its input at once',
    async (reads) => {
      const h = await given();
      const id = await h.start(h.shell({ command: `${reads}; echo "ended $?"`, timeoutMs: 5_000 }));
      const told = await h.result(id);
      expect(told).not.toHaveProperty('ended');
      expect(told.output).toContain('ended');
      await h.outlast.send(id, h.shell({ command: `${reads}; echo "ended $?"`, background: true }));
      expect(await h.result(id)).toMatchObject({ running: 'in the background as j2' });
      await h.outlast.send(id, h.shell({ command: 'until grep -q ended /outputs/j2; do sleep 0.01; done' }));
      expect(await h.result(id)).toMatchObject({ exitCode: 0 });
    },
  );

  it('B102 no process of a session is left once it is stopped', async () => {
    const h = await given();
    const texts = [unique(), unique(), unique()];
    const [a, b, c] = texts;
    const nested = `sh -c '(setsid ${b} &); nohup sh -c "${c} & ${c}" >/dev/null 2>&1 & ${a}' >/dev/null 2>&1 &`;
    const id = await h.start(h.shell({ command: nested }));
    await h.result(id);
    await until(() => alive(c ?? '').length === 2 && alive(b ?? '').length === 1, 'all run');
    await h.outlast.stop(id);
    expect(none(texts)).toBe(true);
    expect(supervisorsOf(id)).toEqual([]);
  });

  it('B099 a sandbox that is removed behind the back of the runtime costs one clear result', async () => {
    const h = await given();
    const text = unique();
    const id = await h.start(h.shell({ command: 'echo here > file' }));
    await h.result(id);
    for (const pid of supervisorsOf(id)) process.kill(pid, 'SIGKILL');
    await h.outlast.send(id, h.shell({ command: 'cat file' }));
    expect(await h.result(id)).toMatchObject({ output: 'here\n' });
    // And while a command runs: nobody saw its end, and nothing is guessed.
    await h.outlast.send(id, h.shell({ command: text }));
    await until(() => alive(text).length === 1, 'it runs');
    for (const pid of supervisorsOf(id)) process.kill(pid, 'SIGKILL');
    await h.outlast.rest(id);
    const events = (await h.outlast.events(id, 0, 1_000)) as readonly Event[];
    expect(events.findLast(({ kind }) => kind === 'effect.reconciled')).toMatchObject({
      finding: { status: 'failed', code: 'sandbox.lost' },
    });
    expect(none([text])).toBe(true);
    await h.outlast.send(id, h.shell({ command: 'cat file' }));
    expect(await h.result(id)).toMatchObject({ output: 'here\n' });
  });

  it('B100 a worker that is killed five times leaves one sandbox, and the next one finds it', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'outlast-faults-'));
    folders.push(dataDir);
    const text = unique();
    const id = await killedWorker(dataDir, null, `shell ${JSON.stringify({ command: `${text} & echo $$` })}`);
    const [first] = supervisorsOf(id);
    for (let life = 2; life <= 5; life++) {
      await killedWorker(dataDir, id, `shell ${JSON.stringify({ command: `echo ${life}` })}`);
      expect(supervisorsOf(id)).toEqual([first]);
    }
    expect(alive(text)).toHaveLength(1);
    const h = await given(obedient(), dataDir);
    await h.outlast.send(id, 'shell_jobs {}');
    expect(await h.result(id)).toMatchObject({ running: [{ job: 'j1' }] });
    await h.outlast.stop(id);
    expect([supervisorsOf(id), alive(text)]).toEqual([[], []]);
  }, 120_000);

  it('B100 a worker that is killed while a command runs does not run it again', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'outlast-faults-'));
    folders.push(dataDir);
    const text = unique();
    const command = `echo ran >> log; ${text}; echo "$(wc -l < log) times"`;
    const id = await killedWorker(dataDir, null, `shell ${JSON.stringify({ command })}`, text);
    expect(alive(text)).toHaveLength(1);
    const h = await given(obedient(), dataDir);
    const done = h.outlast.rest(id);
    for (const pid of alive(text)) process.kill(pid);
    await done;
    const events = (await h.outlast.events(id, 0, 1_000)) as readonly Event[];
    expect(events.findLast(({ kind }) => kind === 'effect.reconciled')).toMatchObject({
      finding: { status: 'done', result: { output: expect.stringContaining('1 times') } },
      evidence: 'queried',
    });
    await h.outlast.stop(id);
  });
});

/** Processes of the supervisor of a session: its program, not the shell and `unshare` around it. */
function supervisorsOf(session: string): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const [program = '', main = '', file = ''] = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      const isOurs = program === process.execPath && main.endsWith('supervisor/main.js');
      return isOurs && file.includes(session) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

/** A worker in a process of its own, killed once its call is answered, or runs. */
async function killedWorker(
  dataDir: string,
  session: string | null,
  message: string,
  running?: string,
): Promise<string> {
  const script = `
    const { createOutlast } = await import(${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)});
    const [dataDir, session, message] = JSON.parse(process.argv[1]);
    const model = { name: 'scripted/test', scripted: true, async generate({ messages }) {
      const last = messages.findLastIndex((m) => m.role === 'user' && !m.text.startsWith('[outlast]'));
      const isAnswered = messages.slice(last).some((m) => m.role === 'tool');
      const text = messages[last].text;
      const input = isAnswered ? null : JSON.parse(text.slice(text.indexOf(' ')));
      return {
        parts: [isAnswered ? { type: 'text', text: 'done' } : { type: 'tool-call', tool: 'shell', input }],
        finish: isAnswered ? 'stop' : 'tool-calls',
        usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
      };
    } };
    const outlast = await createOutlast({ dataDir, model });
    const id = session ?? (await outlast.start({ message, persist: true })).session;
    if (session) await outlast.send(id, message);
    console.log(id);
    await outlast.rest(id);
    console.log('rests');
  `;
  const args = ['--input-type=module', '-e', script, JSON.stringify([dataDir, session, message])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let said = '';
  child.stdout.on('data', (data) => {
    said += data;
  });
  try {
    if (running) await until(() => alive(running).length > 0, 'the command runs');
    else await until(() => said.includes('rests'), 'the call is answered');
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
  return said.split('\n')[0] ?? '';
}
