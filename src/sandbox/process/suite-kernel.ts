/** The part of the suite that is about the kernel: state between cells, and what is said when it is lost. */

import { expect, it } from 'vitest';
import type { Cell, CellReport, ProcessBox, Processes } from './port.ts';
import { alive, reference, unique, until } from './suite-kit.ts';

export interface KernelSubject {
  readonly box: ProcessBox;
  readonly processes: Processes;
  readonly workspace: string;
  again(): Promise<Processes>;
}

const never = new AbortController().signal;
let cellNumber = 0;

const cellOf = (code: string, more: Partial<Cell> = {}): Cell => ({
  reference: reference(),
  cell: `c${++cellNumber}`,
  code,
  timeoutMs: 20_000,
  ...more,
});

/** Declares the tests; `subject` is what is open while one runs. */
export function kernelSuite(session: string, subject: () => KernelSubject): void {
  const cell = (code: string, more: Partial<Cell> = {}): Promise<CellReport> =>
    subject().box.cell(cellOf(code, more), never);
  const value = async (code: string): Promise<string | undefined> => (await cell(code)).result?.value;

  it('keeps state between cells, and shows the last value and what was printed', async () => {
    expect((await cell('x = 41\nprint("said")')).output.head).toBe('said\n');
    expect((await cell('x + 1')).result).toMatchObject({ ran: true, value: '42', generation: 1, lost: [] });
    expect((await cell('import subprocess; subprocess.run(["echo", "child"]); None')).output.head).toBe(
      'child\n',
    );
    expect(await value('import os; sorted(os.environ)')).not.toContain('KEY');
  });

  it('awaits at the top level', async () => {
    await cell('import asyncio\nasync def later(n):\n  await asyncio.sleep(0)\n  return n');
    expect(await value('await later(7) + await later(1)')).toBe('8');
  });

  it('tells an error with the lines of the cell, and goes on', async () => {
    await cell('def f(n):\n  return 1 / n');
    const { result, exitCode } = await cell('f(0)');
    expect(exitCode).toBe(1);
    expect(result?.error).toMatch(/Traceback.*return 1 \/ n.*ZeroDivisionError/s);
    expect(result?.error).not.toContain('kernel.py');
    expect((await cell('raise SystemExit(3)')).result?.error).toContain('SystemExit: 3');
    expect((await cell('1 +')).result?.error).toContain('SyntaxError');
    const long = (await cell('raise ValueError("x" * 20_000 + "the end")')).result?.error;
    expect(long).toMatch(/^….*the end\n$/s);
    expect(long?.length).toBeLessThan(10_010);
    expect(await value('f(1)')).toBe('1.0');
  });

  it('shows rows as a table', async () => {
    const { result } = await cell('[{"a": i, "b": "é"} for i in range(50)]');
    expect(result?.table).toMatchObject({ columns: ['a', 'b'], of: [50, 2] });
    expect(result?.table?.rows).toHaveLength(20);
  });

  it('names the PNG files that a cell has left among the plots, and no others', async () => {
    const draw = (name: string) => `open("plots/${name}", "wb").write(b"\\x89PNG")`;
    await cell(`import os\nos.mkdir("plots")\n${draw('old.png')}`);
    const { result } = await cell(
      `${draw('new.png')}\n${draw('notes.txt')}\nos.symlink("new.png", "plots/link.png")\nNone`,
    );
    expect(result?.plots).toEqual([expect.stringMatching(/\/plots\/new\.png$/)]);
    expect((await cell('1')).result?.plots).toEqual([]);
  });

  it('names what lives, and the cell that made it', async () => {
    const made = cellOf('n = 1\nrows = [1, 2, 3]\nimport math\n_hidden = 1');
    await subject().box.cell(made, never);
    const { result } = await cell('rows = rows + [4]\nclass Kept: pass');
    expect(result?.live).toMatchObject([
      { name: 'n', type: 'int', size: null, cell: made.cell },
      { name: 'rows', type: 'list', size: 4, cell: `c${cellNumber}` },
      { name: 'Kept', type: 'type', size: null },
    ]);
  });

  it('C2 interrupts a cell at its time limit; its names stay', async () => {
    await cell('kept = 1');
    for (const code of ['while True: pass', 'import time; time.sleep(1000)']) {
      const report = await cell(code, { timeoutMs: 200 });
      expect(report).toMatchObject({
        ending: 'time',
        result: { error: expect.stringContaining('interrupted') },
      });
      expect(report.ms).toBeLessThan(3_000);
    }
    expect(await value('kept')).toBe('1');
  });

  it('C2 gives up a kernel that heeds no interrupt, and says what is lost with it', async () => {
    const made = cellOf('kept = object()');
    await subject().box.cell(made, never);
    const stubborn = 'import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass';
    const { result, ending } = await cell(stubborn, { timeoutMs: 200 });
    expect(ending).toBe('time');
    expect(result).toMatchObject({ ran: true, lost: [{ name: 'kept', cell: made.cell, code: made.code }] });
    // It was told: the next one runs, in another kernel.
    expect((await cell('1 + 1')).result).toMatchObject({ ran: true, value: '2', generation: 2, lost: [] });
  });

  it('C2 interrupts a cell that is called off', async () => {
    const off = new AbortController();
    const running = subject().box.cell(cellOf('print("runs", flush=True)\nwhile True: pass'), off.signal);
    off.abort();
    expect(await running).toMatchObject({ ending: 'killed' });
    expect(await value('1')).toBe('1');
  });

  it('K2 runs no code in a new kernel before it was told what is gone', async () => {
    const text = unique();
    const made = cellOf(
      `table = [1, 2, 3]\nimport os, subprocess, threading\nchild = subprocess.Popen("${text}".split())`,
    );
    await subject().box.cell(made, never);
    await until(() => alive(text).length === 1, 'a child of the kernel');
    await cell('threading.Timer(0.05, os._exit, [9]).start()');
    await until(() => alive(text).length === 0, 'it ended, and all it started with it');
    const after = await cell('ran = True; len(table)');
    expect(after.result).toMatchObject({ ran: false, generation: 2, live: [] });
    expect(after.result?.lost).toMatchObject([
      {
        name: 'table',
        type: 'list',
        size: 3,
        cell: made.cell,
        code: made.code,
        why: expect.stringContaining('ended'),
      },
      { name: 'child' },
    ]);
    expect((await cell('ran')).result?.error).toContain('NameError');
    await cell('table = [1, 2, 3]');
    expect(await value('len(table)')).toBe('3');
  });

  it('C1 runs a cell once, whoever asks again', async () => {
    const once = cellOf('n = globals().get("n", 0) + 1\nn');
    const first = await subject().box.cell(once, never);
    expect(await subject().box.cell(once, never)).toEqual(first);
    expect(await subject().box.find(once.reference, never)).toEqual({ status: 'known', report: first });
    expect(await value('n')).toBe('1');
  });

  it('outlives its worker: the next one finds the same objects', async () => {
    const made = await value('kept = object(); id(kept)');
    const next = await subject().again();
    await subject().processes.close();
    const box = await next.open(session, 2, subject().workspace);
    expect((await box.cell(cellOf('id(kept)'), never)).result).toMatchObject({ value: made, generation: 1 });
    await next.end(session);
    await next.close();
  });

  it('K3 is parked, and back with the next cell: by value in another kernel, or whole in the same one', async () => {
    await cell('import math\nshared = [1]\na = {"s": shared}\nb = {"s": shared}');
    await cell(
      'class Account:\n  def __init__(self, n): self.n = n\ndef twice(n):\n  return 2 * n\nme = Account(21)',
    );
    expect(await subject().processes.park(session, 1, false)).toMatchObject({ status: 'parked' });
    expect(
      (await cell('a["s"].append(2); (b["s"], twice(me.n), math.floor(1.5), type(me) is Account)')).result,
    ).toMatchObject({
      ran: true,
      value: '([1, 2], 42, 1, True)',
      generation: subject().processes.abilities.keepsWhole ? 1 : 2,
      lost: [],
    });
  });

  it('K3 stays when something could not be kept, unless that may go; then it is named', async () => {
    const text = unique();
    const made = cellOf(
      `kept = 1\nfile = open("f", "w")\ngen = (i for i in range(3))\nimport subprocess; p = subprocess.Popen("${text}".split())`,
    );
    await subject().box.cell(made, never);
    const unsaved = ['file', 'gen', 'p'].map((name) => ({ name, cell: made.cell, code: made.code }));
    const stays = await subject().processes.park(session, 1, false);
    expect(stays).toMatchObject({ status: 'kept', unsaved });
    expect(alive(text)).toHaveLength(1);
    expect(await subject().processes.park(session, 1, true)).toMatchObject({ status: 'parked' });
    expect(alive(text)).toEqual([]);
    const told = await cell('kept');
    expect(told.result).toMatchObject({
      ran: false,
      lost: unsaved,
      restored: expect.arrayContaining(['kept']),
    });
    expect(told.result?.lost[1]?.why).toMatch(/pickle/);
    // Whoever notes what lives hears the same reasons, once.
    expect((await subject().processes.objects(session, 1))?.lost).toEqual(told.result?.lost);
    expect((await subject().processes.objects(session, 1))?.lost).toEqual([]);
    expect(await value('kept')).toBe('1');
  });
}
