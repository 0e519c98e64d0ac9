import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync, deflateSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededEntropy } from '../../lib/entropy.ts';
import { type Notebook, openNotebook, optionsWith } from '../notebook.ts';
import type { HeapChain, LiveHeap } from '../port.ts';
import { bundledModule, makeBuild } from './build.ts';
import { touchMemory } from './engine.ts';
import { fuelGuard } from './guard.ts';
import { PROTOCOL } from './guest/boot.ts';
import { applyToHeap, baseImage, bootHeap, keepBook, prepareHeap, wakeHeap } from './heap.ts';
import { encodeImage, readImage, unpackWhole } from './image.ts';
import { addPages, copyPages, HASH, PAGE } from './pages.ts';
import { quickjsSandbox } from './sandbox.ts';
import { directoryShelf, memoryShelf } from './shelf.ts';

const sandbox = quickjsSandbox({ mode: 'inline', shelf: memoryShelf() });
let book: Notebook;
beforeEach(async () => {
  book = await openNotebook(sandbox);
});
afterEach(() => book.close());

describe('images', () => {
  it('Q2 begin with a base and go on with deltas, 64 at most', async () => {
    const forms = [
      (await book.run('const noise = Array.from({ length: 120_000 }, () => Math.random()); 1')).image.form,
    ];
    for (let i = 0; i < 66; i++) forms.push((await book.run(`const n${i} = ${i}`)).image.form);
    expect(forms[0]).toBe('base');
    expect(forms.slice(1, 65)).toEqual(Array.from({ length: 64 }, () => 'delta'));
    expect(forms.slice(65)).toEqual(['base', 'delta']);
    await book.reopen();
    expect(await book.value('n0 + n65')).toBe('65');
  });

  it('Q2 take a new base when the deltas have outgrown it', async () => {
    await book.run('1');
    const big = await book.run('const noise = Array.from({ length: 60_000 }, () => Math.random()); 1');
    expect(big.image.form).toBe('delta');
    expect(big.image.data.length).toBeGreaterThan(32 * 1024);
    expect((await book.run('1')).image.form).toBe('base');
  });

  it('N1 of a small session are small, since the beginning is the build’s', async () => {
    const { image } = await book.run(
      'class Client { #t = 1; get() { return this.#t } }; const client = new Client(); const notes = ["a", "b"]',
    );
    expect(image.form).toBe('base');
    expect(image.data.length).toBeLessThan(20_000);
  });

  it('J2 that were changed anywhere do not open', async () => {
    await book.run('const kept = [1, 2, 3]');
    await book.run('kept.push(4)');
    const chain = book.chain();
    const { next } = seededEntropy(3);
    for (let i = 0; i < 60; i++) {
      const parts = chain.parts.map((part) => ({ ...part, data: Uint8Array.from(part.data) }));
      const { data } = parts[i % 2] as { data: Uint8Array };
      const at = Math.floor(next() * data.length);
      data[at] = (data[at] as number) ^ (1 << Math.floor(next() * 8));
      // A bit that means nothing (padding of the compressed stream) may pass; then the heap is the same to the byte.
      const opened = await sandbox
        .restore({ ...chain, parts }, optionsWith())
        .catch((error: unknown) => error);
      if (opened instanceof Error)
        expect(opened).toMatchObject({ code: expect.stringMatching(/^blob\.(forged|missing)$/) });
      else expect(await (opened as LiveHeap).base()).toMatchObject({ digest: chain.digest });
    }
    const [base, delta] = chain.parts as [(typeof chain.parts)[0], (typeof chain.parts)[0]];
    for (const parts of [
      [],
      [delta],
      [delta, base],
      [base],
      [base, delta, delta],
      [{ ...base, data: base.data.subarray(0, 50) }],
    ])
      await expect(sandbox.restore({ ...chain, parts }, optionsWith())).rejects.toMatchObject({
        code: 'blob.forged',
      });
  });

  /** A few megabytes of objects, and a delta after them. */
  async function large(): Promise<HeapChain> {
    await book.run(
      'const rows = Array.from({ length: 40_000 }, (_, i) => ({ i, name: "row " + i, at: Math.random() })); 1',
    );
    await book.run('rows[7].name = "seven"; 1');
    return book.chain();
  }

  it('J3 of a large heap are in pieces, and come back bit for bit', async () => {
    const chain = await large();
    const [base] = chain.parts.map(({ data }) => readImage(data));
    expect(base?.pieces.length).toBeGreaterThan(4);
    await book.reopen();
    expect((await book.heap().base()).digest).toBe(chain.digest);
    // The copy that deltas are taken against is that of the heap that was opened (Q4).
    await book.reopen();
    const { image } = await book.run('rows[8].name = "eight"; 1');
    expect(image.form).toBe('delta');
    expect(image.data.length).toBeLessThan(8_000);
    await book.reopen();
    expect(await book.value('[rows.length, rows[7].name, rows[8].name]')).toBe('[ 40000, "seven", "eight" ]');
  });

  it('J3 that an older version wrote as one stream still open', async () => {
    const chain = await large();
    const heap = await sandbox.restore({ ...chain, parts: await asOlder(chain) }, optionsWith());
    expect((await heap.base()).digest).toBe(chain.digest);
    await heap.close();
  });

  it('J3 that an older version wrote in pieces still open, and are hashed as they do where they have no hashes', async () => {
    const chain = await large();
    const [base, ...deltas] = chain.parts as [HeapChain['parts'][0], ...HeapChain['parts']];
    const opening = (data: Uint8Array) =>
      sandbox.restore({ ...chain, parts: [{ ...base, data }, ...deltas] }, optionsWith());
    for (const isHashed of [false, true]) {
      const older = await asPieces(base.data, isHashed);
      expect(readImage(older)).toMatchObject({
        isHashed,
        isPlaned: false,
        pieces: { length: readImage(base.data).pieces.length },
      });
      const heap = await opening(older);
      expect((await heap.base()).digest).toBe(chain.digest);
    }
    const spoiled = await asPieces(await repacked(base.data, { isHashed: true, spoil: true }), false);
    await expect(opening(spoiled)).rejects.toMatchObject(FORGED);
  });

  it('J3 of a large delta are in pieces, too', async () => {
    await book.run('let rows = []; 1');
    const { image } = await book.run(
      'rows = Array.from({ length: 40_000 }, (_, i) => ({ i, at: i / 7 })); 1',
    );
    expect(image.form).toBe('delta');
    expect(readImage(image.data)).toMatchObject({ isHashed: false, isPlaned: true });
    await book.reopen();
    expect(await book.value('[rows.length, rows[7].at]')).toBe('[ 40000, 1 ]');
  });

  it('J4 of a large heap have the hash of each page in memory', async () => {
    const chain = await large();
    const [base, delta] = chain.parts.map(({ data }) => readImage(data));
    expect([base?.isHashed, delta?.isHashed]).toEqual([true, false]);
    const { build } = makeBuild(bundledModule());
    const heap = await wakeHeap(build, chain);
    const read = Buffer.from(heap.book.hashes);
    expect(heap.pending?.unproven.length).toBeGreaterThan(1000);
    keepBook(heap);
    expect(heap.pending).toBeNull();
    // Hashed from memory, page by page, they are the same.
    const found = await wakeHeap(build, { ...chain, parts: await asOlder(chain) });
    expect(found.pending?.unproven).toEqual([]);
    expect(found.book.hashes.equals(read)).toBe(true);
  });

  it('Q3 whose pages are not what their hashes say move nothing', async () => {
    const chain = await large();
    const [base, ...deltas] = chain.parts as [HeapChain['parts'][0], ...HeapChain['parts']];
    const parts = [{ ...base, data: await repacked(base.data, { isHashed: true, spoil: true }) }, ...deltas];
    const spoiled = { ...chain, parts };
    await expect(sandbox.restore(spoiled, optionsWith())).rejects.toMatchObject(FORGED);
    const threads = quickjsSandbox({ mode: 'thread', shelf: memoryShelf() });
    try {
      const copies = { ...chain, parts: parts.map((part) => ({ ...part, data: part.data.slice() })) };
      const heap = await threads.restore(copies, optionsWith());
      const input = { kind: 'run', cell: 'x', code: '1', at: 1 } as const;
      for (let i = 0; i < 2; i++)
        await expect(heap.apply(input, new AbortController().signal)).rejects.toMatchObject(FORGED);
      await expect(heap.base()).rejects.toMatchObject(FORGED);
    } finally {
      await threads.close();
    }
  });

  it('J4 whose hashes were changed do not open', async () => {
    const chain = await large();
    const [base, ...deltas] = chain.parts as [HeapChain['parts'][0], ...HeapChain['parts']];
    const data = await repacked(base.data, { isHashed: true, spoilHash: true });
    const { build } = makeBuild(bundledModule());
    const opening = wakeHeap(build, { ...chain, parts: [{ ...base, data }, ...deltas] });
    await expect(opening).rejects.toMatchObject(FORGED);
  });

  it('J2 in pieces that were changed anywhere do not open', async () => {
    const chain = await large();
    const [base, ...deltas] = chain.parts as [HeapChain['parts'][0], ...HeapChain['parts']];
    const opening = (data: Uint8Array) =>
      sandbox.restore({ ...chain, parts: [{ ...base, data }, ...deltas] }, optionsWith());
    const { next } = seededEntropy(5);
    for (let i = 0; i < 12; i++) {
      const data = Uint8Array.from(base.data);
      const at = Math.floor((i / 12) ** 3 * data.length + next() * 200);
      data[at] = (data[at] as number) ^ (1 << Math.floor(next() * 8));
      const opened = await opening(data).catch((error: unknown) => error);
      if (opened instanceof Error)
        expect(opened).toMatchObject({ code: expect.stringMatching(/^blob\.(forged|missing)$/) });
      else expect(await (opened as LiveHeap).base()).toMatchObject({ digest: chain.digest });
    }
    for (const length of [base.data.length - 1, base.data.length >> 1, 100])
      await expect(opening(base.data.slice(0, length))).rejects.toMatchObject({ code: 'blob.forged' });
    await expect(opening(Buffer.concat([base.data, Buffer.alloc(1)]))).rejects.toMatchObject({
      code: 'blob.forged',
    });
  });

  it('Q4 of a large heap are its memory after waking, chunk by chunk', async () => {
    const { build } = makeBuild(bundledModule());
    const heap = await wakeHeap(build, await large());
    keepBook(heap);
    const memory = Buffer.from(heap.engine.memory());
    for (let at = 0; at < memory.length; at += 65536) {
      const kept = heap.book.chunks[at / 65536] ?? Buffer.alloc(65536);
      expect(memory.subarray(at, at + 65536).equals(kept)).toBe(true);
    }
  });

  it('Q5 open in an engine that was made ready, of their own build only', async () => {
    const { build } = makeBuild(bundledModule());
    const chain = await large();
    const ready = await wakeHeap(build, chain, prepareHeap(build));
    expect(baseImage(ready).digest).toBe(chain.digest);
    const other = makeBuild(Buffer.concat([bundledModule(), OLD])).build;
    await expect(wakeHeap(build, chain, prepareHeap(other))).rejects.toThrow('that it was made with');
  });

  it('Q5 open where memory was made ready for them, for a smaller heap and for a larger one', async () => {
    const { build } = makeBuild(bundledModule());
    const chain = await large();
    const [base] = chain.parts as [HeapChain['parts'][0]];
    const { memoryBytes } = readImage(base.data);
    for (const foreseen of [1, memoryBytes - 65536, memoryBytes, 2 * memoryBytes]) {
      const ready = prepareHeap(build);
      const before = ready.instance.c.memory.buffer.byteLength;
      touchMemory(ready.instance, foreseen);
      expect(ready.instance.c.memory.buffer.byteLength).toBe(Math.max(before, foreseen));
      const woken = await wakeHeap(build, chain, ready);
      keepBook(woken);
      expect(baseImage(woken)).toMatchObject({ digest: chain.digest, memoryBytes });
    }
  });

  it('J2 that say that memory is shorter than it begins do not open', async () => {
    await book.run('1');
    const [base] = book.chain().parts as [HeapChain['parts'][0]];
    const { memoryBytes } = readImage(base.data);
    const text = Buffer.from(base.data).toString('latin1');
    const short = text.replace(
      `"memoryBytes":${memoryBytes}`,
      `"memoryBytes":${'65536'.padEnd(`${memoryBytes}`.length)}`,
    );
    const parts = [{ form: 'base' as const, data: Buffer.from(short, 'latin1') }];
    await expect(sandbox.restore({ ...book.chain(), parts }, optionsWith())).rejects.toMatchObject({
      code: 'blob.forged',
    });
  });

  it('F1 of equal heaps have equal digests, also when pages went back to zero', async () => {
    await book.run('var gone = "\\u0001".repeat(3e6); 1');
    await book.run('gone = null; 1');
    const { digest } = book.chain();
    await book.reopen();
    expect((await book.heap().base()).digest).toBe(digest);
  });
});

