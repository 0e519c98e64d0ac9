// wake20MbMs: a parked session whose heap holds 20 MB of live objects gets a message in a process that has just been
// started. From the call of `send` to the moment at which the log says that its heap is back: lease, image from the
// disk, decryption, inflation, the hashes of all pages against the committed digest. In a thread, as in production. Modules
// are loaded, the store is open and the log has been folded before that: they belong to the start of a process.
//
//   node bench/steps/wake.mjs [--quick]     prints one line of JSON
//
// `parts` says where the time goes, measured piece by piece in a process of its own; `coldMs` is a wake whose message
// comes before the process has come to rest after its start (no warm thread).

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastWord } from '../kit/said.mjs';

const dist = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);
const [mode = 'all', folder = '', session = ''] = process.argv
  .slice(2)
  .filter((arg) => !arg.startsWith('--'));
const CHILDREN = process.argv.includes('--quick') ? 3 : 7;
const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

/** Rows with a class of their own, a Map over all of them, strings, a closure. The first cell leaves a small base. */
const CELLS = {
  begin: 'let calls = 0; const next = () => ++calls; next()',
  load: `class Row {
      constructor(id) { this.id = id; this.name = 'customer ' + id; this.amount = id * 1.25 + 0.01; this.tags = ['t' + (id % 17)]; }
      get total() { return this.amount * 1.2; }
    }
    const rows = Array.from({ length: 46_000 }, (_, id) => new Row(id));
    const byName = new Map(rows.map((row) => [row.name, row]));
    const notes = new Set(Array.from({ length: 2_000 }, (_, i) => 'note ' + i + ' ' + ('x' + i).repeat(20)));
    rows.length`,
  more: '[byName.get("customer 7").total, rows.length, notes.size, next()]',
};

/** One cell for each message, named by it. */
const model = {
  name: 'scripted/wake',
  scripted: true,
  async generate({ messages }) {
    const { text, isDone } = lastWord(messages);
    if (isDone) return { parts: [{ type: 'text', text: 'Done.' }], finish: 'stop', usage };
    const input = { source: CELLS[text] };
    return { parts: [{ type: 'tool-call', tool: 'code', input }], finish: 'tool-calls', usage };
  },
};

const open = async (dataDir) =>
  (await dist('compose.js')).createOutlast({ dataDir, model, report: console.error });

switch (mode) {
  case 'all':
    await all();
    break;
  case 'build':
    await build();
    break;
  case 'wake':
  case 'cold':
    await wake(mode === 'cold');
    break;
  case 'parts':
    await parts();
    break;
  default:
    throw new Error(`no such mode: ${mode}`);
}

