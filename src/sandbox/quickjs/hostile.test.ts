import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Notebook, openNotebook, optionsWith } from '../notebook.ts';
import { quickjsSandbox } from './sandbox.ts';
import { memoryShelf } from './shelf.ts';

const sandbox = quickjsSandbox({ mode: 'inline', shelf: memoryShelf() });
let book: Notebook;
beforeEach(async () => {
  book = await openNotebook(sandbox);
});
afterEach(() => book.close());

/** The protocol still works: calls go out, answers come in, output and manifest are there. */
async function works(): Promise<void> {
  const before = Math.max(0, ...book.open.keys());
  const { calls, output, live } = await book.run(
    'var sound = 1; console.log("out"); const answer = await tools.check("x"); answer.b',
  );
  const mine = calls.find(({ name }) => name === 'tools.check');
  expect(mine).toMatchObject({ args: '"x"' });
  expect(output).toContain('out\n');
  expect(live.map(({ name }) => name)).toContain('sound');
  const { ended } = await book.answer(mine?.guestCall ?? before + 1, { b: 7 });
  expect(ended.at(-1)?.end).toEqual({ status: 'done', value: '7' });
  const failing = await book.run('await tools.check()');
  const { ended: failed } = await book.refuse(failing.calls.at(-1)?.guestCall ?? 0, {
    name: 'No',
    code: 'c',
    message: 'm',
  });
  expect(failed[0]?.end).toMatchObject({ status: 'failed', error: expect.stringContaining('No [c]: m') });
}

describe('trap 5: a guest that changes what helpers stand on', () => {
  const TRICKS = {
    'overrides our globals':
      'for (const k of ["fetch","setTimeout","structuredClone","URL","Error","Map","Set","Promise","JSON","Reflect","Object","Array","String"]) globalThis[k] = () => { throw "mine" }',
    'deletes globals':
      'for (const k of ["Map","Set","Promise","JSON","Reflect","Error","URL","Array","RegExp","Number","Date"]) delete globalThis[k]',
    'puts setters and getters on Object.prototype':
      'for (const k of ["get","set","done","name","code","cell","end","writable","configurable","left","count","next","toJSON","then2","0","1","stack"]) Object.defineProperty(Object.prototype, k, { configurable: true, get() { hits++; return undefined }, set() { hits++ } }); var hits = 0',
    'puts setters on Array.prototype':
      'for (let i = 0; i < 9; i++) Object.defineProperty(Array.prototype, String(i), { configurable: true, set() { throw "mine" }, get() { return "mine" } })',
    'breaks iteration':
      'Array.prototype[Symbol.iterator] = Map.prototype[Symbol.iterator] = Set.prototype[Symbol.iterator] = () => { throw "mine" }; Object.getPrototypeOf(new Map().entries()).next = () => ({ done: true })',
    'breaks collections':
      'for (const C of [Map, Set, WeakMap]) for (const k of Object.getOwnPropertyNames(C.prototype)) { try { C.prototype[k] = () => { throw "mine" } } catch {} }; Object.defineProperty(Map.prototype, "size", { get() { throw "mine" } })',
    'breaks strings':
      'for (const k of Object.getOwnPropertyNames(String.prototype)) { try { String.prototype[k] = () => { throw "mine" } } catch {} }; String.prototype.toJSON = () => "mine"; String.prototype[Symbol.split] = () => { throw "mine" }',
    'breaks functions':
      'Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw "mine" }; Function.prototype[Symbol.hasInstance]',
    'breaks JSON':
      'JSON.stringify = () => "mine"; JSON.parse = () => ({ mine: 1 }); Array.prototype.toJSON = () => "mine"',
    'takes over promises':
      'Promise.prototype.constructor = function Mine() {}; Object.defineProperty(Promise, Symbol.species, { get() { throw "mine" } }); Promise.prototype.finally = () => { throw "mine" }',
    'takes over stack traces':
      'Error.prepareStackTrace = () => { throw "mine" }; Error.stackTraceLimit = 0; Object.defineProperty(Error.prototype, "stack", { get() { throw "mine" }, configurable: true })',
    'freezes the world':
      'Object.freeze(Promise.prototype); Object.freeze(Object.prototype); Object.freeze(Array.prototype); Object.freeze(Error.prototype)',
  };
  for (const [what, source] of Object.entries(TRICKS))
    it(`survives one that ${what}`, async () => {
      await book.run(source);
      await works();
      await book.reopen();
      await works();
    });

  it('tells the end of a cell even when `then` is the guest’s', async () => {
    await book.run('var thens = 0; Promise.prototype.then = function () { thens++; return "mine" }');
    expect(await book.value('2 + 2')).toBe('4');
    expect((await book.run('throw new Error("x")')).ended[0]?.end.status).toBe('failed');
    expect(await book.value('thens')).toBe('0');
  });

  it('gives no helper away through call sites', async () => {
    await book.run(`var sites = []; Error.prepareStackTrace = (e, s) => { sites.push(...s); return "" };
      tools.x({}).catch(() => {}); setTimeout(() => {}, 1);`);
    expect(
      await book.value(
        'sites.length > 0 && sites.every((s) => typeof s.getFunction === "undefined" && typeof s.getThis === "undefined")',
      ),
    ).toBe('true');
  });
});

