/** Sandbox: a heap that dies comes back, or is reported lost by name before the model's next cell. Nothing runs twice. */

import { expect, it } from 'vitest';
import { OutlastError } from '../../src/core/error.ts';
import type { ModelRequest } from '../../src/core/message.ts';
import type { LiveHeap, Sandbox } from '../../src/sandbox/port.ts';
import { calls, gate, type Harness, say, tool } from '../../src/testing/harness.ts';
import { books, events, given, instructions, notes, present, responses, results, sandbox } from './kit.ts';

const cell = (source: string) => calls(['code', { source }]);

/** One cell for each instruction, which is its source; then its result is the answer. */
const notebook = (request: ModelRequest) => {
  const said = instructions(request);
  const got = results(request);
  return got.length < said.length ? cell(said[got.length] ?? '') : say(got.at(-1)?.text ?? '');
};

/** A sandbox whose heaps can be killed behind the runtime's back. */
function mortal(): Sandbox & { kill(): void; readonly open: number } {
  let killed = 0;
  let open = 0;
  const wrap = (heap: LiveHeap): LiveHeap => {
    const born = killed;
    open++;
    return {
      apply: async (input, signal) =>
        born === killed
          ? heap.apply(input, signal)
          : { kind: 'aborted', reason: 'lost', message: 'the thread ended', output: '' },
      base: () => heap.base(),
      async close() {
        open--;
        await heap.close();
      },
    };
  };
  return {
    ...sandbox,
    create: async (options) => wrap(await sandbox.create(options)),
    restore: async (chain, options) => wrap(await sandbox.restore(chain, options)),
    replay: async (journal, options) => {
      const result = await sandbox.replay(journal, options);
      return { ...result, heap: wrap(result.heap) };
    },
    kill() {
      killed++;
    },
    get open() {
      return open;
    },
  };
}

/** From now on no image can be had: the blobs are gone, or not what they were. */
function spoilImages(h: Harness, how: 'missing' | 'forged'): void {
  h.faulty.blob = async (session, ref) => {
    const bytes = await h.store.blob(session, ref);
    if (how === 'missing') throw new OutlastError('blob.missing', 'The image is gone.');
    return bytes.map((byte, index) => (index === 40 ? byte ^ 1 : byte));
  };
}

