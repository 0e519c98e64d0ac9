// newTask, summary, warm, killed, and what the warm one is of the new task: the price of a follow-up, on the billing job and
// on the long job.
//
// F1. Real server processes on one folder, the real sandbox, the sample services with their books. In each round the ways go
//     one after the other, in a turning order; the killed one comes last, for it takes the server with it.
// F2. No model: planners decide from the requests (planner.mjs). What is counted is what the runtime built for them.
// F3. Right or wrong is judged from the data of the service, authentications from its books.
// F4. What a summary costs to be written is a part of its way: a question beside the work of the first task.

import { isRight, look } from '../../dist/demo/judge.js';
import { readBooks } from '../../dist/services/books.js';
import { instant } from '../kit/instant.mjs';
import { post, startServer } from '../kit/process.mjs';
import { median, rounded, spread } from '../kit/spread.mjs';
import { folder } from '../kit/stage.mjs';
import { bill, PRICED } from './bill.mjs';
import { ANEW, FOLLOW_UP, isRightOverdue, isRightTable, JOB } from './long.mjs';
import { plot, table } from './show.mjs';
import { withSummary } from './summary.mjs';

export const names = [
  'newTask',
  'summary',
  'warm',
  'killed',
  'warmVsNewTask',
  'warmVsNewTaskBilling',
  'warmVsNewTaskLong',
  'warmVsNewTaskCold',
  'killedVsNewTask',
];

const WAYS = ['newTask', 'summary', 'warm', 'killed'];
const SERVER = new URL('./server.mjs', import.meta.url);
const PATIENCE_MS = 60_000;
const ASKED = 'Sum up what you know for a new task that goes on from here and has nothing of yours.';

export const JOBS = {
  billing: {
    first: ["Report on February's invoices", 'leave out the test customer'],
    followUp: 'Now do the same for March',
    // As a careful person says it to somebody who knows nothing; and as it was said.
    anew: "Report on March's invoices, leave out the test customer",
    asSaid: 'Now do the same for March',
    isFirstRight: (text) => isRight(text, '2026-02', true),
    isRight: (text) => isRight(text, '2026-03', true),
  },
  long: {
    first: [JOB],
    followUp: FOLLOW_UP,
    anew: ANEW,
    isFirstRight: isRightTable,
    isRight: isRightOverdue,
  },
};

export async function measure({ quick = false } = {}) {
  const taken = {};
  const rounds = quick ? 1 : 3;
  for (let round = 0; round < rounds; round++) {
    for (const [name, job] of Object.entries(JOBS)) {
      for (const [way, found] of Object.entries(await play(job, round))) {
        taken[name] = { ...taken[name], [way]: [...(taken[name]?.[way] ?? []), found] };
      }
    }
  }
  const ways = Object.fromEntries(WAYS.map((way) => [way, together(taken, way)]));
  const against = (way, of) => rounded(of(ways[way]) / of(ways.newTask));
  const asSaid = middle(taken.billing.asSaid);
  return {
    figures: {
      ...ways,
      warmVsNewTask: against('warm', ({ usd }) => usd),
      warmVsNewTaskBilling: against('warm', ({ billing }) => billing.usd),
      warmVsNewTaskLong: against('warm', ({ long }) => long.usd),
      warmVsNewTaskCold: against('warm', ({ coldUsd }) => coldUsd),
      killedVsNewTask: against('killed', ({ usd }) => usd),
    },
    details: { priced: PRICED, rounds, asSaid, wallMs: walls(taken), firstTask: firsts(taken) },
    lines: table(ways, asSaid),
    picture: plot(ways, PRICED),
  };
}

/** One round of a job: every way once, on a folder of its own (F1). */
export async function play(job, round) {
  const dir = folder();
  let server = startServer(dir.path, { program: SERVER });
  try {
    const { url } = await server.ready();
    const on = { job, url, server, dataDir: dir.path, before: [] };
    const resting = await first(on);
    const other = await first(on);
    // No way gains by what another one has had cached.
    on.before = server.since(0).filter(({ did }) => did === 'asked');
    const found = { firstTask: resting.found };
    for (const way of turned(['newTask', 'asSaid', 'summary', 'warm'], round)) {
      if (way === 'asSaid' && !job.asSaid) continue;
      found[way] = await taken(on, () => follow(on, way, { resting, other }));
    }
    await server.kill();
    server = startServer(dir.path, { program: SERVER });
    const again = { ...on, server };
    found.killed = await taken(again, async () => {
      const { url } = await server.ready();
      return { ...(await send({ ...again, url }, other.session, job.followUp)), since: server.spawnedAt };
    });
    return found;
  } finally {
    await server.end();
    dir.remove();
  }
}

const turned = (list, by) => [...list.slice(by % list.length), ...list.slice(0, by % list.length)];

