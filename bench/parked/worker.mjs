// Owns: the processes of sessions.mjs: what each does is its first argument, what it found is one line of JSON.

import { setTimeout as sleep } from 'node:timers/promises';
import { createOutlast, sqliteStore } from '../../dist/index.js';
import { lastWord } from '../kit/said.mjs';

const dist = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);
const [mode, dataDir, ...args] = process.argv.slice(2);
const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
const OWNER = 'local';
/** As many commits as share a transaction: one flush to the disk for all of them. */
const BATCH = 250;
/** How often somebody who waits is told how far it is. */
const TELL_MS = 2_000;
/** A worker has come to rest by then, and has a warm thread. */
const SETTLED_MS = 500;

/** A table, a Map over it, a class instance and a closure: small, and of every kind. */
const LOAD = `class Client { constructor(name) { this.name = name; this.calls = 0; } }
  const rows = Array.from({ length: 200 }, (_, id) => ({ id, amount: id * 1.25 }));
  const byId = new Map(rows.map((row) => [row.id, row]));
  const billing = new Client('billing'); const used = () => ++billing.calls; used()`;

/** The last word of people says what is done: a cell, or a sleep until an instant. */
const model = {
  name: 'scripted/parked',
  scripted: true,
  async generate({ messages }) {
    const { text, isDone } = lastWord(messages);
    if (isDone) return { parts: [{ type: 'text', text: 'Done.' }], finish: 'stop', usage };
    const [what, until] = text.split(' ');
    const call =
      what === 'sleep'
        ? { tool: 'sleep', input: { until } }
        : { tool: 'code', input: { source: what === 'load' ? LOAD : 'used() + byId.get(7).amount' } };
    return { parts: [{ type: 'tool-call', ...call }], finish: 'tool-calls', usage };
  },
};

const open = () => createOutlast({ dataDir, model, owner: OWNER, env: {} });

const MODES = { build, fill, idle, wake, sleepers, due };
process.stdout.write(`${JSON.stringify(await MODES[mode](...args))}\n`);

/** The session that the others are forks of. */
async function build() {
  const outlast = await open();
  const { session } = await outlast.start({ message: 'load', persist: true, title: 'invoices' });
  await outlast.rest(session);
  for (const message of ['February', 'March']) {
    await outlast.send(session, message);
    await outlast.rest(session);
  }
  await outlast.close();
  return { template: session };
}

/** Forks of it, up to `to`, from where an earlier run has come: what `fork` commits. Ctrl-C ends it between two batches. */
async function fill(template, to) {
  const [{ decode, encode }, evolve, decide, { summarize }] = await Promise.all(
    ['core/upcast.js', 'core/evolve.js', 'core/decide.js', 'projections/summary.js'].map(dist),
  );
  const store = await sqliteStore({ dir: dataDir });
  const rows = await store.read(template, 0, 100_000);
  const before = evolve.fold(rows.map(decode));
  const forking = decide.fork(before, { from: template, lineage: template }, { title: undefined, by: OWNER });
  const now = Date.now();
  const { state, events } = evolve.append(before, forking, now);
  const chain = [state.heap.chain.base, ...state.heap.chain.deltas];
  const blobs = [];
  for (const { blob } of chain) blobs.push({ ref: blob, bytes: await store.blob(template, blob) });
  const all = [...rows, ...events.map(encode)];
  const begun = performance.now();
  const from = await filled(store, Number(to));
  let isOver = false;
  process.on('SIGINT', () => {
    isOver = true;
  });
  let at = from;
  for (let told = begun; at < Number(to) && !isOver; ) {
    const ids = Array.from({ length: Math.min(BATCH, Number(to) - at) }, (_, i) => idOf(at + i));
    const summary = { ...summarize(state, now), startedAt: now + at };
    const made = await Promise.all(
      ids.map((session) => store.commit({ session, head: 0, epoch: null, events: all, blobs, summary })),
    );
    if (made.some(({ status }) => status !== 'committed')) throw new Error('a fork was not committed');
    at += ids.length;
    if (performance.now() - told < TELL_MS && at < Number(to)) continue;
    told = performance.now();
    const perSecond = (at - from) / ((told - begun) / 1_000);
    const left = Math.ceil((Number(to) - at) / perSecond);
    process.stderr.write(`  ${at} of ${to} sessions, ${Math.round(perSecond)} a second, ${left} s left\n`);
  }
  const ms = Math.round(performance.now() - begun);
  await store.close();
  return { ms, made: at - from, filled: at };
}