/** From now on the log names another heap for the first cell than the one that its code leads to. */
function spoilJournal(h: Harness): void {
  h.faulty.read = async (...args) => {
    const rows = await h.store.read(...args);
    const first = rows.find((row) => row.kind === 'cell.committed');
    return rows.map((row) =>
      row === first ? { ...row, body: row.body.replace(/"digest":"..../, '"digest":"0000') } : row,
    );
  };
}

it('B056 a heap that died between two cells costs one clear result, and the next cell works', async () => {
  const box = mortal();
  const h = given({
    sandbox: box,
    model: (request) => {
      const got = results(request);
      const failed = got.filter(({ status }) => status === 'failed').length;
      if (got.length === 0) return cell('let x = 41; x');
      return got.length === 1 && instructions(request).length === 1
        ? say('x is set')
        : got.length < 2 + failed
          ? cell('x + 1')
          : say(got.at(-1)?.text ?? '');
    },
  });
  const id = await h.start('set x');
  await h.rest(id);
  box.kill();
  await h.tell(id, 'use x');

  expect(await responses(h, id)).toEqual(['x is set', '42']);
  expect(results(h.requests.at(-1)).map(({ status }) => status)).toEqual(['done', 'failed', 'done']);
  expect(results(h.requests.at(-1))[1]?.text).toMatch(/the engine broke.*as it was before the cell/s);
});

it('B056 a heap whose worker died is back in the next one, with nothing said about it', async () => {
  const h = given({ sandbox, model: notebook });
  const id = await h.start('class Secret { #v = 41; get v() { return this.#v } }; const s = new Secret()');
  await h.rest(id);
  h.restart();
  await h.tell(id, 's.v + 1');

  expect((await responses(h, id)).at(-1)).toBe('42');
  expect(notes(h.requests.at(-1))).toEqual([]);
  expect((await events(h, id, 'heap.restored')).map(({ rung }) => rung)).toEqual(['fresh', 'exact']);
});

it.each(['missing', 'forged'] as const)(
  'B057 an image that is %s is replaced by its journal',
  async (how) => {
    const h = given({ sandbox, model: notebook });
    const id = await h.start("let n = 0; n += (await tools.pay({ what: 'x' })).ok ? 1 : 0; n");
    await h.rest(id);
    await h.tell(id, 'const m = new Map([[n, "one"]]); m.size');
    spoilImages(h, how);
    h.restart();
    await h.tell(id, 'm.get(n)');

    expect((await responses(h, id)).at(-1)).toBe('"one"');
    expect((await events(h, id, 'heap.restored')).at(-1)).toMatchObject({ rung: 'replayed', lost: [] });
    expect(notes(h.requests.at(-1)).join()).toMatch(/rebuilt by replaying 3 steps.*No call was made again/);
    expect(books(h)).toEqual(['pay: x']);
    // It stands on a new image from here.
    delete h.faulty.blob;
    h.restart();
    await h.tell(id, 'n + m.size');
    expect((await responses(h, id)).at(-1)).toBe('2');
  },
);

it('B057 an image that proves wrong only when its heap is to move costs one clear result, and its journal replaces it', async () => {
  const wrong = async (): Promise<never> => {
    throw new OutlastError('blob.forged', 'A heap image is not what was stored.');
  };
  let isWrong = true;
  const doubtful: Sandbox = {
    ...sandbox,
    async restore(chain, options) {
      const heap = await sandbox.restore(chain, options);
      return isWrong ? { ...heap, apply: wrong, base: wrong } : heap;
    },
  };
  const h = given({
    sandbox: doubtful,
    model: (request) => {
      const got = results(request);
      if (instructions(request).length === 1) return got.length === 0 ? cell('let n = 41; n') : say('set');
      return got.at(-1)?.text.endsWith('42') ? say('42') : cell('n + 1');
    },
  });
  const id = await h.start('set n');
  await h.rest(id);
  // An audit does not take the word of the image for it.
  expect(await h.done(h.api.verify(id))).toMatchObject({ image: 'damaged', identical: false });
  h.restart();
  await h.tell(id, 'use n');

  expect(await responses(h, id)).toEqual(['set', '42']);
  expect(results(h.requests.at(-1)).map(({ status }) => status)).toEqual(['done', 'failed', 'done']);
  const restored = await events(h, id, 'heap.restored');
  expect(restored.map(({ rung }) => rung)).toEqual(['fresh', 'exact', 'replayed']);
  // The new image is another, and is not passed over.
  isWrong = false;
  await h.rest(id);
  h.restart();
  await h.tell(id, 'use n again');
  expect((await events(h, id, 'heap.restored')).at(-1)?.rung).toBe('exact');
});

it('B057 names that are lost for good are told before the next cell, with a new generation', async () => {
  const h = given({ sandbox, model: notebook });
  const id = await h.start('const client = new (class Client {})(); let rows = [1, 2, 3]');
  await h.rest(id);
  await h.tell(id, 'rows.push(4)');
  expect(present(h.requests.at(-1))).toMatch(
    /live objects \(generation 1\): client: Client.*rows: Array\(4\)/,
  );
  spoilImages(h, 'missing');
  spoilJournal(h);
  h.restart();
  await h.tell(id, 'typeof rows');

  // The request that asks for the next cell says what was lost, and the cell runs in a new heap.
  const asking = h.requests.at(-2);
  expect(results(asking)).toHaveLength(2);
  expect(notes(asking).join()).toMatch(
    /could not be rebuilt.*Lost: client \(Client, c1\), rows \(Array, c2\)/,
  );
  expect(present(asking)).toMatch(/live objects: none/);
  expect((await responses(h, id)).at(-1)).toBe('"undefined"');
  expect((await h.state(id)).heap.generation).toBe(2);
  expect((await events(h, id, 'heap.restored')).at(-1)?.lost.map(({ name }) => name)).toEqual([
    'client',
    'rows',
  ]);
});

it('B057 a cell that waits in a heap that is lost ends, and says what it had done', async () => {
  const held = gate();
  const slow = tool('slow', { kind: 'read' }, () => held.pass({ status: 'done', result: 1 }));
  const h = given({
    sandbox,
    tools: [slow],
    model: notebook,
    limits: { effectTimeoutMs: 3_600_000 },
  });
  const id = await h.start('let a = 1');
  await h.rest(id);
  await h.done(h.api.send(id, "await tools.pay({ what: 'rent' }); await tools.slow({})"));
  await h.until(() => held.reached === 1, 'a cell that waits');
  spoilImages(h, 'missing');
  spoilJournal(h);
  h.restart();
  await h.rest(id);

  expect(results(h.requests.at(-1))[1]).toMatchObject({
    status: 'failed',
    text: 'The sandbox was lost while the cell ran. What it did outside stands: e1 (pay service) done; e2 (slow service) outcome unknown so far.',
  });
  expect(books(h)).toEqual(['pay: rent']);
});

it('B134 a cell that was cut off behind its effect goes on from its line', async () => {
  const lines: string[] = [];
  const held = gate();
  const append = tool('append', { kind: 'blind' }, async () => {
    lines.push('line');
    await held.pass();
    return { status: 'done', result: null };
  });
  const h = given({
    sandbox,
    tools: [append],
    limits: { effectTimeoutMs: 3_600_000 },
    model: notebook,
  });
  const id = await h.start('let before = 1; await tools.append({}); before += 1; before');
  await h.until(() => lines.length === 1, 'a line');
  h.restart();
  expect(await h.rest(id)).toBe('awaiting_decision');
  expect((await h.done(h.api.inspect(id))).ledger).toMatchObject([{ tool: 'append', status: 'unknown' }]);
  await h.done(h.api.decide(id, 'd1', 'done'));
  await h.rest(id);

  expect(lines).toEqual(['line']);
  expect(await responses(h, id)).toEqual(['2']);
  expect((await events(h, id, 'cell.committed')).map(({ moved }) => moved.by)).toEqual(['run', 'delivery']);
});

it('B134 a cell that is aborted behind its effect says what stands outside', async () => {
  const h = given({ sandbox, model: notebook, limits: { cellMs: 20 } });
  const id = await h.start("let n = 1; await tools.pay({ what: 'rent' }); n = 2; for (;;);");
  await h.rest(id);
  await h.tell(id, 'typeof n');

  expect(results(h.requests.at(-1))[0]).toMatchObject({
    status: 'failed',
    text: expect.stringMatching(
      /ran too long\. The heap is as it was before the cell\..*stands: e1 \(pay service\) done\./,
    ),
  });
  expect((await responses(h, id)).at(-1)).toBe('"undefined"');
});

it('B019 heaps that nobody uses are closed, and each is there again for a follow-up', async () => {
  const box = mortal();
  const h = given({ sandbox: box, model: notebook });
  const ids = [];
  for (const n of [1, 2, 3]) {
    const id = await h.start(`const own = { n: ${n} }`);
    await h.rest(id);
    ids.push(id);
  }
  expect(box.open).toBe(3);
  await h.pass(15 * 60_000);
  expect(box.open).toBe(0);
  for (const id of ids) await h.tell(id, 'own.n');
  const last = await Promise.all(ids.map(async (id) => (await responses(h, id)).at(-1)));
  expect(last).toEqual(['1', '2', '3']);
});

it('B019 more sessions than heaps: one that is in use is not taken from its cell', async () => {
  const box = mortal();
  const held = gate();
  const slow = tool('slow', { kind: 'read' }, () => held.pass({ status: 'done', result: 7 }));
  const h = given({
    sandbox: box,
    tools: [slow],
    model: notebook,
    limits: { effectTimeoutMs: 3_600_000 },
  });
  const first = await h.start('let n = await tools.slow({}); n + 1');
  await h.until(() => held.reached === 1, 'a cell that waits');
  for (let n = 0; n < 32; n++) await h.rest(await h.start(`let n = ${n}`));
  held.open();
  await h.rest(first);

  expect(box.open).toBeLessThanOrEqual(32);
  expect(await responses(h, first)).toEqual(['8']);
  expect(await events(h, first, 'cell.aborted')).toEqual([]);
});
