/**
 * The suite that proves sandboxes of processes: `processSuite` in an adapter's test file. It runs real commands, waits for
 * states and never for a duration, and at its end looks whether a process is left.
 */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Command, ProcessBox, Processes, ProcessLimits, Report } from './port.ts';
import { kernelSuite } from './suite-kernel.ts';
import { alive, command, unique, until } from './suite-kit.ts';

export interface OpenedSubject {
  readonly processes: Processes;
  /** The workspace of this session, as its commands see it, for what is read outside. */
  readonly workspace: string;
  /** Another worker on the same machine, as after a crash: what the first had in memory is gone. */
  again(): Promise<Processes>;
  dispose(): Promise<void>;
}

export interface ProcessSubject {
  readonly name: string;
  open(limits?: Partial<ProcessLimits>): Promise<OpenedSubject>;
  /** Why it cannot be tried on this machine. */
  readonly missing?: string | null;
  /** What the adapter cannot do, with the reason. */
  readonly skips?: {
    /** Commands see nothing of the machine but what they need. */
    readonly walls?: string;
    /** Bounds of memory and processes. */
    readonly bounds?: string;
    /** Programs that want a terminal. */
    readonly pty?: string;
    /** Cells of Python. */
    readonly python?: string;
  };
}

/** Of this process alone: groups and marks of a session are looked for on the whole machine. */
export const SESSION = `s-suite-${process.pid}`;
const allOf = ({ output }: Report): string => output.head + output.tail;

/** What is left behind in these tests runs for minutes; a machine may be slow, and not that slow. */
const LONG_BEFORE_MS = 20_000;