/** How many there are: they were made in order, a batch whole or not at all. */
async function filled(store, most) {
  let [there, missing] = [0, most];
  while (there < missing) {
    const middle = (there + missing) >> 1;
    if (await store.row(idOf(middle))) there = middle + 1;
    else missing = middle;
  }
  return there;
}

/** A worker on that store, once it has come to rest. */
async function idle() {
  const begun = performance.now();
  const outlast = await open();
  const startMs = Math.round(performance.now() - begun);
  await sleep(2_500);
  globalThis.gc();
  await sleep(200);
  const mb = Math.round(process.memoryUsage().rss / 1024 / 1024);
  const [row] = await outlast.list({ limit: 1 });
  await outlast.close();
  return { startMs, mb, residency: row.residency };
}

/**
 * From the call of `send` until the heap is back, one session after the other, none of them twice; one that an earlier run
 * has woken does not count. With a pause each finds a worker that rests; without, the one before it is hardly over.
 */
async function wake(count, rounds, pauseMs, offset) {
  const outlast = await open();
  await sleep(SETTLED_MS);
  const wakes = [];
  const rungs = {};
  const step = Math.max(1, Math.floor(Number(count) / Number(rounds) / 2));
  for (let n = Number(offset); n < Number(count) && wakes.length < Number(rounds); n += step) {
    // A stride that shares nothing with the order in which they were made.
    const session = idOf((n * 7_919) % Number(count));
    const begun = performance.now();
    const { seq, woke } = await outlast.send(session, 'April');
    if (woke === 'parked') {
      for await (const event of outlast.follow(session, { after: seq })) {
        if (event.kind !== 'heap.restored') continue;
        wakes.push(performance.now() - begun);
        const from = `${woke}, ${event.rung}`;
        rungs[from] = (rungs[from] ?? 0) + 1;
        break;
      }
    }
    await outlast.rest(session);
    await sleep(Number(pauseMs));
  }
  await outlast.close();
  return { wakes, rungs };
}

/** Sessions asleep until one instant. */
async function sleepers(timers, inMs) {
  const outlast = await open();
  const dueAt = Date.now() + Number(inMs);
  const message = `sleep ${new Date(dueAt).toISOString()}`;
  const ids = [];
  for (let n = 0; n < Number(timers) && Date.now() < dueAt - 2_000; n += 20) {
    const started = await Promise.all(Array.from({ length: 20 }, () => outlast.start({ message })));
    ids.push(...started.map(({ session }) => session));
  }
  while ((await phases(outlast, 'sleeping')) < ids.length && Date.now() < dueAt - 500) await sleep(50);
  const asleep = await phases(outlast, 'sleeping');
  await outlast.close();
  return { timers: asleep, dueAt };
}

/** A worker that finds them all due, while somebody else speaks to another session again and again. */
async function due(timers, dueAt) {
  await sleep(Math.max(0, Number(dueAt) - Date.now()) + 200);
  const begun = performance.now();
  const outlast = await open();
  const sends = [];
  let atOnce = 0;
  for (;;) {
    const asked = performance.now();
    await outlast.send(idOf(sends.length % 50), 'May');
    sends.push(performance.now() - asked);
    const { working } = await outlast.slots();
    atOnce = Math.max(atOnce, working);
    // They are one-shots, and nothing else in this store is.
    if ((await phases(outlast, 'completed')) >= Number(timers)) break;
    await sleep(50);
  }
  const ms = Math.round(performance.now() - begun);
  await outlast.close();
  return { ms, atOnce, sendMs: Math.round(Math.max(...sends)), sends: sends.length };
}

async function phases(outlast, phase) {
  let count = 0;
  for (let after; ; ) {
    const rows = await outlast.list({ phase, limit: 500, ...(after ? { after } : {}) });
    count += rows.length;
    if (rows.length < 500) return count;
    after = rows.at(-1).id;
  }
}

function idOf(n) {
  return `ses_${String(n).padStart(20, '0')}`;
}
