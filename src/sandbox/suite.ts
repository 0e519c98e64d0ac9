/**
 * The suite that proves a sandbox: `sandboxSuite` in an adapter's test file, and the port's statements are its tests.
 *
 * It leaves to the adapters what only they can get wrong: threads, engines, formats.
 */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CellEnd } from '../core/heap/event.ts';
import type { Limits } from '../core/limits.ts';
import { type Notebook, openNotebook, optionsWith, playHistory, type Rest } from './notebook.ts';
import type { JournalEntry, Sandbox } from './port.ts';

export interface OpenSandbox {
  readonly sandbox: Sandbox;
  /** Another instance that shares nothing with the first but what is durable, as after a crash. */
  again(): Promise<Sandbox>;
  dispose(): Promise<void>;
}

export interface SandboxSubject {
  readonly name: string;
  open(): Promise<OpenSandbox>;
  /** What the adapter cannot do, with the reason. */
  readonly skips?: {
    /** A guest in an endless loop stops when the signal aborts. */
    readonly interrupt?: string;
    /** Work that looks at no limit is ended all the same. */
    readonly hardStop?: string;
    /** Deep recursion is an error in the guest. */
    readonly recursion?: string;
  };
}

/**
 * Declares the suite for one adapter.
 *
 * @example
 * ```ts
 * sandboxSuite({ name: 'quickjs inline', open: async () => openInline() });
 * ```
 */
