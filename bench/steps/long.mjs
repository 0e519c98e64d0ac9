// step5000VsStep50Ms, step5000VsStep50Bytes: whether a step costs more late in a session than early.
//
// One session goes to step 4,950 and is held there. From there on, in turn, ten of its steps and ten of a young session
// around its step 50: late and early are measured in the same minute. Bytes: of the events, and of the database file
// after a checkpoint; the figure is the worse of the two.

import { buildRequest } from '../../dist/context/build.js';
import { fold } from '../../dist/index.js';
import { pace } from '../kit/pace.mjs';
import { median, rounded, spread } from '../kit/spread.mjs';
import { stage } from '../kit/stage.mjs';

export const names = ['step5000VsStep50Ms', 'step5000VsStep50Bytes'];

const BLOCK = 10;
const WINDOW = 100;

export async function measure({ quick = false } = {}) {
  const steps = pace();
  const on = await stage(steps);
  const session = await on.start(steps.objective('long'));
  const early = await bytesOf(on, () => steps.run('long', WINDOW));
  await steps.run('long', 4_950 - WINDOW);

  const late = [];
  const young = [];
  const ratios = [];
  const rounds = quick ? 2 : 4;
  for (let round = 0; round < rounds; round++) {
    const name = `young ${round}`;
    await on.start(steps.objective(name));
    await steps.run(name, 25);
    for (let block = 0; block < 50 / BLOCK; block++) {
      const a = await steps.run('long', BLOCK);
      const b = await steps.run(name, BLOCK);
      late.push(...a);
      young.push(...b);
      ratios.push(median(a) / median(b));
    }
  }
  const after = await bytesOf(on, () => steps.run('long', WINDOW));
  const events = await logOf(on, session);
  const contextMs = contextBuild(fold(events));
  await on.end();
  const bytes = { events: after.events / early.events, file: after.file / early.file };
  return {
    figures: {
      step5000VsStep50Ms: rounded(median(late) / median(young)),
      step5000VsStep50Bytes: rounded(Math.max(bytes.events, bytes.file)),
    },
    details: {
      step5000Ms: spread(late),
      step50Ms: spread(young),
      ratioOfBlocks: spread(ratios),
      bytesAStep: { step50: perStep(early), step5000: perStep(after) },
      ofWhichContextMs: contextMs,
    },
  };
}

async function bytesOf(on, work) {
  const before = fileBytes(on);
  on.commits.length = 0;
  await work();
  const events = on.commits.reduce((sum, { bytes }) => sum + bytes, 0);
  return { events, file: fileBytes(on) - before };
}

function fileBytes({ db }) {
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const { pages, size } = db
    .prepare('SELECT page_count AS pages, page_size AS size FROM pragma_page_count, pragma_page_size')
    .get();
  return pages * size;
}

const perStep = ({ events, file }) => ({
  events: Math.round(events / WINDOW),
  file: Math.round(file / WINDOW),
});

async function logOf(on, session) {
  const events = [];
  for (;;) {
    const page = await on.outlast.events(session, events.length, 1_000);
    events.push(...page);
    if (page.length < 1_000) return events;
  }
}

/** The request of a step as it is built in the loop, where all but the newest item was rendered before. */
function contextBuild(state) {
  const around = { tools: [], briefing: '' };
  buildRequest(state, around);
  const times = Array.from({ length: 200 }, () => {
    const startedAt = performance.now();
    buildRequest(state, around);
    return performance.now() - startedAt;
  });
  return rounded(median(times));
}