/** The task that the follow-up is about, to its rest. */
async function first(on) {
  const [message, ...more] = on.job.first;
  let session = '';
  let text = '';
  const found = await taken({ ...on, isRight: on.job.isFirstRight }, async () => {
    const since = instant();
    ({ session, text } = await start(on, message));
    for (const one of more) ({ text } = await send(on, session, one));
    return { text, since };
  });
  if (!found.right) throw new Error(`The first task was not right: ${text}`);
  return { session, found };
}

/** The summary is asked of the other first task, which nobody has followed up yet. */
async function follow(on, way, { resting, other }) {
  const since = instant();
  const { anew, asSaid, followUp } = on.job;
  switch (way) {
    case 'newTask':
      return { ...(await start(on, anew)), since };
    case 'asSaid':
      return { ...(await start(on, asSaid)), since };
    case 'summary': {
      const { answer } = await post(on.url, `/v1/sessions/${other.session}/ask`, { question: ASKED });
      return { ...(await start(on, withSummary(answer, followUp))), since };
    }
    default:
      return { ...(await send(on, resting.session, followUp)), since };
  }
}

/** What was asked, authenticated and answered meanwhile. */
async function taken({ job, server, dataDir, before, isRight = job.isRight }, act) {
  const books = () => ({
    authCalls: look(dataDir).authCalls,
    serviceCalls: readBooks(dataDir, 'billing').rows.length,
  });
  const earlier = books();
  const from = server.heardSoFar();
  const { text, since } = await act();
  const lines = server.since(from);
  const { authCalls, serviceCalls } = books();
  return {
    ...bill(
      lines.filter(({ did }) => did === 'asked'),
      before,
    ),
    authCalls: authCalls - earlier.authCalls,
    serviceCalls: serviceCalls - earlier.serviceCalls,
    wallMs: lines.findLast(({ did }) => did === 'surfaced').at - since,
    // Of that, a new process until it can be reached.
    startMs: Math.max(0, (lines.find(({ did }) => did === 'ready')?.at ?? since) - since),
    heap: lines.find(({ did, rung }) => did === 'restored' && rung !== 'fresh')?.rung ?? null,
    right: isRight(text),
  };
}

async function start(on, message) {
  const from = on.server.heardSoFar();
  const { session } = await post(on.url, '/v1/sessions', { message, persist: true });
  return { session, text: await answerOf(on, session, from) };
}

async function send(on, session, message) {
  const from = on.server.heardSoFar();
  await post(on.url, `/v1/sessions/${session}/messages`, { message });
  return { text: await answerOf(on, session, from) };
}

async function answerOf({ server }, session, from) {
  const isAnswer = ({ did, session: whose }) => did === 'surfaced' && whose === session;
  const { text, failed } = await server.line(isAnswer, { from, patienceMs: PATIENCE_MS });
  if (failed) throw new Error(`The turn failed: ${failed}`);
  return text;
}

// ── several rounds, and both jobs ──────────────────────────────────────────────────────────────────────────

const COUNTS = ['modelCalls', 'compactions', 'tokens', 'tokensIn', 'tokensCached', 'tokensOut'];
const SUMS = [...COUNTS, 'authCalls', 'serviceCalls'];

function middle(rounds) {
  const of = (what) => median(rounds.map((one) => one[what]));
  return {
    ...Object.fromEntries(SUMS.map((what) => [what, Math.round(of(what))])),
    ...{ usd: rounded(of('usd')), coldUsd: rounded(of('coldUsd')) },
    ...{ wallMs: Math.round(of('wallMs')), startMs: Math.round(of('startMs')) },
    heap: [...new Set(rounds.map(({ heap }) => heap))].join(', ') || null,
    right: rounds.every(({ right }) => right),
  };
}

/** Both jobs added up, and each of them. */
function together(taken, way) {
  const jobs = Object.fromEntries(Object.keys(JOBS).map((name) => [name, middle(taken[name][way])]));
  const all = Object.values(jobs);
  const sum = (what) => all.reduce((total, one) => total + one[what], 0);
  return {
    ...Object.fromEntries(SUMS.map((what) => [what, sum(what)])),
    ...{ usd: rounded(sum('usd')), coldUsd: rounded(sum('coldUsd')) },
    ...{ wallMs: sum('wallMs'), startMs: sum('startMs') },
    right: all.every(({ right }) => right),
    ...jobs,
  };
}

const perJob = (taken, of) => Object.fromEntries(Object.keys(JOBS).map((name) => [name, of(taken[name])]));

const walls = (taken) =>
  perJob(taken, (job) =>
    Object.fromEntries(WAYS.map((way) => [way, spread(job[way].map(({ wallMs }) => wallMs))])),
  );

const firsts = (taken) => perJob(taken, ({ firstTask }) => middle(firstTask));