export function sandboxSuite({ name, open, skips = {} }: SandboxSubject): void {
  describe(`sandbox: ${name}`, () => {
    let opened: OpenSandbox;
    let book: Notebook;

    beforeEach(async () => {
      opened = await open();
      book = await openNotebook(opened.sandbox);
    });
    afterEach(async () => {
      await book.close();
      await opened.dispose();
    });

    /** A notebook with limits of its own. */
    async function limited(limits: Partial<Limits>): Promise<Notebook> {
      await book.close();
      book = await openNotebook(opened.sandbox, optionsWith(limits));
      return book;
    }

    describe('cells', () => {
      it('have the value of their last expression', async () => {
        expect(await book.value('const a = 1; a + 1')).toBe('2');
        expect(await book.value('await Promise.resolve("x")')).toBe('"x"');
        expect(await book.value('const b = 3')).toBe('undefined');
        expect(await book.value('{ a: 1, b: [true, null] }')).toBe('{ a: 1, b: [ true, null ] }');
      });

      it('take TypeScript', async () => {
        expect(await book.value('interface P { n: number }\nconst p: P = { n: 2 } as P; p.n!')).toBe('2');
        expect(await book.value('enum Color { Red = 4 }\nColor.Red')).toBe('4');
      });

      it('refuse what cannot be read in one line, with line and column', () => {
        const refused = opened.sandbox.prepare('const a = 1;\nconst b = = 2;');
        expect(refused).toEqual({
          ok: false,
          message: expect.stringMatching(/^[^\n]*line 2, column 1\d[^\n]*$/),
        });
      });

      it('declare again, and earlier functions see it', async () => {
        await book.run(
          'let rate = 2; const times = (n) => n * rate; class Box { get() { return rate } }; const box = new Box()',
        );
        await book.run('const rate = 5; class Box {}; let fresh');
        expect(await book.value('[times(2), box.get(), box instanceof Box, fresh]')).toBe(
          '[ 10, 5, false, undefined ]',
        );
      });

      it('keep what they did before they threw, and leave no dead names', async () => {
        const { ended } = await book.run('const kept = [1];\nkept.push(2);\nnull.x;\nlet never = 1');
        expect(textOf(ended)).toMatch(/^failed TypeError: .*\n {4}at .*c1:3:/);
        expect(await book.value('let never = 2; [kept, never]')).toBe('[ [ 1, 2 ], 2 ]');
      });

      it('come to an end that never comes by itself', async () => {
        const { ended, calls } = await book.run('await new Promise(() => {})');
        expect(calls).toEqual([]);
        expect(textOf(ended)).toMatch(/^failed Unsettled await/);
        expect(await book.value('1')).toBe('1');
      });
    });

    describe('calls', () => {
      it('X2 queue until rest and are numbered over the life of the heap', async () => {
        const { calls, ended } = await book.run(
          'const [a, b] = await Promise.all([tools.find({ q: "x" }), fetch("https://a.example/p?q=1")]); [a, b.status]',
        );
        expect(ended).toEqual([]);
        expect(calls.map(({ guestCall, name }) => [guestCall, name])).toEqual([
          [1, 'tools.find'],
          [2, 'fetch'],
        ]);
        expect(JSON.parse(calls[0]?.args ?? '')).toEqual({ q: 'x' });
        expect(JSON.parse(calls[1]?.args ?? '')).toEqual({
          url: 'https://a.example/p?q=1',
          method: 'GET',
          headers: {},
          body: null,
        });
        await book.answer(2, { status: 200, headers: {}, body: '' });
        const { ended: then } = await book.answer(1, { n: 1 });
        expect(textOf(then)).toBe('done [ { n: 1 }, 200 ]');
        expect((await book.run('tools.more(); 1')).calls.map((call) => call.guestCall)).toEqual([3]);
      });

      it('reject with an error that has name, code and message', async () => {
        await book.run(
          'try { await tools.pay({}) } catch (e) { console.log(e instanceof Error, e.name, e.code, e.message) }',
        );
        const { output } = await book.refuse(1, { name: 'Refused', code: 'no.grant', message: 'not yours' });
        expect(output).toBe('true Refused no.grant not yours\n');
      });

      it('post with headers and body, and read the answer', async () => {
        const { calls } = await book.run(
          'const r = await fetch(new URL("/m", "https://a.example"), { method: "post", headers: { "X-A": "1" }, body: JSON.stringify({ a: 1 }) });' +
            '[r.ok, r.headers.get("Content-Type"), await r.json()]',
        );
        expect(JSON.parse(calls[0]?.args ?? '')).toMatchObject({
          method: 'POST',
          body: '{"a":1}',
          headers: { 'x-a': '1' },
        });
        const answer = { status: 201, headers: { 'content-type': 'application/json' }, body: '{"id":7}' };
        expect(textOf((await book.answer(1, answer)).ended)).toBe(
          'done [ true, "application/json", { id: 7 } ]',
        );
      });

      it('leave the guest alone when an answer is for nobody', async () => {
        await book.run('const p = tools.a(); p.then((v) => console.log(v)); 1');
        expect((await book.answer(99, 1)).output).toBe('');
        expect((await book.answer(1, 5)).output).toBe('5\n');
        expect((await book.answer(1, 6)).output).toBe('');
      });

      it('set timers; a cleared one drops its callback', async () => {
        const { calls } = await book.run(
          'setTimeout((x) => console.log("ran", x), 250, 1); clearTimeout(setTimeout(() => console.log("no"), 5))',
        );
        expect(calls).toMatchObject([
          { name: 'timer', args: '{"ms":250}' },
          { name: 'timer', args: '{"ms":5}' },
        ]);
        expect((await book.answer(2, null)).output).toBe('');
        expect((await book.answer(1, null)).output).toBe('ran 1\n');
      });
    });

    describe('what a step tells', () => {
      it('output in order, with unhandled rejections', async () => {
        const { output } = await book.run(
          'console.log("a", { b: [1] }); console.error("c"); Promise.reject(new Error("lost")); 1',
        );
        expect(output).toMatch(/^a \{ b: \[ 1 \] \}\nc\nUnhandled rejection: Error: lost/);
      });

      it('long output by head and tail, never half a character', async () => {
        await limited({ outputChars: 101 });
        const { output } = await book.run('for (let i = 0; i < 500; i++) console.log("😀".repeat(5) + i); 1');
        expect(output).toMatch(/characters left out/);
        expect(output.startsWith('😀😀😀😀😀0\n')).toBe(true);
        expect(output.endsWith('499\n')).toBe(true);
        expect(output).not.toMatch(/\ufffd/);
        expect(output.length).toBeLessThan(150);
      });

      it('the live objects, by name, type and size', async () => {
        const { live } = await book.run(
          'class Client { #token = 1 }; const client = new Client(), rows = [1, 2], seen = new Map([[1, 2]]), word = "abc", n = 1, opts = { a: 1, b: 2 }, bytes = new Uint8Array(9); function go() {}',
        );
        expect(live.map(({ name, type, size }) => `${name} ${type} ${size}`)).toEqual([
          'Client class null',
          'bytes Uint8Array 9',
          'client Client 0',
          'go function null',
          'n number null',
          'opts Object 2',
          'rows Array 2',
          'seen Map 1',
          'word string 3',
        ]);
      });
    });

    describe('limits', () => {
      it('end an endless loop, and the image before the cell opens again', async () => {
        await limited({ cellMs: 300 });
        await book.run('let n = 1');
        expect(await book.attempt('n = 2; console.log("begun"); while (true) {}')).toMatchObject({
          kind: 'aborted',
          reason: 'time',
          output: 'begun\n',
        });
        expect(await book.value('n')).toBe('1');
      });

      for (const [what, source] of Object.entries({
        'an endless chain of jobs':
          'const spin = () => Promise.resolve().then(spin); spin(); await new Promise(() => {})',
        'an endless await': 'while (true) await null',
        'a regular expression without end': '/^(a+)+$/.test("a".repeat(40) + "b")',
        'an endless answer':
          '({ toJSON() { while (true) {} } }); JSON.stringify({ toJSON() { while (true) {} } })',
      }))
        it(`end ${what}`, async () => {
          await limited({ cellMs: 300 });
          expect(await book.attempt(source)).toMatchObject({ kind: 'aborted', reason: 'time' });
          expect(await book.value('1 + 1')).toBe('2');
        });

      it('end a cell that fills the heap, even one that catches', async () => {
        await limited({ heapMb: 32 });
        await book.run('let kept = 1');
        const leak =
          'const leak = []; try { while (true) leak.push(new Array(1000).fill(leak)) } catch { leak.length = 0 }';
        expect(await book.attempt(leak)).toMatchObject({ kind: 'aborted', reason: 'memory' });
        expect(await book.value('kept')).toBe('1');
      });

      it('end a cell that prints without end', async () => {
        await limited({ outputChars: 1000 });
        const step = await book.attempt('while (true) console.log("again and again")');
        expect(step).toMatchObject({ kind: 'aborted', reason: 'output' });
        expect(step.output).toMatch(/^again and again\n[\s\S]*characters left out[\s\S]*again\n$/);
      });

      it.skipIf(skips.interrupt)(titled('end a cell when the signal aborts', skips.interrupt), async () => {
        const control = new AbortController();
        setTimeout(() => control.abort(), 100);
        const step = await book.attempt('while (true) {}', control.signal);
        expect(step).toMatchObject({ kind: 'aborted', reason: 'interrupted' });
        expect(await book.value('1')).toBe('1');
      });

      it('end a cell whose signal has aborted before it began', async () => {
        expect(await book.attempt('1', AbortSignal.abort())).toMatchObject({
          kind: 'aborted',
          reason: 'interrupted',
        });
      });

      it('leave a heap alone whose signal aborts after the step', async () => {
        const control = new AbortController();
        await book.attempt('let n = 1', control.signal);
        control.abort();
        expect(await book.value('n')).toBe('1');
      });

      it.skipIf(skips.hardStop)(titled('end work that looks at no limit', skips.hardStop), async () => {
        await limited({ cellMs: 1_000 });
        await book.run('let big = "[" + "{\\"a\\":1},".repeat(2e6) + "1]"; 1');
        const begun = performance.now();
        expect(await book.attempt('for (;;) JSON.parse(big)')).toMatchObject({
          kind: 'aborted',
          reason: 'time',
        });
        expect(performance.now() - begun).toBeLessThan(10_000);
        expect(await book.value('big.length')).toBe('16000003');
      });

      it.skipIf(skips.recursion)(
        titled('make deep recursion an error of the guest', skips.recursion),
        async () => {
          const { ended } = await book.run('const deep = () => deep() + 1; deep()');
          expect(textOf(ended)).toMatch(/^failed RangeError/);
          expect(await book.value('1')).toBe('1');
        },
      );
    });

    describe('images', () => {
      it('bring back everything live, in another instance', async () => {
        await book.run(`class Client { #token; calls = 0; constructor(t) { this.#token = t } auth() { this.calls++; return 'B ' + this.#token } }
          const client = new Client('secret'), key = {}, byKey = new Map([[key, client]]), weak = new WeakMap([[key, 'held']]);
          const counter = (() => { let n = 0; return () => ++n })(); counter();
          function* steps() { let i = 0; try { while (true) yield i++ } finally { console.log('closed') } } const it = steps(); it.next();
          const waiting = tools.slow({}).then((v) => v.x); client.auth()`);
        await book.run(
          'let line = "before"; const got = await tools.slow({}); line = "after " + got.x; line',
        );
        await book.reopen(await opened.again());
        expect(textOf((await book.answer(2, { x: 5 })).ended)).toBe('done "after 5"');
        await book.answer(1, { x: 6 });
        expect(
          await book.value(
            '[client.auth(), client.calls, byKey.get(key) === client, weak.get(key), counter(), it.next().value, await waiting]',
          ),
        ).toBe('[ "B secret", 2, true, "held", 2, 1, 6 ]');
        expect((await book.run('it.return(); 1')).output).toBe('closed\n');
      });

      it('are refused when their digest is another, or their engine is not here', async () => {
        await book.run('1');
        const chain = book.chain();
        const options = optionsWith();
        const digest = '0'.repeat(64);
        await expect(opened.sandbox.restore({ ...chain, digest }, options)).rejects.toMatchObject({
          code: 'blob.forged',
        });
        const engine = '0'.repeat(64);
        await expect(opened.sandbox.restore({ ...chain, engine }, options)).rejects.toMatchObject({
          code: 'blob.missing',
        });
      });

      it('begin anew with a base on request', async () => {
        await book.run('let n = 1');
        await book.run('n = 2');
        const base = await book.heap().base();
        expect(base).toMatchObject({ form: 'base', digest: book.chain().digest });
        const chain = { engine: base.engine, digest: base.digest, parts: [base] };
        const heap = await opened.sandbox.restore(chain, optionsWith());
        const input = { kind: 'run', cell: 'x', code: 'n', at: 1 } as const;
        const step = (await heap.apply(input, new AbortController().signal)) as Rest;
        expect(textOf(step.ended)).toBe('done 2');
        await heap.close();
      });
    });

    describe('X1 the heap is the fold of its journal', () => {
      const history = (reopens: boolean) =>
        playHistory(book, async () => (reopens ? book.reopen(await opened.again()) : undefined));
      const digests = () => book.journal.flatMap((entry) => (entry.kind === 'apply' ? [entry.digest] : []));
      async function* entries(journal: readonly JournalEntry[]): AsyncIterable<JournalEntry> {
        yield* journal;
      }

      it('with restores and without, live and replayed', async () => {
        await history(false);
        const plain = digests();
        await book.close();
        book = await openNotebook(opened.sandbox);
        await history(true);
        expect(digests()).toEqual(plain);
        const replay = await (await opened.again()).replay(entries(book.journal), optionsWith());
        expect(replay).toMatchObject({ applied: plain.length, diverged: null, digest: plain.at(-1) });
        const base = await replay.heap.base();
        expect(base).toMatchObject({ form: 'base', digest: plain.at(-1) });
        await replay.heap.close();
      });

      it('a journal that was changed is found out, at the entry', async () => {
        await book.run('let n = 1');
        await book.run('n = 2');
        await book.run('n = 3');
        const changed = book.journal.map((entry) =>
          entry.kind === 'apply' && entry.seq === 2
            ? { ...entry, input: { ...entry.input, code: 'n = 4' } as typeof entry.input }
            : entry,
        );
        const replay = await opened.sandbox.replay(entries(changed), optionsWith());
        expect(replay).toMatchObject({
          applied: 1,
          diverged: { seq: 2, expected: changed[1]?.kind === 'apply' && changed[1].digest },
        });
        await replay.heap.close();
      });

      it('another seed is another heap', async () => {
        const first = await book.value('Math.random()');
        await book.close();
        book = await openNotebook(opened.sandbox, optionsWith({}, 8));
        expect(await book.value('Math.random()')).not.toBe(first);
      });
    });
  });
}

const titled = (title: string, reason: string | undefined) =>
  reason ? `${title} (not here: ${reason})` : title;

function textOf(ended: readonly { readonly end: CellEnd }[]): string {
  return ended.map(({ end }) => `${end.status} ${end.status === 'done' ? end.value : end.error}`).join('\n');
}
