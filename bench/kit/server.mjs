// Owns: the server process of the figures: what `outlast serve` puts together, with the scripted model of script.mjs.
//
// Its stdout says, a line of JSON each, what a figure waits for, with instants that other processes of this machine can
// compare: `ready`, each commit (`committed`, its kinds of events) and each time that the log of a session was read on by
// its holder (`folded`, the kinds it read).

import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createOutlast, standBy } from '../../dist/compose.js';
import { app } from '../../dist/server/app.js';
import { listen } from '../../dist/server/listen.js';
import { sqliteStore } from '../../dist/store/sqlite/open.js';
import { instant } from './instant.mjs';
import { model, tools } from './script.mjs';

const { values } = parseArgs({
  options: { data: { type: 'string' }, standby: { type: 'boolean', default: false } },
});
process.stdin.on('close', () => process.exit(0)).resume();

const report = (line) => process.stderr.write(`${line}\n`);
const inner = values.standby
  ? await standBy(values.data, report, () => say({ did: 'waiting' }))
  : await sqliteStore({ dir: values.data });
const store = {
  ...inner,
  async commit(commit) {
    const result = await inner.commit(commit);
    if (result.status === 'committed') {
      say({ did: 'committed', session: commit.session, kinds: kindsOf(commit.events) });
    }
    return result;
  },
  async read(session, after, limit) {
    const rows = await inner.read(session, after, limit);
    if (rows.length > 0) say({ did: 'folded', session, kinds: kindsOf(rows) });
    return rows;
  },
};
const outlast = await createOutlast({ dataDir: values.data, store, model, tools, env: {} });
const { url } = await listen({ fetch: app(outlast).fetch, port: 0 });
say({ did: 'ready', url });

function kindsOf(events) {
  return events.map(({ kind }) => kind);
}

function say(line) {
  writeSync(1, `${JSON.stringify({ at: instant(), ...line })}\n`);
}