/** A custom section: with it the bundled engine is another build that works the same. */
const OLD = Buffer.from([0, 5, 4, ...Buffer.from('old!')]);

const FORGED = { code: 'blob.forged' };

/** A large base packed again, with a bit of its pages or of their hashes turned over. */
async function repacked(
  data: Uint8Array,
  how: { readonly isHashed: boolean; readonly spoil?: boolean; readonly spoilHash?: boolean },
): Promise<Uint8Array> {
  const { form, engine, memoryBytes, layout, pages, content, hashes } = await unpacked(data);
  const flip = (bytes: Buffer) => bytes.writeUInt8(bytes.readUInt8(bytes.length - 9) ^ 4, bytes.length - 9);
  if (how.spoil) flip(content);
  if (how.spoilHash) flip(hashes);
  const from = (bytes: Buffer, size: number) => (some: readonly number[], into: Uint8Array) => {
    for (const [i, page] of some.entries())
      into.set(bytes.subarray(pages.indexOf(page) * size).subarray(0, size), i * size);
  };
  return encodeImage({ form, engine, memoryBytes, layout }, pages, {
    content: from(content, PAGE),
    hashes: how.isHashed ? from(hashes, HASH) : null,
  });
}

const asOlder = ({ parts }: HeapChain) =>
  Promise.all(parts.map(async ({ form, data }) => ({ form, data: await asOneStream(data) })));