async function all() {
  const dataDir = await mkdtemp(join(tmpdir(), 'outlast-wake-'));
  try {
    const built = await child('build', dataDir);
    const wakes = [];
    for (let i = 0; i < CHILDREN; i++) wakes.push(await child('wake', dataDir, built.session));
    const colds = [];
    for (let i = 0; i < 3; i++) colds.push(await child('cold', dataDir, built.session));
    const measured = [];
    for (let i = 0; i < 3; i++) measured.push(await child('parts', dataDir, built.session));
    const { heapBytes, memoryBytes, storedBytes } = measured[0];
    const times = Object.keys(measured[0]).filter((name) => name.endsWith('Ms'));
    console.log(
      JSON.stringify({
        wake20MbMs: median(wakes.map(({ wakeMs }) => wakeMs)),
        minMs: Math.min(...wakes.map(({ wakeMs }) => wakeMs)),
        firstCellMs: median(wakes.map(({ cellMs }) => cellMs)),
        coldMs: median(colds.map(({ wakeMs }) => wakeMs)),
        heapBytes,
        memoryBytes,
        storedBytes,
        parts: Object.fromEntries(times.map((name) => [name, median(measured.map((found) => found[name]))])),
      }),
    );
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Loads the heap, waits until it has its new base, and ends. */
async function build() {
  const outlast = await open(folder);
  const started = await outlast.start({ message: 'begin', persist: true });
  await outlast.rest(started.session);
  await outlast.send(started.session, 'load');
  for await (const event of outlast.follow(started.session)) if (event.kind === 'heap.based') break;
  await outlast.close();
  answer({ session: started.session });
}

async function wake(isCold) {
  const outlast = await open(folder);
  const { head } = await outlast.inspect(session);
  if (!isCold) await new Promise((resolve) => setTimeout(resolve, 500));
  const begun = performance.now();
  await outlast.send(session, 'more');
  let wakeMs = 0;
  let cellMs = 0;
  for await (const event of outlast.follow(session, { after: head })) {
    if (event.kind === 'heap.restored') {
      if (event.rung !== 'exact') throw new Error(`woken ${event.rung}: ${event.note}`);
      wakeMs = performance.now() - begun;
    }
    if (event.kind === 'cell.committed') {
      cellMs = performance.now() - begun;
      break;
    }
  }
  await outlast.rest(session);
  await outlast.close();
  answer({ wakeMs: rounded(wakeMs), cellMs: rounded(cellMs) });
}

/** The pieces of a wake one after the other, through the same modules. */
async function parts() {
  const [{ sqliteStore }, { sealKey }, { openSeal }, { decode }, { fold }] = await Promise.all(
    ['store/sqlite/open.js', 'store/keys.js', 'lib/seal.js', 'core/upcast.js', 'core/evolve.js'].map(dist),
  );
  const { quickjsSandbox, directoryShelf } = await dist('sandbox/quickjs/sandbox.js');
  const { readImage } = await dist('sandbox/quickjs/image.js');
  const sandbox = quickjsSandbox({ mode: 'thread', shelf: directoryShelf(join(folder, 'engines')) });
  const sealer = openSeal(await sealKey(folder, process.env));
  await new Promise((resolve) => setTimeout(resolve, 500));
  let last = performance.now();
  const lap = () => {
    const before = last;
    last = performance.now();
    return rounded(last - before);
  };
  const store = await sqliteStore({ dir: folder });
  const openStoreMs = lap();
  const { heap, contract } = fold((await store.read(session, 0, 10_000)).map(decode));
  const foldMs = lap();
  const images = [heap.chain.base, ...heap.chain.deltas];
  const boxes = [];
  for (const { blob } of images) boxes.push(await store.blob(session, blob));
  const readBlobsMs = lap();
  const chainParts = images.map(({ form }, i) => ({ form, data: sealer.open(boxes[i], `heap:${session}`) }));
  const unsealMs = lap();
  const { pieces, memoryBytes } = readImage(chainParts[0].data);
  const heapBytes = pieces.reduce((sum, { count }) => sum + count, 0) * 4096;
  const { engine, digest } = images.at(-1);
  lap();
  const { seed, limits } = contract;
  const live = await sandbox.restore({ engine, digest, parts: chainParts }, { seed, limits });
  const restoreMs = lap();
  await live.close();
  await sandbox.close();
  await store.close();
  const storedBytes = images.reduce((sum, { bytes }) => sum + bytes, 0);
  answer({ openStoreMs, foldMs, readBlobsMs, unsealMs, restoreMs, heapBytes, memoryBytes, storedBytes });
}

function child(...args) {
  const own = spawn(process.execPath, [fileURLToPath(import.meta.url), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  own.stdout.on('data', (chunk) => {
    said += chunk;
  });
  return new Promise((resolve, reject) => {
    own.on('error', reject);
    own.on('exit', (code) =>
      code === 0 ? resolve(JSON.parse(said)) : reject(new Error(`${args[0]} ended with ${code}`)),
    );
  });
}

function answer(found) {
  process.stdout.write(JSON.stringify(found));
}

function rounded(ms) {
  return Math.round(ms * 10) / 10;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
