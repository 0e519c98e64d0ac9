// compactions, kills, originals, originalsIdentical, referencesBroken, rulesMissing, ruleTokenShare, maxRequestTokens,
// budgetTokens, prefixShare: a session that goes through a long history in a small view, by workers that are killed.
//
// K1. Each worker is a process of its own on the embedded store, and dies by SIGKILL: most often while a summary is being
//     written, else a moment later. The next one goes on from the log.
// K2. What is read back at the end is held against the history that was made, not against what the session says of itself.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createOutlast } from '../../dist/index.js';
import { random } from '../kit/random.mjs';
import { rounded } from '../kit/spread.mjs';
import { folder } from '../kit/stage.mjs';
import { history } from './generate.mjs';
import { script, wider, worded } from './script.mjs';

export const names = [
  'compactions',
  'kills',
  'originals',
  'originalsIdentical',
  'referencesBroken',
  'rulesMissing',
  'ruleTokenShare',
  'maxRequestTokens',
  'budgetTokens',
  'prefixShare',
];

const WORKER = fileURLToPath(new URL('./worker.mjs', import.meta.url));
const LIMITS = { windowTokens: 24_000, contextTokens: 12_000 };
/** Above this share of the window nothing goes out. */
const MOST_SHARE = 0.85;
/** How much longer a turn is with its wider result. */
const WIDENED = 4.8;
const WHOLE = 10_000_000;
const PAGE = 500;

export async function measure({ quick = false, seed = 7_411, tokens }) {
  const length = tokens?.at(-1) ?? (quick ? 100_000 : 10_000_000);
  const made = { seed: seed + 1, half: 'held', tokens: length / WIDENED, perKind: quick ? 4 : 40 };
  const turns = history(made).turns.map(wider);
  const dir = folder();
  const notes = join(dir.path, 'notes.jsonl');
  const { session, kills } = await lives(
    { dir: dir.path, made, limits: LIMITS, notes },
    { most: quick ? 2 : 100, seed },
  );
  const found = await readBack(dir.path, session, turns);
  const requests = readFileSync(notes, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  dir.remove();
  const going = requests.filter(({ before, anew }) => before > 0 && !anew);
  const sum = (list, of) => list.reduce((all, one) => all + of(one), 0);
  return {
    figures: {
      ...found.figures,
      kills,
      rulesMissing: sum(requests, ({ missing }) => missing),
      ruleTokenShare: rounded(sum(requests, ({ rules }) => rules) / sum(requests, ({ tokens: all }) => all)),
      maxRequestTokens: requests.reduce((most, { tokens: all }) => Math.max(most, all), 0),
      budgetTokens: LIMITS.windowTokens * MOST_SHARE,
      prefixShare: sum(going, ({ shared }) => shared) / sum(going, ({ before }) => before),
    },
    details: {
      ...{
        seed,
        tokens: Math.round(JSON.stringify(turns).length / 4),
        turns: turns.length,
        requests: requests.length,
        limits: LIMITS,
      },
      ...found.details,
    },
  };
}

/** K1. Workers, one after the other, until the history is through. */
async function lives(job, { most, seed }) {
  const r = random(seed);
  for (let kills = 0; ; kills++) {
    const child = spawn(process.execPath, [WORKER, JSON.stringify(job)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const life = { session: null, isKilled: false, complaints: '' };
    const kill = () => {
      life.isKilled = true;
      child.kill('SIGKILL');
    };
    // Each life gets somewhere, and what is left after the last kill goes on to the end.
    let left = kills < most ? r.between(4, 12) : Number.POSITIVE_INFINITY;
    child.stderr.on('data', (chunk) => {
      life.complaints += chunk;
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('done ')) life.session = line.slice('done '.length);
      else if (--left <= 0) r.chance(0.7) ? kill() : setTimeout(kill, r.below(60));
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    if (life.session !== null) return { session: life.session, kills };
    if (!life.isKilled) throw new Error(`a worker ended with ${code}: ${life.complaints}`);
  }
}

/** K2. */
async function readBack(dir, session, turns) {
  const outlast = await createOutlast({ dataDir: dir, model: script(turns), env: {} });
  const found = { messages: [], results: [], responses: [] };
  const lines = [];
  let compactions = 0;
  let head = 0;
  for (let isLast = false; !isLast; ) {
    const events = await outlast.events(session, head, PAGE);
    for (const event of events) {
      if (event.kind === 'message.accepted') found.messages.push(event.seq);
      if (event.kind === 'effect.settled') found.results.push(event.seq);
      if (event.kind === 'response.surfaced') found.responses.push(event.seq);
      if (event.kind !== 'context.compacted') continue;
      compactions++;
      lines.push(...event.lines.map(({ sources }) => ({ sources, seq: event.seq })));
    }
    head = events.at(-1)?.seq ?? head;
    isLast = events.length < PAGE;
  }
  const wanted = {
    messages: turns.map((_, n) => worded(turns, n)),
    results: turns.map(({ row }) => JSON.stringify(row)),
    responses: turns.map(({ response }) => response),
  };
  let identical = 0;
  for (const [kind, texts] of Object.entries(wanted)) {
    for (const [n, text] of texts.entries()) {
      const seq = found[kind][n];
      const recalled = seq && (await outlast.recall(session, { id: `#${seq}`, limit: WHOLE }));
      if (recalled?.passages[0].text === text) identical++;
    }
  }
  await outlast.close();
  const broken = lines.filter(
    ({ sources, seq }) => sources.length === 0 || sources.some((source) => source < 1 || source >= seq),
  );
  const beyond = Object.entries(found).map(([kind, seqs]) => [kind, seqs.length - turns.length]);
  return {
    figures: {
      compactions,
      originals: turns.length * 3,
      originalsIdentical: identical,
      referencesBroken: broken.length,
    },
    details: { events: head, lines: lines.length, moreThanWanted: Object.fromEntries(beyond) },
  };
}
