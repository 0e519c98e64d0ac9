import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stripped } from './thread/entry.ts';

/** Programs of real processes: they share nothing but a folder. */
const library = {
  sandbox: stripped(new URL('./sandbox.ts', import.meta.url)),
  shelf: stripped(new URL('./shelf.ts', import.meta.url)),
  notebook: stripped(new URL('../notebook.ts', import.meta.url)),
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'outlast-heap-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

function run(program: string, mode: string): Promise<Ended> {
  const source = `
    import { readFileSync, writeFileSync } from 'node:fs';
    const { quickjsSandbox } = await import('${library.sandbox}');
    const { directoryShelf } = await import('${library.shelf}');
    const { openNotebook, optionsWith } = await import('${library.notebook}');
    const folder = ${JSON.stringify(folder)};
    const sandbox = quickjsSandbox({ mode: '${mode}', shelf: directoryShelf(folder + '/engines') });
    const save = ({ engine, digest, parts }) => writeFileSync(folder + '/chain.json', JSON.stringify({ engine, digest, parts: parts.map(({ form, data }) => ({ form, data: Buffer.from(data).toString('base64') })) }));
    const load = () => { const { engine, digest, parts } = JSON.parse(readFileSync(folder + '/chain.json', 'utf8')); return { engine, digest, parts: parts.map(({ form, data }) => ({ form, data: new Uint8Array(Buffer.from(data, 'base64')) })) }; };
    const signal = new AbortController().signal;
    ${program}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source]);
  let [out, err] = ['', ''];
  child.stdout.on('data', (data) => {
    out += data;
  });
  child.stderr.on('data', (data) => {
    err += data;
  });
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, out, err })));
}

describe('across processes', () => {
  for (const mode of ['thread', 'inline'])
    it(`a cell that waits goes on after SIGKILL, in a new process (${mode})`, async () => {
      const first = await run(
        `const book = await openNotebook(sandbox);
         await book.run("class Client { #t; constructor(t) { this.#t = t } auth() { return 'B ' + this.#t } }; const client = new Client((await tools.login({})).token); const key = {}, kept = new Map([[key, client]]); let n = 0; const bump = () => ++n; bump()");
         await book.answer(1, { token: 'tok' });
         await book.run("const gen = (function* () { let i = 10; while (true) yield i++ })(); gen.next(); setTimeout(() => { n += 100 }, 60000)");
         await book.run("let line = 'before'; const got = await tools.slow({}); line = 'after ' + got.x; bump(); [line, kept.get(key) === client, client.auth(), gen.next().value]");
         save(book.chain());
         console.log(JSON.stringify([...book.open.values()].map(({ guestCall, name }) => [guestCall, name])));
         process.kill(process.pid, 'SIGKILL');`,
        mode,
      );
      expect(first.signal, first.err).toBe('SIGKILL');
      expect(JSON.parse(first.out)).toEqual([
        [2, 'timer'],
        [3, 'tools.slow'],
      ]);

      const program = `const heap = await sandbox.restore(load(), optionsWith());
         const answered = await heap.apply({ kind: 'delivery', guestCall: 3, ok: true, json: '{"x":5}', at: 1772400000000 }, signal);
         const timed = await heap.apply({ kind: 'delivery', guestCall: 2, ok: true, json: 'null', at: 1772400060000 }, signal);
         const last = await heap.apply({ kind: 'run', cell: 'c9', code: '[n, Math.random()]', at: 1772400061000 }, signal);
         console.log(JSON.stringify([answered.ended, last.ended, last.image.digest, last.live.map(({ name }) => name).join()]));`;
      const second = await run(program, mode);
      expect(second, second.err).toMatchObject({ code: 0, err: '' }); // It ends by itself, with the heap still open.
      const [answered, last] = JSON.parse(second.out);
      expect(answered).toEqual([
        { cell: 'c3', end: { status: 'done', value: '[ "after 5", true, "B tok", 11 ]' } },
      ]);
      expect(last[0].end.value).toMatch(/^\[ 102, 0\.\d+ \]$/);
      const third = await run(program, mode === 'thread' ? 'inline' : 'thread');
      expect(third.out).toBe(second.out); // Bit for bit the same, in a third process and without its thread.
    });
});

describe('the stripped files', () => {
  it('U1 are made once for the same sources', async () => {
    expect(stripped(new URL('./sandbox.ts', import.meta.url)).href).toBe(library.sandbox.href);
    expect(await readFile(library.sandbox, 'utf8')).not.toMatch(/\.ts'/);
  });
});
