import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Notebook, openNotebook, optionsWith } from '../notebook.ts';
import { quickjsSandbox } from './sandbox.ts';
import { memoryShelf } from './shelf.ts';

const sandbox = quickjsSandbox({ mode: 'thread', shelf: memoryShelf() });
let book: Notebook;
beforeEach(async () => {
  book = await openNotebook(sandbox);
});
afterEach(() => book.close());
afterAll(() => sandbox.close());

describe('trap 1: the native stack', () => {
  const CASES = {
    'a function': 'const f = () => f() + 1; f()',
    'JSON.stringify': 'const o = { toJSON: () => JSON.stringify([o]) }; JSON.stringify(o)',
    'JSON.parse': 'JSON.parse("[".repeat(1e6))',
    'the parser': 'new Function("(".repeat(1e5))',
    toString: 'let list = []; for (let i = 0; i < 3e5; i++) list = [list]; String(list)',
    'a getter': 'const o = { get x() { return this.x } }; o.x',
    'a proxy': 'const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x',
    'a replacer': '"x".replace(/x/, function r() { return "x".replace(/x/, r) })',
  };
  for (const [what, source] of Object.entries(CASES))
    it(`recursion through ${what} is an error of the guest, and the engine is whole`, async () => {
      await book.run('let kept = 1');
      const { ended } = await book.run(`try { ${source} } catch (e) { globalThis.caught = e }; throw caught`);
      expect(ended[0]?.end).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/^(Range|Internal)Error/),
      });
      expect(await book.value('kept')).toBe('1');
      await book.reopen();
      expect(await book.value('kept')).toBe('1');
    });
});

describe('trap 2: an exception that is left behind', () => {
  it('is in no image: what fails next, fails for its own reason', async () => {
    await book.run('new Proxy({}, { get() { throw 1 } }).x');
    await book.run('({ toString() { throw 2 } }) + ""');
    await book.reopen();
    expect(
      await book.value('let why; try { await import("nowhere") } catch (e) { why = e.message }; why'),
    ).toMatch(/nowhere/);
  });
});

describe('trap 7: what the engine has', () => {
  it('is the language of 2025', async () => {
    expect(
      await book.value(
        '[Object.groupBy([1, 2, 3], (n) => n % 2 ? "odd" : "even").odd, [1, 2].values().map((n) => n * 2).toArray(), new Set([1]).union(new Set([2])).size, /[\\p{L}--[a-z]]/v.test("A"), [1, 2, 3].findLast((n) => n < 3), Promise.withResolvers !== undefined]',
      ),
    ).toBe('[ [ 1, 3 ], [ 2, 4 ], 2, true, 2, true ]');
  });
});

describe('threads', () => {
  it('a loop in one heap delays no other', async () => {
    const loop = await openNotebook(sandbox, optionsWith({ cellMs: 1500 }));
    const order: string[] = [];
    const looping = loop.attempt('while (true) {}').then((step) => order.push(step.kind));
    for (let i = 0; i < 5; i++) await book.run(`${i}`);
    order.push('others');
    await looping;
    expect(order).toEqual(['others', 'aborted']);
    await loop.close();
  });

  it('a thread that ends by itself is a lost heap, not a hanging call', async () => {
    const running = book.attempt('while (true) {}');
    const heap = book.heap();
    await heap.close();
    expect(await running).toMatchObject({ kind: 'aborted', reason: 'lost' });
    await expect(
      heap.apply({ kind: 'run', cell: 'x', code: '1', at: 1 }, new AbortController().signal),
    ).resolves.toMatchObject({ kind: 'aborted', reason: 'lost' });
  });

  it('fifty thousand rows stay, and a small cell on them writes little', async () => {
    await book.run(
      'const rows = Array.from({ length: 50_000 }, (_, i) => ({ id: i, name: "row " + i, tags: ["x", "y" + (i % 3)] })); const inc = (() => { let n = 0; return () => ++n })()',
    );
    await book.run('inc()'); // A new base: the rows have outgrown the one before.
    const { image } = await book.run('inc(); rows[7].id');
    expect(image.form).toBe('delta');
    expect(image.data.length).toBeLessThan(8_000);
    await book.reopen();
    expect(
      await book.value('[rows.length, rows.at(-1).name, rows.reduce((sum, row) => sum + row.id, 0), inc()]'),
    ).toBe('[ 50000, "row 49999", 1249975000, 3 ]');
  });

  it('after each kind of stop the next cell works', async () => {
    await book.close();
    book = await openNotebook(sandbox, optionsWith({ cellMs: 1500, heapMb: 24, outputChars: 500 }));
    await book.run('let kept = 0');
    const STOPS = {
      time: 'while (true) kept++',
      memory: 'const all = []; while (true) all.push(new Uint8Array(1 << 20))',
      output: 'while (true) console.log("more")',
    };
    for (const [reason, source] of Object.entries(STOPS)) {
      expect(await book.attempt(source)).toMatchObject({ kind: 'aborted', reason });
      expect(await book.value('kept')).toBe('0');
    }
  });
});
