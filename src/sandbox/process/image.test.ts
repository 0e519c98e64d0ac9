/** A kernel that is parked as a whole process, where a CRIU that works is here; elsewhere this says why not. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { detectCage } from './confine/detect.ts';
import { findKeeper, parkingOf } from './image/detect.ts';
import { processesIn } from './open.ts';
import type { Cell, ProcessBox, Processes } from './port.ts';
import { findPython } from './python.ts';
import { reference } from './suite-kit.ts';

const detected = await detectCage('bubblewrap');
const python = await findPython();
const keeper = await findKeeper();
const missing = !detected.found
  ? detected.why.join('; ')
  : python === null
    ? 'no CPython was found'
    : keeper.criu === null
      ? parkingOf(keeper, 'bubblewrap')
      : null;

const SESSION = 's-image';
const SECRET = 'tok-5d2f81aa-9c7e';
const never = new AbortController().signal;

describe.skipIf(missing !== null)(
  `a kernel as a whole process${missing === null ? '' : ` (${missing})`}`,
  () => {
    const folders: string[] = [];
    const opened: Processes[] = [];
    let cells = 0;

    beforeAll(() => {
      execFileSync(process.execPath, [
        fileURLToPath(new URL('../../../scripts/ensure.mjs', import.meta.url)),
      ]);
    }, 120_000);

    afterEach(async () => {
      for (const processes of opened.splice(0)) {
        await processes.end(SESSION);
        await processes.close();
      }
      for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
    });

    function worker(dataDir = mkdtempSync(join(tmpdir(), 'outlast-image-')), key = 1) {
      if (!detected.found) throw new Error('it is skipped');
      if (!folders.includes(dataDir)) folders.push(dataDir);
      mkdirSync(join(dataDir, 'workspace'), { recursive: true });
      const imageKey = () => new Uint8Array(32).fill(key);
      const options = { dataDir, isHeld: async () => true, imageKey, report: () => {} };
      const processes = processesIn(detected.spec, python, options, keeper);
      opened.push(processes);
      return {
        dataDir,
        processes,
        open: (epoch: number) => processes.open(SESSION, epoch, join(dataDir, 'workspace')),
      };
    }

    const cellOf = (code: string): Cell => ({
      reference: reference(),
      cell: `c${++cells}`,
      code,
      timeoutMs: 20_000,
    });
    const result = async (box: ProcessBox, code: string) => (await box.cell(cellOf(code), never)).result;
    const value = async (box: ProcessBox, code: string) => {
      const given = await result(box, code);
      return given?.value ?? given?.error ?? JSON.stringify(given);
    };

    const MAKE = `import itertools, threading
secret = "${SECRET}"
gen = itertools.chain(i * i for i in range(100))
next(gen), next(gen)
lock = threading.Lock()
file = open("notes", "w")
file.write("kept ")
def closed():
  n = 0
  def more():
    nonlocal n
    n += 1
    return n
  return more
count = closed()
count()`;

    it('declares what keeps it', () => {
      expect(worker().processes.abilities.keepsWhole).toMatch(/^criu \d/);
    });

    it('goes on in another sandbox where it was parked: generators, closures, open files, the very objects', async () => {
      const first = worker();
      const box = await first.open(1);
      expect(await value(box, MAKE)).toBe('1');
      const ids = await value(box, 'id(gen), id(lock)');
      const parked = await first.processes.park(SESSION, 1, false);
      expect(parked).toMatchObject({
        status: 'parked',
        kept: expect.arrayContaining(['gen', 'lock', 'file', 'count']),
      });
      // Nothing of the sandbox is left; a worker of another life brings it back.
      await first.processes.end(SESSION);
      const second = worker(first.dataDir);
      const again = await second.open(2);
      const back = await result(again, 'next(gen), count(), (id(gen), id(lock))');
      expect(back).toMatchObject({
        ran: true,
        value: `(4, 2, ${ids})`,
        generation: 1,
        lost: [],
        restored: [],
      });
      await value(again, 'print("heard"); file.write("on"); file.close()');
      expect(readFileSync(join(first.dataDir, 'workspace', 'notes'), 'utf8')).toBe('kept on');
      expect((await again.cell(cellOf('print("heard")'), never)).output.head).toBe('heard\n');
      expect(existsSync(join(first.dataDir, 'run', SESSION, 'kernel.image'))).toBe(false);
    }, 60_000);

    it('is parked and brought back again and again, interrupts and limits as before', async () => {
      const { open, processes } = worker();
      const box = await open(1);
      await value(box, 'gen = (i for i in range(100)); files = []; next(gen)');
      for (const n of [1, 2, 3]) {
        expect(await processes.park(SESSION, 1, false)).toMatchObject({ status: 'parked' });
        expect(await value(box, 'next(gen)')).toBe(`${n}`);
        // Opened after it came back, it has a number that was free before.
        await value(box, 'files.append(open(f"f{len(files)}", "w"))');
      }
      expect(await value(box, '[file.write("x") for file in files]')).toBe('[1, 1, 1]');
      const cut = await box.cell({ ...cellOf('while True: pass'), timeoutMs: 200 }, never);
      expect(cut).toMatchObject({
        ending: 'time',
        result: { error: expect.stringContaining('interrupted') },
      });
      expect(await value(box, 'next(gen)')).toBe('4');
      await value(box, 'import os; os._exit(3)');
      expect(await value(box, '1 + 1')).toBe('2');
    }, 60_000);

    it('has the same walls before and after: no rights, none to be had, nothing to write but its own', async () => {
      const { open, processes, dataDir } = worker();
      const box = await open(1);
      await value(box, 'gen = (i for i in range(3))');
      const look = `import os, subprocess
status = open("/proc/self/status").read().split("\\n")
rights = [line.split()[1] for line in status if line.startswith(("CapInh", "CapPrm", "CapEff", "CapBnd", "NoNewPrivs"))]
def can(path):
  try: open(path, "w"); return True
  except OSError: return False
unshared = subprocess.run(["unshare", "--user", "true"], capture_output=True).returncode
(os.getuid(), sorted(set(rights)), unshared != 0, [can(p) for p in ("/x", "/usr/x", "/etc/passwd", "/run/outlast/kernel.py", "/outputs/x")], os.path.exists(${JSON.stringify(dataDir)}), open("/proc/1/cgroup").read() != "", sorted(os.listdir("/")))`;
      const before = await value(box, look);
      expect(before).toContain(
        "(65534, ['0000000000000000', '1'], True, [False, False, False, False, False], False",
      );
      await processes.park(SESSION, 1, false);
      expect(await value(box, 'next(gen)')).toBe('0');
      expect(await value(box, look)).toBe(before);
    }, 60_000);

    it('stands on the disk sealed; one that cannot be read falls down the ladder, and says so by name', async () => {
      const first = worker();
      const box = await first.open(1);
      const made = cellOf(MAKE);
      await box.cell(made, never);
      await first.processes.park(SESSION, 1, false);
      const image = join(first.dataDir, 'run', SESSION, 'kernel.image');
      const bytes = readFileSync(image);
      expect(bytes.includes(SECRET)).toBe(false);
      bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1;
      writeFileSync(image, bytes);
      const told = await result(box, 'secret');
      expect(told).toMatchObject({ ran: false, generation: 2, restored: expect.arrayContaining(['secret']) });
      expect(told?.lost.map(({ name }) => name).sort()).toEqual(['count', 'file', 'gen', 'lock']);
      for (const one of told?.lost ?? []) {
        expect(one.code).toBe(made.code);
        expect(one.why).toMatch(
          /; and its process could not be brought back whole: the sealed box was changed/,
        );
      }
      expect(await value(box, 'secret')).toBe(`'${SECRET}'`);
    }, 60_000);

    it('stays where it cannot be frozen, and goes on', async () => {
      const { open, processes } = worker();
      const box = await open(1);
      const server =
        'import socket; s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname()); s.accept(); gen = (i for i in "ab")';
      await value(box, server);
      expect(await processes.park(SESSION, 1, false)).toMatchObject({ status: 'kept' });
      expect(await result(box, 'print("here"); next(gen)')).toMatchObject({ value: "'a'", generation: 1 });
      expect((await box.cell(cellOf('print("heard")'), never)).output.head).toBe('heard\n');
    }, 60_000);
  },
);
