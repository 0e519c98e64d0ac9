/**
 * `npm run eval:conversation -- --model provider/model`: how well a model runs a conversation, by what it does. It needs a
 * key, as `serve` does; a request costs a few model calls.
 */

import { parseArgs } from 'node:util';
import { chooseModel, providerModel } from '../../models/ai-sdk/providers.ts';
import { CASES } from './cases.ts';
import { play } from './play.ts';
import { faults, type Scored, tally } from './score.ts';

const HELP = `npm run eval:conversation -- [--model provider/model] [--group NAME] [--json]

  --model   by default what the environment names, as for outlast serve
  --group   only these: ${[...new Set(CASES.map(({ group }) => group))].join(', ')}
  --json    what it did in each case, on the last line`;

const { values } = parsed();
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const spec = values.model ?? chooseModel(process.env)?.spec;
if (spec === undefined) {
  console.error(
    'This needs a model: --model provider/model, with its key in the environment (see outlast serve --help).',
  );
  process.exit(2);
}
const model = providerModel(spec, process.env);
const scored: Scored[] = [];
for (const one of CASES.filter(({ group }) => values.group === undefined || group === values.group)) {
  try {
    const did = await play(one, model);
    scored.push({ case: one, did, faults: faults(one, did) });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    scored.push({ case: one, did: null, faults: ['could not be run'] });
  }
  const last = scored.at(-1);
  console.error(
    `${last?.faults.length === 0 ? 'ok ' : 'NO '} ${one.says}${last?.faults.length ? ` (${last.faults.join(', ')})` : ''}`,
  );
}
for (const line of tally(scored)) console.log(line);
if (values.json) console.log(JSON.stringify({ model: spec, scored }));
process.exitCode = scored.some((one) => one.faults.length > 0) ? 1 : 0;

function parsed() {
  try {
    return parseArgs({
      options: {
        model: { type: 'string' },
        group: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${HELP}`);
    process.exit(2);
  }
}