/** An image with its content as it is, page after page. */
async function unpacked(data: Uint8Array) {
  const { form, engine, memoryBytes, layout, ...image } = readImage(data);
  const pieces = await unpackWhole({ form, engine, memoryBytes, layout, ...image });
  const pages = pieces.flatMap((piece) => piece.pages);
  const memory = new Uint8Array(memoryBytes);
  for (const piece of pieces) addPages(memory, new Set(), piece);
  const content = Buffer.alloc(pages.length * PAGE);
  copyPages(memory, pages, content);
  const hashes = Buffer.concat(pieces.flatMap((piece) => piece.hashes ?? []));
  return { form, engine, memoryBytes, layout, pages, content, hashes };
}

/** The image as format 1 has it, whatever its size. */
async function asOneStream(data: Uint8Array): Promise<Uint8Array> {
  const { pages, content, hashes, ...head } = await unpacked(data);
  const body = Buffer.concat([Buffer.from(Uint32Array.from(pages).buffer), content]);
  return withHead({ ...head, format: 1, pages: pages.length }, [deflateRawSync(body, { level: 1 })]);
}

/** The image in the pieces of format 3, or of format 2, which has no hashes. */
async function asPieces(data: Uint8Array, isHashed: boolean): Promise<Uint8Array> {
  const { pages, content, hashes, ...head } = await unpacked(data);
  const pieces: Buffer[] = [];
  for (let from = 0; from < pages.length; from += 256) {
    const to = Math.min(from + 256, pages.length);
    const numbers = Buffer.from(Uint32Array.from(pages.slice(from, to)).buffer);
    const own = isHashed ? [hashes.subarray(from * HASH, to * HASH)] : [];
    const raw = Buffer.concat([numbers, ...own, content.subarray(from * PAGE, to * PAGE)]);
    pieces.push(isHashed ? deflateSync(raw, { level: 1 }) : deflateRawSync(raw, { level: 1 }));
  }
  const lengths = pieces.map((piece) => piece.length);
  return withHead({ ...head, format: isHashed ? 3 : 2, pages: pages.length, pieces: lengths }, pieces);
}

