/**
 * A campaign: rounds on several workers side by side, each with a data folder and an outside of its own. Totals are kept
 * after every round, so it can be interrupted and resumed.
 */

import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Frozen, freeze } from './freeze.ts';
import { type Running, Server, startOutside } from './processes.ts';
import { playRound, type Round } from './round.ts';

export interface Totals {
  kills: number;
  duplicates: number;
  lost: number;
  untrue: number;
  stuck: number;
  questions: number;
  questionsMinimum: number;
  rounds: number;
  readonly seed: number;
  /** Kills of a server that was still recovering. */
  early: number;
  effects: number;
  /** Requests that left and whose own answer never came. */
  inDoubt: number;
  /** Rows that stood twice for a while, were undone and told. */
  extras: number;
  /** Broken invariants, heaps and followers. */
  broken: number;
  /** Quarantines that the person had to resume. */
  resumed: number;
  /** Times when a session was said to rest while an effect of it was open. */
  restless: number;
}

export interface Failure {
  /** Plays this round again; where kills land is up to the machine. */
  readonly repeat: string;
  readonly session: string;
  readonly folder: string;
  readonly findings: readonly string[];
}

export interface Kept {
  readonly totals: Totals;
  /** Rounds from here on have not been played. */
  nextRound: number;
  readonly failures: Failure[];
}

export const fresh = (seed: number): Kept => ({
  totals: {
    ...{ kills: 0, duplicates: 0, lost: 0, untrue: 0, stuck: 0, questions: 0, questionsMinimum: 0 },
    ...{ rounds: 0, seed, early: 0, effects: 0, inDoubt: 0, extras: 0, broken: 0, resumed: 0, restless: 0 },
  },
  nextRound: 1,
  failures: [],
});

export function readKept(file: string): Kept | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Kept;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

export function keep(file: string, kept: Kept): void {
  writeFileSync(`${file}.next`, `${JSON.stringify(kept, null, 2)}\n`);
  renameSync(`${file}.next`, file);
}

export interface CampaignOptions {
  readonly kept: Kept;
  /** Total kills, those of earlier parts of the campaign included. */
  readonly count: number;
  readonly workers: number;
  /** Only this round. */
  readonly only: number | null;
  /** Rounds that are being played come to their end, no new one starts. */
  readonly finishing: AbortSignal;
  /** Everything is given up. */
  readonly signal: AbortSignal;
  readonly onKill: () => void;
  readonly onRound: (round: Round) => void;
}

const KILLS_A_ROUND = 10;
const SMALLEST = 3;

export async function campaign(options: CampaignOptions): Promise<void> {
  const workers = options.only === null ? options.workers : 1;
  let claimed = options.kept.totals.kills;
  const claim = (): { round: number; kills: number } | null => {
    const left = options.count - claimed;
    // So that the workers end at about the same time.
    const kills = Math.min(left, KILLS_A_ROUND, Math.max(SMALLEST, Math.ceil(left / workers)));
    if (kills <= 0 || options.finishing.aborted) return null;
    claimed += kills;
    return { round: options.only ?? options.kept.nextRound++, kills };
  };
  const ended = await Promise.allSettled(
    Array.from({ length: workers }, (_, worker) => work(worker, claim, options)),
  );
  for (const end of ended) if (end.status === 'rejected' && !options.signal.aborted) throw end.reason;
}

async function work(
  worker: number,
  claim: () => { round: number; kills: number } | null,
  options: CampaignOptions,
): Promise<void> {
  const { totals } = options.kept;
  let place: Place | null = null;
  try {
    for (let next = claim(); next; next = claim()) {
      const at: Place = place ?? (await openPlace(totals.seed + worker, options.signal));
      place = at;
      const round = await playRound({ ...next, ...at, seed: totals.seed, ...options }).catch(
        (error: unknown) => {
          if (options.signal.aborted) throw error;
          at.isKept = true;
          process.stderr.write(`${at.server.complaints}the folder is kept: ${at.folder}\n`);
          throw error;
        },
      );
      add(totals, round);
      if (round.findings.length > 0) {
        // The folder stays as it is; later rounds get another one.
        at.isKept = true;
        const repeat = `npm run kill -- --seed ${totals.seed} --round ${round.round} --count ${round.kills}`;
        const { session, findings } = round;
        options.kept.failures.push({ repeat, session, folder: at.folder, findings });
        await leave(at);
        place = null;
      }
      options.onRound(round);
    }
  } finally {
    if (place) await leave(place);
  }
}

function add(
  totals: Totals,
  { verdict, kills, early, effects, inDoubt, extras, resumed, restless }: Round,
): void {
  totals.kills += kills;
  totals.early += early;
  totals.effects += effects;
  totals.inDoubt += inDoubt;
  totals.extras += extras;
  totals.resumed += resumed;
  totals.restless += restless.length;
  totals.rounds++;
  for (const kind of ['duplicates', 'lost', 'untrue', 'stuck', 'broken'] as const)
    totals[kind] += verdict[kind].length;
  totals.questions += verdict.questions;
  totals.questionsMinimum += verdict.questionsMinimum;
}

interface Place {
  readonly folder: string;
  readonly books: string;
  readonly outside: string;
  readonly server: Server;
  readonly services: Running;
  isKept: boolean;
}

async function openPlace(seed: number, signal: AbortSignal): Promise<Place> {
  signal.throwIfAborted();
  const folder = mkdtempSync(join(tmpdir(), 'outlast-kill-'));
  const books = join(folder, 'books');
  const services = startOutside(books, seed);
  const said = await services.said;
  if (!said) throw new Error(`the services did not start: ${services.complaints()}`);
  const server = new Server(join(folder, 'data'), said.url);
  return { folder, books, outside: said.url, server, services, isKept: false };
}

async function leave({ server, services, folder, isKept }: Place): Promise<void> {
  await server.end();
  services.signal('SIGKILL');
  await services.exited;
  if (!isKept) rmSync(folder, { recursive: true, force: true });
}

/** One server that freezes past its lease, in a folder of its own. */
export async function freezeOnce(seed: number, signal: AbortSignal): Promise<Frozen> {
  const place = await openPlace(seed, signal);
  try {
    const frozen = await freeze({ ...place, dataDir: join(place.folder, 'data'), seed, signal });
    place.isKept = frozen.findings.length > 0;
    if (place.isKept) process.stderr.write(`the folder is kept: ${place.folder}\n`);
    return frozen;
  } finally {
    await leave(place);
  }
}
