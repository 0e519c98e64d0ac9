import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createOutlast } from '../../src/compose.ts';
import type { Event } from '../../src/core/event.ts';
import type { ModelRequest } from '../../src/core/message.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Model, ModelReply } from '../../src/models/port.ts';
import { detectCage } from '../../src/sandbox/process/confine/detect.ts';
import { processesIn } from '../../src/sandbox/process/open.ts';
import { findPython } from '../../src/sandbox/process/python.ts';
import { alive, command, unique, until } from '../../src/sandbox/process/suite-kit.ts';
import { calls, say } from '../../src/testing/harness.ts';
import { killedWorker } from '../worker.ts';
import { instructions, present, results } from './kit.ts';

const detected = await detectCage();
const noPython = (await findPython()) === null;
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
      // Long before what it left behind, on the slowest machine.
      expect((came ?? 0) - (sent ?? 0)).toBeLessThan(20_000);
      await h.outlast.send(id, 'shell_jobs {}');
      expect(await h.result(id)).toMatchObject({ running: [{ job: 'j1', leftRunning: expect.any(String) }] });
      await h.outlast.send(id, 'shell_jobs {"job":"j1","do":"kill"}');
      expect(await h.result(id)).not.toHaveProperty('leftRunning');
      expect(none([text])).toBe(true);
    },
  );

  it('B028 output that is too long for its result is a file of the workspace, whatever becomes of the sandbox', async () => {
    const h = await given();
    const id = await h.start(
      h.shell({ command: 'git init -q . 2>&1; seq 1 30000; git status --porcelain 2>&1' }),
    );
    const { output } = await h.result(id);
    expect(output).toContain('bytes left out; all of it is in .outputs/e1.txt');
    expect(String(output).length).toBeLessThan(16_000);
    expect(output).not.toContain('?? .outputs');
    const [dataDir = ''] = folders;
    await h.outlast.stop(id);
    for (const what of ['run', 'workspaces']) rmSync(join(dataDir, what), { recursive: true, force: true });
    await h.outlast.reopen(id);
    await h.outlast.send(id, 'read_file {"path":".outputs/e1.txt","offset":15000,"limit":2}');
    expect(await h.result(id)).toContain('15000\t15000\n15001\t15001\n');
    await h.outlast.send(id, 'search_files {"pattern":"^29999$","path":".outputs"}');
    expect(await h.result(id)).toBe('.outputs/e1.txt:29999: 29999');
  });

  it('B024 a stop ends the command that runs, and no call of the model follows', async () => {
    const asked: ModelRequest[] = [];
    const h = await given(obedient(asked));
    const [text, behind] = [unique(), unique()];
    const id = await h.start(
      h.shell({ command: `(setsid ${behind} &); while echo line >> log; do sleep 0.05; ${text} & done` }),
    );
    await until(() => alive(text).length > 2 && alive(behind).length === 1, 'it writes');
    expect(await h.outlast.stop(id)).toEqual({ status: 'stopped', unknown: [], children: [] });
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
    const id = await killedWorker(
      { dataDir },
      null,
      `shell ${JSON.stringify({ command: `${text} & echo $$` })}`,
    );
    const [first] = supervisorsOf(id);
    for (let life = 2; life <= 5; life++) {
      await killedWorker({ dataDir }, id, `shell ${JSON.stringify({ command: `echo ${life}` })}`);
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
    const id = await killedWorker({ dataDir }, null, `shell ${JSON.stringify({ command })}`, text);
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

  /** Sandboxes of several sessions that nobody asks for anything any more, with an idle limit of so long. */
  const abandoned = (idleMs: number, more: Partial<Parameters<typeof processesIn>[2]> = {}) => {
    if (!detected.found) throw new Error('it is skipped');
    const dataDir = more.dataDir ?? mkdtempSync(join(tmpdir(), 'outlast-faults-'));
    folders.push(dataDir);
    const options = { dataDir, idleMs, isHeld: async () => true, report: () => {}, ...more };
    const processes = processesIn(detected.spec, null, options);
    const open = (session: string) => {
      const workspace = join(dataDir, session);
      mkdirSync(workspace, { recursive: true });
      return processes.open(session, 1, workspace);
    };
    const run = async (session: string, text: string) =>
      (await (await open(session)).run(command(text), new AbortController().signal)).output.head;
    const isGone = (session: string) =>
      supervisorsOf(session).length === 0 && !existsSync(join(dataDir, 'run', session, 'socket'));
    return { dataDir, processes, run, isGone };
  };

  it('B019 sandboxes that nobody asks for anything end by themselves, and a follow-up wakes each', async () => {
    const { processes, run, isGone } = abandoned(200);
    const ids = [1, 2, 3, 4].map((n) => `s-b019-${process.pid}-${n}`);
    await Promise.all(ids.map((id) => run(id, `echo ${id} > /tmp/mine`)));
    await until(() => ids.every(isGone), 'no process of them is left');
    for (const id of ids) expect(await run(id, 'cat /tmp/mine')).toBe(`${id}\n`);
    await until(() => ids.every(isGone), 'they end again');
    await processes.close();
  });

  it('B037 a job in the background keeps its sandbox, and the idle time begins when it ends', async () => {
    const idleMs = 400;
    const { dataDir, processes, run, isGone } = abandoned(idleMs);
    const [busy, idle] = [`s-b037-${process.pid}-busy`, `s-b037-${process.pid}-idle`];
    const job = 'until [ -e go ]; do sleep 0.01; done; touch ended';
    expect(await run(busy, `(${job}) & echo started`)).toBe('started\n');
    // Others come and go after it: each takes the idle time, and they are asked nothing in it.
    for (let n = 0; n < 3; n++) {
      await run(`${idle}${n}`, 'true');
      await until(() => isGone(`${idle}${n}`), 'one that came later is gone');
    }
    expect(supervisorsOf(busy)).toHaveLength(1);
    expect(existsSync(join(dataDir, busy, 'ended'))).toBe(false);
    writeFileSync(join(dataDir, busy, 'go'), '');
    await until(() => isGone(busy), 'nothing runs any more');
    const endedAt = statSync(join(dataDir, busy, 'ended')).mtimeMs;
    // It looks ten times in that while; without its beginning anew, the first look would have been the last.
    expect(systemClock.now() - endedAt).toBeGreaterThan(idleMs / 2);
    await processes.close();
  });

  it('B037 a job in the background runs on while its session is parked and archived, and its worker is followed by another', async () => {
    let epoch = 1;
    const holdMs = 400;
    const { dataDir, processes, run } = abandoned(100, { holdMs, isHeld: async (_, held) => held === epoch });
    const session = `s-b037-${process.pid}-rests`;
    const folder = join(dataDir, session);
    await run(
      session,
      '(until [ -e go ]; do echo x >> beats; sleep 0.02; done; echo ended > end) & echo started',
    );
    const beats = () => readFileSync(join(folder, 'beats'), 'utf8').length;
    const outlives = async () => {
      const before = systemClock.now();
      await until(
        () => systemClock.now() - before > 3 * holdMs,
        'longer than anything lives that nobody renews',
      );
      const seen = beats();
      await until(() => beats() > seen, 'it runs');
    };
    // As whoever takes the lease does (`loop/actor`), to park it and then to archive it.
    processes.hold(session, ++epoch);
    expect(await processes.park(session, epoch, false)).toMatchObject({ status: 'parked' });
    await outlives();
    processes.hold(session, ++epoch);
    await outlives();
    expect(supervisorsOf(session)).toHaveLength(1);
    // The worker ends, and the next one has nothing to do for the session.
    await processes.close();
    const next = abandoned(100, { dataDir, holdMs, isHeld: async (_, held) => held === epoch });
    await outlives();
    writeFileSync(join(folder, 'go'), '');
    await until(() => existsSync(join(folder, 'end')), 'it comes to its own end');
    await next.processes.end(session);
    await next.processes.close();
  });

  const python = (code: string) => `python ${JSON.stringify({ code })}`;

  it.skipIf(noPython)(
    'B056 a kernel that is killed between two turns costs its objects, and the next call works',
    async () => {
      const asked: ModelRequest[] = [];
      const h = await given(obedient(asked));
      const id = await h.start(
        python('import os\nx = [1, 2]\nwith open("pid", "w") as f: f.write("here")\nlen(x)'),
      );
      expect(await h.result(id)).toMatchObject({ value: '2' });
      killKernels(id);
      await h.outlast.send(id, python('"x" in globals()'));
      expect(await h.result(id)).toMatchObject({ value: 'False' });
      await h.outlast.send(id, python('x = 1; x'));
      expect(await h.result(id)).toMatchObject({ value: '1' });
    },
  );

  it.skipIf(noPython)(
    'B057 names of a kernel that is gone are told before the next call, with the code that made them',
    async () => {
      const asked: ModelRequest[] = [];
      const h = await given(obedient(asked));
      const id = await h.start(python('x = 40 + 1'));
      await h.result(id);
      // Its kernel is in memory, though it never had a heap.
      expect((await h.outlast.inspect(id)).residency).toBe('resident');
      await h.outlast.send(id, python('y = {"a": 1}'));
      await h.result(id);
      expect(present(asked.at(-1))).toContain(
        'python objects (generation 1): x: int from e1; y: dict(1) from e2',
      );
      const before = asked.length;
      killKernels(id);
      await h.outlast.send(id, python('1 + 1'));
      await h.result(id);
      const told = present(asked[before]);
      expect(told).toContain('python objects (generation 2): none');
      expect(told).toMatch(/lost: x of Python \(int, made by e1\); e1 was: x = 40 \+ 1: the kernel ended/);
      expect(told).toMatch(/lost: y of Python \(dict, made by e2\)/);
    },
  );

  it.skipIf(noPython)(
    'B057 a kernel that dies in its cell says so with it, and all of it is gone with the machine',
    async () => {
      const asked: ModelRequest[] = [];
      const h = await given(obedient(asked));
      const id = await h.start(python('x = 1'));
      await h.result(id);
      await h.outlast.send(id, python('import os; os._exit(3)'));
      expect(await h.result(id)).toMatchObject({
        lost: expect.stringMatching(/x \(int, made by e1\).*e1 was:\nx = 1/s),
      });
      await h.outlast.send(id, python('z = 2'));
      await h.result(id);
      await h.outlast.send(id, 'shell {"command":"true"}');
      await h.result(id);
      for (const pid of supervisorsOf(id)) process.kill(pid, 'SIGKILL');
      rmSync(join(folders.at(-1) ?? '', 'run'), { recursive: true, force: true });
      await h.outlast.send(id, python('"z" in globals()'));
      expect(await h.result(id)).toMatchObject({ value: 'False' });
      expect(asked.map(present).join()).toMatch(
        /lost: z of Python \(int, made by e3\); e3 was: z = 2: its kernel is gone/,
      );
    },
  );

  it.skipIf(noPython)(
    'B056 a worker that is killed leaves the kernel to the next one, and nothing is said',
    async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'outlast-faults-'));
      folders.push(dataDir);
      const id = await killedWorker({ dataDir }, null, python('kept = object(); n = 41'));
      const asked: ModelRequest[] = [];
      const h = await given(obedient(asked), dataDir);
      await h.outlast.send(id, python('n + 1'));
      expect(await h.result(id)).toMatchObject({ value: '42' });
      expect(asked.map(present).join()).toContain(
        'python objects (generation 1): kept: object from e1; n: int from e1',
      );
      await h.outlast.stop(id);
      expect(supervisorsOf(id)).toEqual([]);
    },
  );
});

/** The kernels of a session, killed behind everybody's back. */
function killKernels(session: string): void {
  const kernels = readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const isKernel = readFileSync(`/proc/${name}/cmdline`, 'utf8').endsWith('\0/run/outlast/kernel.py\0');
      return isKernel && readFileSync(`/proc/${name}/mountinfo`, 'utf8').includes(session);
    } catch {
      return false;
    }
  });
  expect(kernels.length).toBeGreaterThan(0);
  for (const pid of kernels) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch (error) {
      // The walls around it went with the one before.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

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
