// Owns: one life of a worker that takes a session through a history, as a process that can be killed at any moment. What it
// notices of each request goes to a file, a line each.

import { appendFileSync } from 'node:fs';
import { createOutlast } from '../../dist/index.js';
import { history } from './generate.mjs';
import { observer } from './observe.mjs';
import { lookIn, script, wider, worded } from './script.mjs';

const { dir, made, limits, notes } = JSON.parse(process.argv[2]);
const { turns: narrow, asked } = history(made);
const turns = narrow.map(wider);
const rules = asked.filter(({ kind }) => kind === 'rule').map(({ evidence }) => evidence[0].turn);

const model = script(turns, {
  seen: observer(turns, rules, (note) => appendFileSync(notes, `${JSON.stringify(note)}\n`)),
  async holds() {
    process.stdout.write('compacting\n');
    // Somebody may kill it here; nobody does as a rule.
    await new Promise((resolve) => setTimeout(resolve, 2));
  },
});
const outlast = await createOutlast({ dataDir: dir, model, tools: [lookIn(turns)], env: {} });
const { session } = await outlast.start({
  ...{ message: worded(turns, 0), persist: true, key: 'history', limits },
});
const { lastTurn } = await outlast.inspect(session);
for (let n = lastTurn?.number ?? 1; n < turns.length; n++) {
  await outlast.rest(session);
  await outlast.send(session, worded(turns, n), { key: `turn ${n}` });
}
await outlast.rest(session);
process.stdout.write(`done ${session}\n`);
await outlast.close();
