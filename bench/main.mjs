// Owns: `npm run bench -- steps|retention|workspace|parked|followup|rungs [--json] [--quick] [--only FIGURE,…] [--save]`: runs the figures of a suite
// one after the other and prints them. What a figure means stands in README.md; how it is taken, in its file.
//
// B1. With --json the last line of stdout is one object, name → number, or null where a figure could not be taken. A figure
//     of several numbers is an object of them; its file has `lines` that show it to people, and may have a `picture` (SVG).
// B2. A figure that fails does not take the others with it; the exit code says so.

import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { machine } from './kit/machine.mjs';

const SUITES = {
  steps: './steps.mjs',
  retention: './retention.mjs',
  workspace: './workspace.mjs',
  parked: './parked.mjs',
  followup: './followup.mjs',
  rungs: './rungs.mjs',
};

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
    only: { type: 'string' },
    // Of `parked`.
    count: { type: 'string' },
    dir: { type: 'string' },
    // Of `retention`.
    tokens: { type: 'string' },
    half: { type: 'string' },
    seed: { type: 'string' },
    locomo: { type: 'string' },
    beam: { type: 'string' },
  },
});
const suite = positionals[0] ?? '';
const { FILES, NAMES } = Object.hasOwn(SUITES, suite)
  ? await import(SUITES[suite])
  : { FILES: [], NAMES: [] };
const wanted = options.only?.split(',') ?? NAMES;
const strange = wanted.filter((name) => !NAMES.includes(name));
if (FILES.length === 0 || strange.length > 0) {
  const what = strange.length > 0 ? `no figure "${strange.join(', ')}"; there are ${NAMES.join(', ')}\n` : '';
  process.stderr.write(
    `${what}usage: npm run bench -- ${Object.keys(SUITES).join('|')} [--json] [--quick] [--only FIGURE,…] [--save]\n`,
  );
  process.exit(2);
}

const figures = {};
const details = {};
const pictures = [];
let isWhole = true;
for (const file of FILES.filter(({ names }) => names.some((name) => wanted.includes(name)))) {
  say(`${file.names.join(', ')} …`);
  const taken = await take(file);
  for (const name of file.names) {
    figures[name] = taken.figures[name] ?? null;
    if (typeof figures[name] !== 'object' || figures[name] === null) {
      say(`  ${name.padEnd(24)} ${figures[name] ?? 'not taken'}`);
    }
  }
  for (const line of taken.lines ?? []) say(line);
  if (taken.picture) pictures.push(taken.picture);
  details[file.names[0]] = taken.details;
}
if (options.save) save();
if (options.json) console.log(JSON.stringify(figures));
process.exitCode = isWhole ? 0 : 1;

async function take(file) {
  const { quick, half, locomo, beam, dir } = options;
  const seed = options.seed === undefined ? undefined : Number(options.seed);
  const tokens = options.tokens?.split(',').map(Number);
  const count = options.count === undefined ? undefined : Number(options.count);
  try {
    return await file.measure({ quick, half, seed, tokens, locomo, beam, count, dir });
  } catch (error) {
    isWhole = false;
    say(`  failed: ${error instanceof Error && !error.isEnded ? error.stack : error}`);
    return { figures: {}, details: { failed: String(error) } };
  }
}

function save() {
  const at = machine();
  const path = new URL(`./results/${suite}-${at.date}.json`, import.meta.url);
  mkdirSync(new URL('.', path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ machine: at, figures, details }, null, 2)}\n`);
  for (const picture of pictures) writeFileSync(new URL(path.href.replace(/json$/, 'svg')), picture);
  say(`saved as bench/results/${suite}-${at.date}.json`);
}

/** For people, on stderr, so that stdout stays what programs read; without --json people look there. */
function say(line) {
  (options.json ? process.stderr : process.stdout).write(`${line}\n`);
}
