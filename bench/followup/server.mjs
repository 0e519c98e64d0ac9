// Owns: the server process of `followup`: what `outlast serve` puts together, the sample services with their books included,
// with the planners of planner.mjs in the place of a model.
//
// Its stdout says, a line of JSON each: `ready`; each request that a model got (`asked`, with its parts as hash and length);
// `restored`, with the rung; and `surfaced`, with the text. So whoever has read `surfaced` has read all that was asked before.

import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createOutlast } from '../../dist/compose.js';
import { app } from '../../dist/server/app.js';
import { listen } from '../../dist/server/listen.js';
import { startSamples } from '../../dist/services/spawn.js';
import { sqliteStore } from '../../dist/store/sqlite/open.js';
import { SAMPLE_BRIEFING, sampleGrants } from '../../dist/tools/fetch/samples.js';
import { instant } from '../kit/instant.mjs';
import { partsOf, usageOf } from './bill.mjs';
import { planner } from './planner.mjs';

/** The long job takes more steps in a turn than is usual. */
const LIMITS = { stepsPerTurn: 200 };

const { values } = parseArgs({ options: { data: { type: 'string' } } });
process.stdin.on('close', () => process.exit(0)).resume();

const samples = await startSamples({ dataDir: values.data });
const outlast = await createOutlast({
  ...{
    dataDir: values.data,
    store: tapped(await sqliteStore({ dir: values.data })),
    model: counted(planner),
  },
  grants: sampleGrants({ billingUrl: samples.billing.url, mailingUrl: samples.mailing.url }),
  ...{ briefing: SAMPLE_BRIEFING, limits: LIMITS, env: {} },
});
const { url } = await listen({ fetch: app(outlast).fetch, port: 0 });
process.once('SIGTERM', async () => {
  await outlast.close();
  await samples.stop();
  process.exit(0);
});
say({ did: 'ready', url });

function counted(inner) {
  return {
    ...inner,
    async generate(request, options) {
      const reply = await inner.generate(request, options);
      const { stable = request.messages.length, isAside = false, isCompaction = false } = request;
      const parts = partsOf(request);
      const output = JSON.stringify(reply.parts).length;
      const hashed = parts.map((part) => ({ hash: hashOf(part), chars: part.length }));
      say({ did: 'asked', parts: hashed, stable: stable + 1, output, isAside, isCompaction });
      return { ...reply, usage: usageOf({ parts: hashed, output }) };
    },
  };
}

function tapped(store) {
  return {
    ...store,
    async commit(commit) {
      const result = await store.commit(commit);
      if (result.status === 'committed') for (const event of commit.events) tell(commit.session, event);
      return result;
    },
  };
}

function tell(session, { kind, body }) {
  const read = () => JSON.parse(body);
  if (kind === 'heap.restored') say({ did: 'restored', session, rung: read().rung });
  if (kind === 'response.surfaced') say({ did: 'surfaced', session, text: read().text });
  if (kind === 'turn.failed') say({ did: 'surfaced', session, text: '', failed: read().reason });
}

function hashOf(text) {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

function say(line) {
  writeSync(1, `${JSON.stringify({ at: instant(), ...line })}\n`);
}