function withHead(head: object, body: readonly Buffer[]): Uint8Array {
  const json = Buffer.from(JSON.stringify({ protocol: PROTOCOL, ...head }));
  const start = Buffer.alloc(8);
  start.writeUInt32LE(0x4c54554f, 0);
  start.writeUInt32LE(json.length, 4);
  return Buffer.concat([start, json, ...body]);
}

describe('trap 5b: memory that grows step by step', () => {
  it('is asked for in large pieces before it is needed', () => {
    const { build } = makeBuild(bundledModule());
    const heap = bootHeap(build, optionsWith());
    const guard = fuelGuard(60_000, () => null);
    const sizes = new Set<number>();
    const watching = {
      ...guard,
      check(fuel: number) {
        sizes.add(heap.engine.memory().length);
        return guard.check(fuel);
      },
    };
    applyToHeap(
      heap,
      { kind: 'run', cell: 'c1', code: 'var all = []; for (let i = 0; i < 3e5; i++) all.push({ i })', at: 1 },
      watching,
    );
    expect(heap.engine.memory().length).toBeGreaterThan(24 << 20);
    expect(sizes.size).toBeLessThan(20); // 64 KiB at a time it would be 400.
  });
});

describe('the shelf', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'outlast-shelf-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const otherModule = () => Buffer.concat([bundledModule(), OLD]);

  it('S1 opens a heap of an older build, which goes on in that build', async () => {
    const shelf = directoryShelf(folder);
    const old = quickjsSandbox({ mode: 'inline', shelf, wasm: otherModule() });
    const older = await openNotebook(old);
    await older.run('let n = 41; const inc = () => ++n');
    const now = quickjsSandbox({ mode: 'inline', shelf });
    expect(now.engine).not.toBe(old.engine);
    await older.reopen(now);
    expect(await older.value('inc()')).toBe('42');
    expect(older.chain().engine).toBe(old.engine);
    await older.reopen(now);
    expect((await older.heap().base()).engine).toBe(old.engine);
    await older.close();
  });

  it('S2, K2 holds the build of each heap, whole, under its hash', async () => {
    const first = quickjsSandbox({ mode: 'inline', shelf: directoryShelf(folder) });
    await (await first.create(optionsWith())).close();
    expect(await readdir(folder)).toEqual([`${first.engine}.wasm`]);
  });

  it('K1 takes a damaged build for a missing one, and mends it when it has the build', async () => {
    const shelf = directoryShelf(folder);
    const { build, packed } = makeBuild(otherModule());
    await shelf.keep(packed);
    const path = join(folder, `${build.hash}.wasm`);
    const bytes = await readFile(path);
    bytes[1000] = (bytes[1000] as number) ^ 1;
    await writeFile(path, bytes);
    expect(await shelf.get(build.hash)).toBeNull();
    expect(await shelf.get('../../etc/passwd')).toBeNull();
    await shelf.keep(packed);
    expect(Buffer.from((await shelf.get(build.hash)) ?? []).equals(packed)).toBe(true);
  });

  it('S5 knows the build that was put there last', async () => {
    for (const shelf of [memoryShelf(), directoryShelf(folder)]) {
      expect(await shelf.newest()).toBeNull();
      const [older, newer] = [makeBuild(otherModule()), makeBuild(bundledModule())];
      await shelf.keep(older.packed);
      await utimes(join(folder, `${older.build.hash}.wasm`), 1, 1).catch(() => {});
      await shelf.keep(newer.packed);
      expect(await shelf.newest()).toBe(newer.build.hash);
    }
  });

  it('S5 opens heaps of several builds in turn, each in a thread that may be ready for another', async () => {
    const shelf = directoryShelf(folder);
    const books = await Promise.all(
      [otherModule(), bundledModule()].map((wasm) =>
        openNotebook(quickjsSandbox({ mode: 'inline', shelf, wasm })),
      ),
    );
    for (const each of books) await each.run('let n = 41');
    const threads = quickjsSandbox({ mode: 'thread', shelf });
    for (const each of [...books, ...books]) {
      await each.reopen(threads);
      expect(await each.value('n')).toBe('41');
    }
    const fresh = await openNotebook(threads);
    expect(await fresh.value('typeof n')).toBe('"undefined"');
    await threads.close();
  });

  it('N1 gets the same bytes from every process that packs this build', () => {
    expect(makeBuild(bundledModule()).build.hash).toBe(makeBuild(bundledModule()).build.hash);
    expect(makeBuild(bundledModule()).build.hash).toBe(sandbox.engine);
  });
});