export function processSuite({ name, open, missing = null, skips = {} }: ProcessSubject): void {
  describe.skipIf(missing !== null)(`processes: ${name}${missing === null ? '' : ` (${missing})`}`, () => {
    let opened: OpenedSubject;
    let box: ProcessBox;
    const never = new AbortController().signal;

    beforeEach(async () => {
      opened = await open();
      box = await opened.processes.open(SESSION, 1, opened.workspace);
    });
    afterEach(async () => {
      await opened.processes.end(SESSION);
      await opened.dispose();
    });

    const run = (text: string, more: Partial<Command> = {}): Promise<Report> =>
      box.run(command(text, more), never);
    const said = async (text: string, more: Partial<Command> = {}): Promise<string> =>
      allOf(await run(text, more)).trim();

    /** The same with other bounds. */
    async function limited(limits: Partial<ProcessLimits>): Promise<void> {
      await opened.processes.end(SESSION);
      await opened.dispose();
      opened = await open(limits);
      box = await opened.processes.open(SESSION, 1, opened.workspace);
    }

    it('C2 tells exit code and output, what was said first stands first', async () => {
      const report = await run('echo one; echo two >&2; echo three; exit 3');
      expect(report).toMatchObject({ status: 'ended', exitCode: 3, ending: 'exit', isAlive: false });
      expect(report.output).toMatchObject({ head: 'one\ntwo\nthree\n', tail: '', omitted: 0 });
    });

    it('C2 keeps the workspace between commands, and starts where it is told to', async () => {
      await run('mkdir sub; echo kept > sub/file');
      expect(await said('cat file', { cwd: 'sub' })).toBe('kept');
      expect((await run('true', { cwd: 'nowhere' })).exitCode).not.toBe(0);
    });

    it('B012 C2 returns while a child holds the pipe, also one that left its session', async () => {
      const [a, b] = [unique(), unique()];
      const report = await run(`${a} & (setsid ${b} &) ; echo done`);
      expect(report).toMatchObject({ status: 'ended', exitCode: 0, isAlive: true });
      expect(report.output.head).toBe('done\n');
      expect(report.ms).toBeLessThan(LONG_BEFORE_MS);
      await until(() => alive(a).length === 1 && alive(b).length === 1, 'both run');
      expect((await box.jobs()).map(({ job }) => job)).toEqual([report.job]);
      await box.kill(report.job);
      expect([alive(a), alive(b), await box.jobs()]).toEqual([[], [], []]);
    });

    it('B012 C2 returns while a child goes on writing', async () => {
      const report = await run('echo done; (while :; do echo more; done) &');
      expect(report).toMatchObject({ status: 'ended', isAlive: true });
      expect(report.output.head).toContain('done');
      expect(report.ms).toBeLessThan(LONG_BEFORE_MS);
      await box.kill(report.job);
    });

    it('B077 C2 gives stdin its end at once, or what it is to read', async () => {
      expect(await said('cat; read x; echo "[$x]"')).toBe('[]');
      expect(await said('cat; echo end', { input: 'given\n' })).toBe('given\nend');
      const behind = await run('cat; echo end', { background: true });
      await until(async () => !(await box.jobs()).some(({ job }) => job === behind.job), 'its end');
      expect((await box.look(behind.job))?.output.head).toBe('end\n');
    });

    it.skipIf(skips.pty)('drives a program that wants a terminal', async () => {
      const report = await run('test -t 0 && test -t 1 && read -p "name? " n && echo "hello $n"', {
        pty: true,
        background: true,
      });
      const says = async (text: string): Promise<boolean> =>
        (await box.look(report.job))?.output.head.includes(text) ?? false;
      await until(() => says('name? '), 'it asks');
      expect(await box.input(report.job, 'world\n', 'w1')).toBe(true);
      // The same keys once more are not pressed again.
      expect(await box.input(report.job, 'again\n', 'w1')).toBe(true);
      await until(() => says('hello world'), 'it answers');
      await until(async () => (await box.jobs()).length === 0, 'its end');
      expect(await box.look(report.job)).toMatchObject({ status: 'ended', exitCode: 0 });
      expect(await box.input(report.job, 'late\n', 'w2')).toBe(false);
      const cut = await run('read n', { pty: true, timeoutMs: 300 });
      expect(cut.ending).toBe('time');
    });

    it('C2 ends a command at its time limit with all that it started', async () => {
      const text = unique();
      const report = await run(`(setsid ${text} &); sleep 1000`, { timeoutMs: 300 });
      expect(report).toMatchObject({ status: 'ended', ending: 'time' });
      expect(report.ms).toBeLessThan(3_000);
      await until(() => alive(text).length === 0, 'its children are gone');
    });

    it('C2 ends a command that is called off', async () => {
      const text = unique();
      const off = new AbortController();
      const running = box.run(command(text), off.signal);
      await until(() => alive(text).length === 1, 'it runs');
      off.abort();
      expect(await running).toMatchObject({ status: 'ended', ending: 'killed' });
      await until(() => alive(text).length === 0, 'it is gone');
    });

    it('cuts long output where characters are, and keeps all of it in a file', async () => {
      const report = await run(`i=0; while [ $i -lt 20000 ]; do echo "$i é😀"; i=$((i+1)); done`);
      const { head, tail, bytes, omitted, file } = report.output;
      expect(head + tail).not.toContain('\ufffd');
      expect(head).toMatch(/^0 é😀\n1 é/);
      expect(tail.endsWith('19999 é😀\n')).toBe(true);
      expect(Buffer.byteLength(head) + Buffer.byteLength(tail) + omitted).toBe(bytes);
      if (opened.processes.abilities.confinement === 'none') return;
      expect(await said(`wc -c < ${file}; grep -c '^12345 ' ${file}`)).toBe(`${bytes}\n1`);
      expect((await run(`echo > ${file}`)).exitCode).not.toBe(0);
    });

    it('ends a command that says more than is kept', async () => {
      await limited({ outputMb: 2 });
      const report = await run('yes');
      expect(report).toMatchObject({ ending: 'output' });
      expect(report.output.bytes).toBe(2 * 2 ** 20);
    });

    it('ends what fills the disk', async () => {
      await limited({ diskMb: 8, fileMb: 64 });
      const report = await run('head -c 30000000 /dev/urandom > big; sleep 1000');
      expect(report).toMatchObject({ ending: 'disk' });
      // And no file gets larger than a file may be.
      await limited({ diskMb: 800, fileMb: 1 });
      await run('head -c 3000000 /dev/zero > large');
      expect(await said('wc -c < large')).toBe(`${2 ** 20}`);
    });

    it.skipIf(skips.bounds)('bounds the memory of the whole tree', async () => {
      await limited({ memoryMb: 64 });
      const report = await run('head -c 200m /dev/zero | tail; test $? = 0 || echo 137');
      const isEnded = report.ending === 'memory' || report.output.head.includes('137');
      expect([isEnded, report]).toEqual([true, report]);
      expect(await said('echo alive')).toBe('alive');
    });

    it.skipIf(skips.bounds)('bounds the number of processes', async () => {
      await limited({ processes: 24 });
      const text = unique();
      await run(`for i in $(seq 60); do ${text} & done 2>/dev/null; echo`, { timeoutMs: 1_000 });
      expect(alive(text).length).toBeLessThan(24);
      await until(async () => (await box.jobs()).length <= 1, 'it is over');
    });

    it.skipIf(skips.walls)('shows nothing of the machine but what is needed', async () => {
      expect(await said('id -u')).toBe('65534');
      expect(await said('env | cut -d= -f1 | grep -vxE "PWD|SHLVL|_|OLDPWD" | sort')).toBe(
        'HOME\nLANG\nPATH\nTERM\nTMPDIR\nUSER',
      );
      expect(await said('ls -d /etc/shadow /var /srv 2>&1 | grep -c "No such file"')).toBe('3');
      const outside = opened.workspace;
      expect(await said(`ls ${outside} 2>&1`)).toContain('No such file');
      expect(await said('touch /usr/x /etc/x /x /outputs/x 2>&1 | grep -c "Read-only file system"')).toBe(
        '4',
      );
      expect(
        await said(
          'cat /proc/*/cmdline /proc/*/environ 2>/dev/null | tr "\\0" "\\n" | grep -c "[s]upervisor"',
        ),
      ).toBe('0');
      expect(await said('ls /proc/$$/fd; true')).toMatch(/^0\n1\n2(\n255)?$/);
      // What stands there already: where it can be written, nothing is changed.
      const own = 'f=/proc/sys/kernel/panic; v=$(cat $f); { echo $v > $f; } 2>&1; echo $?';
      expect(await said(own)).toMatch(/(Read-only|denied).*[12]$/s);
      expect(await said('grep -E "^(CapPrm|CapEff|NoNewPrivs)" /proc/self/status | cut -f2 | sort -u')).toBe(
        '0000000000000000\n1',
      );
    });

    it.skipIf(skips.walls)('has a loopback that its commands share, and no network beyond it', async () => {
      expect(await said('ls /sys/class/net 2>/dev/null; tail -n +3 /proc/net/dev | cut -d: -f1')).toBe('lo');
      const connect = 'exec 3<>/dev/tcp/93.184.215.14/80';
      expect(await said(`bash -c '${connect}' 2>&1`)).toContain('unreachable');
    });

    it('C1 gives what became of a reference, and never runs it twice', async () => {
      const once = command('echo ran >> log; wc -l < log');
      const first = await box.run(once, never);
      expect(await box.run(once, never)).toEqual(first);
      expect(await box.find(once.reference, never)).toEqual({ status: 'known', report: first });
      expect(await box.find('r-unknown', never)).toEqual({ status: 'absent' });
      expect(await said('wc -l < log')).toBe('1');
    });

    it('C1 answers the next worker: what ended, what runs, what never came', async () => {
      const done = command('echo done');
      await box.run(done, never);
      const text = unique();
      const cut = command(`${text} & echo $$ > pid; ${text}`);
      const lost = box.run(cut, never).catch((error: Error) => error.name);
      await until(() => alive(text).length === 2, 'it runs');
      const next = await opened.again();
      await opened.processes.close();
      expect(await lost).toBe('Disconnected');

      expect(await next.find(SESSION, 2, done.reference, never)).toMatchObject({
        status: 'known',
        report: { exitCode: 0, output: { head: 'done\n' } },
      });
      expect(await next.find(SESSION, 2, 'r-never', never)).toEqual({ status: 'absent' });
      // It runs on, and whoever asks is told how it ended.
      const looking = next.find(SESSION, 2, cut.reference, never);
      const attached = await next.open(SESSION, 2, opened.workspace);
      expect(await attached.jobs()).toMatchObject([{ reference: cut.reference, status: 'running' }]);
      for (const pid of alive(text)) process.kill(pid);
      expect(await looking).toMatchObject({ status: 'known', report: { status: 'ended' } });
      await next.end(SESSION);
      await next.close();
    });

    it('C1 says of a command whose sandbox was lost that nobody saw its end, and goes on', async () => {
      const text = unique();
      const cut = command(text);
      const running = box.run(cut, never).catch((error: Error) => error.name);
      await until(() => alive(text).length === 1, 'it runs');
      await opened.processes.end(SESSION);
      await running;
      expect(await opened.processes.find(SESSION, 1, 'r-never', never)).toEqual({ status: 'absent' });
      expect(await opened.processes.find(SESSION, 1, cut.reference, never)).toMatchObject({
        status: 'known',
      });
      expect(alive(text)).toEqual([]);
      box = await opened.processes.open(SESSION, 2, opened.workspace);
      expect(await said('echo again')).toBe('again');
      expect(await box.run(cut, never)).toMatchObject({ status: 'ended' });
      expect(alive(text)).toEqual([]);
    });

    it('B102 C3 leaves nothing when it is ended, however deep and whatever its session', async () => {
      const text = unique();
      await run(`(setsid sh -c '(setsid ${text} &) ; ${text} & ${text}' >/dev/null 2>&1 &)`);
      await until(() => alive(text).length === 3, 'all of them run');
      await opened.processes.end(SESSION);
      expect(alive(text)).toEqual([]);
    });

    it('C3 C4 erased, nothing of it is left, on the disk neither; who has been replaced erases nothing', async () => {
      const text = unique();
      const first = command(`${text} & echo kept`);
      await run('true', { background: false });
      const running = box.run(first, never).catch((error: Error) => error.name);
      await until(() => alive(text).length === 1, 'it runs');
      expect(await opened.processes.running(SESSION)).toHaveLength(1);
      const next = await opened.again();
      await next.open(SESSION, 5, opened.workspace);
      await expect(opened.processes.erase(SESSION, 1)).rejects.toMatchObject({ code: 'lease.lost' });
      expect(alive(text)).toHaveLength(1);
      // Whoever was not attached sees it as well.
      for (const _ of ['once', 'again']) await next.erase(SESSION, 5);
      await running;
      expect(alive(text)).toEqual([]);
      expect(await next.find(SESSION, 5, first.reference, never)).toEqual({ status: 'gone' });
      expect(await next.running(SESSION)).toEqual([]);
      await next.close();
    });

    it('C4 refuses an older holder once a newer one has been there', async () => {
      const next = await opened.again();
      const newer = await next.open(SESSION, 5, opened.workspace);
      expect((await newer.run(command('true'), never)).exitCode).toBe(0);
      // Told so, or cut off: the line of the older one may be closed before it asks.
      await expect(run('echo late > late')).rejects.toThrow(/another worker holds|is gone/);
      await expect(opened.processes.open(SESSION, 4, opened.workspace)).rejects.toThrow(/another worker/i);
      expect(allOf(await newer.run(command('ls'), never))).not.toContain('late');
      await next.end(SESSION);
      await next.close();
    });

    describe.skipIf(skips.python)('kernel', () => {
      kernelSuite(SESSION, () => ({ ...opened, box }));
    });
  });
}
