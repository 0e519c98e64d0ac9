// Owns: the processes of rungs.mjs: what each does is its first argument, what it found is one line of JSON.

import { setTimeout as sleep } from 'node:timers/promises';
import { createOutlast } from '../../dist/index.js';
import { lastWord } from '../kit/said.mjs';

const [mode, dataDir, ...args] = process.argv.slice(2);
const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
/** A worker has come to rest by then, and has a warm thread. */
const SETTLED_MS = 700;

const CELLS = {
  load: `class Client { constructor(name) { this.name = name; this.calls = 0; } }
    const rows = Array.from({ length: 2_000 }, (_, id) => ({ id, amount: id * 1.25, note: 'row ' + id }));
    const byId = new Map(rows.map((row) => [row.id, row]));
    const billing = new Client('billing'); const used = () => ++billing.calls; used()`,
  more: 'used() + byId.get(7).amount',
};

/** When the model is asked for the first time after a message. */
let asked = () => {};
const model = {
  name: 'scripted/rungs',
  scripted: true,
  async generate({ messages }) {
    asked();
    const { text, isDone } = lastWord(messages);
    if (isDone) return { parts: [{ type: 'text', text: 'Done.' }], finish: 'stop', usage };
    const source = CELLS[text] ?? CELLS.more;
    return { parts: [{ type: 'tool-call', tool: 'code', input: { source } }], finish: 'tool-calls', usage };
  },
};

const open = () => createOutlast({ dataDir, model, env: {} });

const MODES = { build, settle, wake };
process.stdout.write(JSON.stringify(await MODES[mode](...args)));

/** Sessions with a few turns behind them, `ageMs` ago. */
async function build(count, ageMs) {
  const now = Date.now;
  Date.now = () => now() - Number(ageMs);
  const outlast = await open();
  const ids = [];
  for (let n = 0; n < Number(count); n++) {
    const { session } = await outlast.start({ message: 'load', persist: true, title: 'invoices' });
    await outlast.rest(session);
    for (const message of ['February', 'March']) {
      await outlast.send(session, message);
      await outlast.rest(session);
    }
    ids.push(session);
  }
  await outlast.close();
  return ids;
}

/** A worker of today, until so many stand on that rung. */
async function settle(_, rung, count) {
  const outlast = await open();
  for (;;) {
    const rows = await outlast.list({ limit: 500 });
    if (rows.filter(({ residency }) => residency === rung).length >= Number(count)) break;
    await sleep(100);
  }
  await outlast.close();
  return {};
}

async function wake(listed) {
  const { archived, parked } = JSON.parse(listed);
  const outlast = await open();
  const times = { resident: [], parked: [], archived: [] };
  const rungs = {};
  const take = async (session, rung) => {
    await sleep(SETTLED_MS);
    const until = new Promise((resolve) => {
      asked = resolve;
    });
    const begun = performance.now();
    const { seq, woke } = await outlast.send(session, 'April');
    await until;
    const ms = performance.now() - begun;
    await outlast.rest(session);
    if (woke !== rung) throw new Error(`${session} woke from ${woke}, not from ${rung}`);
    times[rung].push(ms);
    for await (const event of outlast.follow(session, { after: seq })) {
      if (event.kind === 'heap.restored')
        rungs[`${rung}, ${event.rung}`] = (rungs[`${rung}, ${event.rung}`] ?? 0) + 1;
      if (event.kind === 'response.surfaced') break;
    }
  };
  for (const [i, session] of archived.entries()) {
    await take(session, 'archived');
    await take(session, 'resident');
    await take(parked[i], 'parked');
  }
  await outlast.close();
  return { asked: times, rungs };
}