describe('a guest that lies about its values', () => {
  it('runs nothing of its own for the manifest and for the text of a value', async () => {
    await book.run(`var ran = []; const note = (x) => ran.push(x);
      var prox = new Proxy({}, new Proxy({}, { get: (_, k) => () => { note(k); return undefined } }));
      var tagged = { get [Symbol.toStringTag]() { note("tag"); return "x" }, toString() { note("str") }, toJSON() { note("json") }, get x() { note("get") } };
      class Odd { static get name() { note("name"); return "Odd" } }; var odd = new Odd();
      Object.defineProperty(Odd.prototype, "constructor", { get() { note("ctor") } });
      var fake = Object.setPrototypeOf({}, prox), keyed = new Map([[tagged, prox]]);
      Object.defineProperty(globalThis, "acc", { get() { note("acc") }, configurable: true, enumerable: true });
      class Liar extends Error { get message() { note("message") } get name() { note("ename") } }; var err = new Liar();`);
    const { live, output } = await book.run(
      'console.log([prox, tagged, odd, fake, keyed, err]); console.log(err); [prox, tagged, odd, fake, keyed, err]',
    );
    expect(output).toContain('[Proxy]');
    expect(output).toContain('[Getter]');
    expect(live.find(({ name }) => name === 'acc')).toEqual({ name: 'acc', type: 'accessor', size: null });
    expect(live.find(({ name }) => name === 'prox')).toEqual({ name: 'prox', type: 'Proxy', size: null });
    expect(await book.value('ran')).toBe('[]');
  });

  it('bounds names, types and counts', async () => {
    const { live } = await book.run(
      'for (let i = 0; i < 3000; i++) globalThis["n" + i] = i; globalThis["x".repeat(5000)] = 1; globalThis["a\\u0000b"] = { __proto__: { constructor: Object.defineProperty(function () {}, "name", { value: "Y\\n".repeat(500) }) } }; 1',
    );
    expect(live).toHaveLength(500);
    expect(Math.max(...live.map(({ name, type }) => name.length + type.length))).toBeLessThan(300);
    expect(live.every(({ type }) => !type.includes('\n'))).toBe(true);
  });

  it('bounds errors, with and without end', async () => {
    const { ended } = await book.run(
      'const e = new Error("m".repeat(1e6)); e.cause = e; e.errors = [e, e, e, e]; e.code = "c\\n".repeat(1e5); throw e',
    );
    const [end] = ended;
    expect(end?.end.status).toBe('failed');
    expect(JSON.stringify(end).length).toBeLessThan(40_000);
  });

  for (const thrown of [
    'null',
    'undefined',
    '"text"',
    '42',
    'Symbol("s")',
    '({ a: 1 })',
    'new Proxy({}, { get() { throw 1 } })',
    '(() => {})',
    'Object.create(null)',
  ])
    it(`says what was thrown: ${thrown}`, async () => {
      const { ended } = await book.run(`throw ${thrown}`);
      expect(ended[0]?.end).toMatchObject({ status: 'failed', error: expect.stringMatching(/^Thrown: ./) });
    });

  it('writes half a surrogate pair as a character that can be stored', async () => {
    const { output, ended, live } = await book.run(
      'console.log("\\ud83d!"); globalThis["q\\udc00"] = 1; "\\ud83d"',
    );
    const texts = [output, JSON.stringify(ended), ...live.map(({ name }) => name)];
    for (const text of texts) expect(Buffer.from(text, 'utf8').toString('utf8')).toBe(text);
  });
});

describe('a guest that asks too much', () => {
  it('gets an error for arguments without end, and for calls without end', async () => {
    const { ended } = await book.run('await tools.a({ big: "x".repeat(5e6) })');
    expect(ended[0]?.end).toMatchObject({ status: 'failed', error: expect.stringContaining('RangeError') });
    const { calls, output } = await book.run(
      'for (let i = 0; i < 1200; i++) tools.a({ i }).catch((e) => { if (i === 1100) console.log(e.message) }); 1',
    );
    expect(calls).toHaveLength(1000);
    expect(output).toContain('more than 1000 calls wait');
  });

  it('names tools by what can be a name', async () => {
    const { ended, calls } = await book.run(
      '[typeof tools.then, typeof tools.toJSON, typeof tools.constructor, typeof tools[Symbol.iterator], typeof tools.ok, typeof tools["a b"], typeof tools["x".repeat(200)], "" + JSON.stringify(tools)]',
    );
    expect(calls).toEqual([]);
    expect(ended[0]?.end).toMatchObject({
      value: expect.stringMatching(/("undefined",\s+){4}"function",\s+"undefined",\s+"undefined"/),
    });
  });

  it('has nothing of the host around it', async () => {
    const names =
      '["process","require","module","WebAssembly","Worker","Deno","importScripts","XMLHttpRequest","Buffer","std","os","scriptArgs","Atomics","__host_call"]';
    expect(await book.value(`${names}.filter((n) => n in globalThis)`)).toBe('[]');
    const { ended } = await book.run('import fs from "node:fs"; fs');
    expect(ended[0]?.end).toMatchObject({ status: 'failed', error: expect.stringContaining('node:fs') });
  });
});

describe('trap 1: the native stack', () => {
  it('a poisoned engine is rolled back to the last image', async () => {
    await book.run('let n = 1; const inc = () => ++n');
    // In the calling thread the native stack ends first: a host error tears through the engine.
    const step = await book.attempt('n = 100; JSON.parse("[".repeat(1e6))');
    expect(step).toMatchObject({ kind: 'aborted', reason: 'poisoned' });
    expect(await book.value('inc()')).toBe('2');
    await works();
  });
});

describe('trap 8: an image is taken at rest only', () => {
  it('while a cell waits, other code runs and the wait goes on', async () => {
    await book.close();
    book = await openNotebook(sandbox, optionsWith());
    await book.run('const got = await tools.slow({}); console.log("then", got); got');
    await book.run('var meanwhile = 1');
    await book.reopen();
    const { output, ended } = await book.answer(1, 'x');
    expect(output).toBe('then x\n');
    expect(ended).toEqual([{ cell: 'c1', end: { status: 'done', value: '"x"' } }]);
  });
});
