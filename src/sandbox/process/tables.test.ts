/** Work with tables as people do it: pandas and matplotlib in a kernel, where they are here; elsewhere this says why not. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { detectCage } from './confine/detect.ts';
import { findKeeper, parkingOf } from './image/detect.ts';
import { processesIn } from './open.ts';
import type { Cell, ProcessBox, Processes, ProcessLimits } from './port.ts';
import { findPython } from './python.ts';
import { command, reference } from './suite-kit.ts';

const WANTED = ['numpy', 'pandas', 'matplotlib'];
const python = await findPython();
const absent = WANTED.filter((name) => !python?.packages.includes(name));
const noPackages =
  absent.length > 0 ? `${python?.program ?? 'no CPython'} has no ${absent.join(', ')}` : null;
const keeper = await findKeeper();
const noKeeper = keeper.criu ? null : parkingOf(keeper, 'bubblewrap');

const SESSION = `s-tables-${process.pid}`;
const never = new AbortController().signal;
const MB = 2 ** 20;
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const IMPORTS = 'import os\nimport numpy as np\nimport pandas as pd\nimport matplotlib.pyplot as plt';
const FRAME = `rows = 500_000
df = pd.DataFrame({
  "id": np.arange(rows) + 2**53 + 1,
  "x": np.arange(rows) / 3,
  "kind": pd.Categorical(["a", "b"] * (rows // 2)),
  "at": pd.date_range("2026-01-01", periods=rows, freq="s"),
  "text": [f"row {n}" for n in range(rows)],
})`;

beforeAll(() => {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../../scripts/ensure.mjs', import.meta.url))]);
}, 120_000);

for (const [confinement, isWhole] of [
  ['bubblewrap', false],
  ['bubblewrap', true],
  ['namespaces', false],
] as const) {
  const detected = await detectCage(confinement);
  const missing = noPackages ?? (detected.found ? (isWhole ? noKeeper : null) : detected.why.join('; '));
  const name = `tables: ${confinement}${isWhole ? ', kernels parked whole' : ''}`;
  if (missing !== null) process.stderr.write(`${name}: skipped: ${missing}\n`);
  describe.skipIf(missing !== null)(
    `${name}${missing === null ? '' : ` (${missing})`}`,
    { timeout: 120_000 },
    () => {
      let dataDir = '';
      let processes: Processes;
      let box: ProcessBox;
      let cells = 0;

      beforeEach(() => opened({}), 60_000);
      afterEach(closed);

      async function opened(limits: Partial<ProcessLimits>): Promise<void> {
        if (!detected.found) throw new Error('it is skipped');
        dataDir = mkdtempSync(join(tmpdir(), 'outlast-tables-'));
        mkdirSync(join(dataDir, 'workspace'));
        const imageKey = () => new Uint8Array(32).fill(1);
        const options = { dataDir, limits, isHeld: async () => true, imageKey, report: () => {} };
        processes = processesIn(detected.spec, python, options, isWhole ? keeper : undefined);
        box = await processes.open(SESSION, 1, join(dataDir, 'workspace'));
        // Cold, under the limits of every session: nobody is told what they could not understand.
        const cold = await cell(IMPORTS);
        expect([cold.output.head, cold.result?.error]).toEqual(['', undefined]);
      }

      async function closed(): Promise<void> {
        await processes.end(SESSION);
        await processes.close();
        rmSync(dataDir, { recursive: true, force: true });
      }

      const cellOf = (code: string, timeoutMs = 60_000): Cell => ({
        ...{ reference: reference(), cell: `c${++cells}`, code, timeoutMs },
      });
      const cell = (code: string, timeoutMs?: number) => box.cell(cellOf(code, timeoutMs), never);
      const result = async (code: string) => (await cell(code)).result;
      const value = async (code: string) => {
        const given = await result(code);
        return given?.value ?? given?.error ?? JSON.stringify(given);
      };

      /** What was written, and how long that took: said to whoever looks, and no promise. */
      async function parked(what: string, mayLose = false) {
        const began = systemClock.monotonic();
        const answer = await processes.park(SESSION, 1, mayLose);
        const ms = Math.round(systemClock.monotonic() - began);
        const of = (file: string | undefined): string =>
          file ? `${(statSync(file).size / MB).toFixed(1)} MB` : 'none';
        const files = readdirSync(join(dataDir, 'run', SESSION), { recursive: true, encoding: 'utf8' });
        const [image, values] = ['kernel.image', 'values'].map((name) => {
          const found = files.find((path) => path.split('/').at(-1) === name);
          return of(found && join(dataDir, 'run', SESSION, found));
        });
        process.stderr.write(
          `${name}: ${what}: ${answer.status} in ${ms} ms; values ${values}, image ${image}\n`,
        );
        return answer;
      }

      /** The first cell after a rest. */
      async function back(code: string) {
        const began = systemClock.monotonic();
        const given = await result(code);
        process.stderr.write(`${name}: back in ${Math.round(systemClock.monotonic() - began)} ms\n`);
        return given;
      }

      it('works in a command as in a cell', async () => {
        const code = `${IMPORTS}; print(len(pd.Series(np.ones(3)))); plt.plot([1]); plt.savefig("own.png")`;
        const report = await box.run(
          command(`${python?.program} -c '${code.replaceAll('\n', '; ')}'`, { timeoutMs: 60_000 }),
          never,
        );
        expect([report.output.head, report.exitCode]).toEqual(['3\n', 0]);
      });

      it('shows frames and series as tables of a bounded size, each number as it is', async () => {
        const shown = await result(`${FRAME}\ndf`);
        expect(shown?.table).toMatchObject({
          columns: ['', 'id', 'x', 'kind', 'at', 'text'],
          of: [500_000, 5],
        });
        expect(shown?.table?.rows).toHaveLength(20);
        expect(shown?.table?.rows[1]).toEqual([
          ...['1', '9007199254740994', '0.3333333333333333', 'b', '2026-01-01 00:00:01', 'row 1'],
        ]);
        // Numbers only: of one kind, the ids would be rounded.
        expect((await result('df[["id", "x"]]'))?.table?.rows[0]).toEqual(['0', '9007199254740993', '0.0']);
        expect((await result('df["x"]'))?.table).toMatchObject({ columns: ['', 'x'], of: [500_000, 1] });
        const wide = await result('pd.DataFrame({f"{n}" * 300: ["long" * 1_000] for n in range(500)})');
        expect(wide?.table).toMatchObject({ of: [1, 500] });
        expect(wide?.table?.columns).toHaveLength(21);
        expect(JSON.stringify(wide?.table).length).toBeLessThan(12_000);
        expect((await result('pd.DataFrame(index=[1, 2])'))?.table).toEqual({
          ...{ columns: [''], rows: [['1'], ['2']], of: [2, 0] },
        });
        expect(await value('df.index')).toContain('RangeIndex(start=0, stop=500000');
      });

      it('names frames among what lives, with their shape', async () => {
        const lives = (await result(`${FRAME}\ns = df["x"]\ngrid = np.zeros((3, 4, 5))\nflat = np.zeros(7)`))
          ?.live;
        expect(lives?.map(({ name, type, size }) => [name, type, size])).toEqual([
          ['rows', 'int', null],
          ['df', 'DataFrame 500000×5', null],
          ['s', 'Series', 500_000],
          ['grid', 'ndarray 3×4×5', null],
          ['flat', 'ndarray', 7],
        ]);
        expect((await result('df["y"] = 1'))?.live[1]).toMatchObject({ type: 'DataFrame 500000×6' });
      });

      it('keeps a figure as PNG under plots, once', async () => {
        const drawn = await cell(
          'pd.Series([1, 3, 2]).plot(title="é"); plt.figure(); plt.plot([1])\nplt.show()',
        );
        expect(drawn.output.head).toBe('');
        const plots = drawn.result?.plots ?? [];
        expect(plots).toEqual([`/workspace/plots/c${cells}-1.png`, `/workspace/plots/c${cells}-2.png`]);
        for (const path of plots) {
          const bytes = readFileSync(join(dataDir, 'workspace', path.slice('/workspace/'.length)));
          expect(bytes.subarray(0, 8)).toEqual(PNG);
          expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([640, 480]);
          expect(bytes.subarray(-8, -4).toString()).toBe('IEND');
        }
        expect((await result('plt.get_fignums()'))?.plots).toEqual([]);
        // What was drawn before an error is kept with it.
        const failed = await result('plt.plot([1])\n1 / 0');
        expect(failed?.error).toContain('ZeroDivisionError');
        expect(failed?.plots).toEqual([`/workspace/plots/c${cells}-1.png`]);
      });

      it('says which figure cannot be drawn, and keeps the others', async () => {
        const { result, output } = await cell('plt.title("$x_$"); plt.figure(); plt.plot([1]); 7');
        expect(output.head).toMatch(/^figure 1 could not be drawn: .*x_/s);
        expect(result).toMatchObject({ value: '7', plots: [`/workspace/plots/c${cells}-2.png`] });
      });

      it('C2 draws within the limit of the cell, and keeps its names when that is over', async () => {
        await cell(
          'kept = object()\nclass Endless(plt.Line2D):\n  def draw(self, renderer):\n    while True: pass',
        );
        const endless = 'plt.gca().add_line(Endless([0], [0]))';
        const report = await cell(endless, 1_000);
        expect(report).toMatchObject({
          ...{ ending: 'time', result: { generation: 1, error: expect.stringContaining('interrupted') } },
        });
        expect(await value('(type(kept).__name__, plt.get_fignums())')).toBe("('object', [])");
      });

      it('K3 keeps a frame; what cannot be kept beside it is lost by name, or goes on with it', async () => {
        await value(FRAME);
        await value(
          'same = df.copy()\nhalf = df[df["kind"] == "a"]\nfig, ax = plt.subplots()\nax.plot([1, 2])',
        );
        const made = cellOf(
          `gen = (row for row in df.itertuples())\nnext(gen)\nfile = open("notes", "w")\n_ = file.write("kept ")`,
        );
        await box.cell(made, never);
        const before = isWhole ? await value('id(df)') : '';
        const unsaved = ['gen', 'file'].map((name) => ({ name, cell: made.cell, code: made.code }));
        if (isWhole) expect(await parked('500,000 rows')).toMatchObject({ status: 'parked' });
        else {
          expect(await parked('500,000 rows')).toMatchObject({ status: 'kept', unsaved });
          expect(await value('next(gen).text')).toBe("'row 1'");
          expect(await parked('500,000 rows', true)).toMatchObject({ status: 'parked' });
          const told = await back('ran = True');
          expect(told).toMatchObject({ ran: false, generation: 2, lost: unsaved });
          expect(told?.restored).toEqual(['rows', 'df', 'same', 'half', 'fig', 'ax']);
        }
        if (isWhole) await back('len(df)');
        const equal = '(df.equals(same), df.dtypes.equals(same.dtypes), half.shape, ax.figure is fig)';
        expect(await value(equal)).toBe('(True, True, (250000, 5), True)');
        expect(await value('df.groupby("kind", observed=True)["x"].sum().round().tolist()')).toBe(
          '[20833250000.0, 20833333333.0]',
        );
        if (!isWhole) return;
        expect(await value('id(df)')).toBe(before);
        expect(await value('next(gen).text')).toBe("'row 1'");
        await value('file.write("on"); file.close()');
        expect(readFileSync(join(dataDir, 'workspace', 'notes'), 'utf8')).toBe('kept on');
      });

      it.runIf(isWhole)('goes on with what reads, writes and works beside a frame', async () => {
        await cell(`import sqlite3
from concurrent.futures import ThreadPoolExecutor
pd.DataFrame({"a": range(1_000)}).to_csv("a.csv", index=False)
chunks = pd.read_csv("a.csv", chunksize=100)
mapped = np.memmap("m", dtype="u1", mode="w+", shape=(3,))
db = sqlite3.connect(":memory:")
pool = ThreadPoolExecutor(2)
work = pool.submit(abs, -4)
next(chunks).to_sql("t", db, index=False)`);
        for (const n of [1, 2]) {
          expect(await parked('handles')).toMatchObject({ status: 'parked' });
          const rows = 'len(pd.read_sql("select * from t", db))';
          expect(
            await value(
              `mapped += 1; mapped.flush(); (${rows}, next(chunks)["a"].iloc[0], work.result(), *pool.map(abs, [-1]))`,
            ),
          ).toBe(`(100, ${n}00, 4, 1)`);
        }
        expect([...readFileSync(join(dataDir, 'workspace', 'm'))]).toEqual([2, 2, 2]);
      });

      it('parks 100 MB of numbers, and reads them back', async () => {
        await value(`df = pd.DataFrame({"x": np.random.default_rng(7).random(${(100 * MB) / 8})})`);
        const sum = await value('repr(df["x"].sum())');
        expect(await parked('100 MB')).toMatchObject({ status: 'parked' });
        expect((await back('repr(df["x"].sum())'))?.value).toBe(sum);
      });

      it('parks what has more than half of the memory of its session', async () => {
        await closed();
        await opened({ memoryMb: 512 });
        await value(`df = pd.DataFrame(np.ones((${(260 * MB) / 80}, 10)), copy=False)`);
        expect(await parked('260 of 512 MB')).toMatchObject({ status: 'parked' });
        expect(await value('(len(df), df.to_numpy().sum() == df.size)')).toBe('(3407872, True)');
      });

      it('stays when its values are more than a file may have, and says so', async () => {
        await closed();
        await opened({ fileMb: 8 });
        const made = cellOf(`gen = (n for n in range(3))\ndf = pd.DataFrame(np.ones((${MB}, 10)))`);
        await box.cell(made, never);
        const answer = await parked('80 MB, into a file of 8 MB');
        if (isWhole) expect(answer).toMatchObject({ status: 'parked' });
        else {
          const why = expect.stringContaining('File too large');
          const unsaved = ['gen', 'df'].map((name) => ({ name, why, code: made.code }));
          expect(answer).toMatchObject({ status: 'kept', unsaved });
        }
        expect(await value('(next(gen), df.shape)')).toBe('(0, (1048576, 10))');
      });
    },
  );
}
