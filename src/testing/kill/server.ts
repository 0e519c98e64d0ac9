/**
 * The process that is killed: the real server over the real store and sandbox, put together as `outlast serve` does it,
 * with the scripted model of the campaign and the outside services granted.
 *
 * It ends with its parent, when the pipe to its input closes; otherwise only by a signal. SIGTERM is the clean end.
 */

import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createOutlast } from '../../compose.ts';
import { OutlastError } from '../../core/error.ts';
import { app } from '../../server/app.ts';
import { listen } from '../../server/listen.ts';
import { ASKED } from './batch.ts';
import { grantsFor } from './books.ts';
import { scriptedModel } from './model.ts';

const { values } = parseArgs({ options: { data: { type: 'string' }, services: { type: 'string' } } });
const { data: dataDir, services = '' } = values;
if (dataDir === undefined) throw new Error('--data FOLDER is missing');

process.stdin.on('close', () => process.exit(0)).resume();

const report = (line: string, cause?: unknown): void => {
  process.stderr.write(`${line}${cause instanceof Error ? `: ${cause.stack}` : ''}\n`);
};
const closing = new AbortController();
let open: (handler: ReturnType<typeof app>) => void = () => {};
const handler = new Promise<ReturnType<typeof app>>((resolve) => {
  open = resolve;
});

// The port first, the data folder second: requests that come while it opens wait for it.
const listening = await listen({ fetch: async (request) => (await handler).fetch(request), port: 0 });
try {
  const outlast = await createOutlast({
    dataDir,
    grants: grantsFor(services),
    model: scriptedModel(services),
    policy: {
      rules: [
        { name: 'campaign-asks', when: { target: `*${ASKED}/*` }, verdict: 'ask' },
        // Of the others the campaign is about what is done and not recorded, blind ones included.
        { name: 'campaign', verdict: 'allow' },
      ],
    },
    report,
  });
  open(app(outlast, { closing: closing.signal, report }));
  process.once('SIGTERM', async () => {
    closing.abort();
    await Promise.all([listening.close(), outlast.close()]);
    process.exit(0);
  });
  writeSync(1, `${JSON.stringify({ ready: true, url: listening.url })}\n`);
} catch (error) {
  const code = error instanceof OutlastError ? error.code : 'failed';
  writeSync(1, `${JSON.stringify({ ready: false, code, message: String(error) })}\n`);
  process.exit(1);
}
