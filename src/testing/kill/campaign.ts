/**
 * A campaign: rounds on several workers side by side, each with a data folder and an outside of its own. Each round is
 * handed over as soon as it is judged, so what is known is never more than a round behind.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Frozen, freeze } from './freeze.ts';
import { type Running, Server, startOutside } from './processes.ts';
import type { Failure } from './results.ts';
import { playRound, type Round } from './round.ts';

export interface CampaignOptions {
  readonly seed: number;
  /** Rounds from here on have not been played. */
  readonly from: number;
  /** Kills in all. */
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
  /** Also for a round that broke off: that one is not handed over. */
  readonly onFailure: (failure: Failure, folder: string) => void;
}

const KILLS_A_ROUND = 10;
const SMALLEST = 3;
/** After so many sessions a worker moves into a new folder, so that a long campaign goes on as fast as it began. */
const ROUNDS_A_PLACE = 20;

export async function campaign(options: CampaignOptions): Promise<void> {
  const workers = options.only === null ? options.workers : 1;
  let claimed = 0;
  let next = options.from;
  const claim = (): { round: number; kills: number } | null => {
    const left = options.count - claimed;
    // So that the workers end at about the same time.
    const kills = Math.min(left, KILLS_A_ROUND, Math.max(SMALLEST, Math.ceil(left / workers)));
    if (kills <= 0 || options.finishing.aborted) return null;
    claimed += kills;
    return { round: options.only ?? next++, kills };
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
  const { seed, onFailure } = options;
  let place: Place | null = null;
  try {
    for (let next = claim(); next; next = claim()) {
      const at: Place = place ?? (await openPlace(seed + 1_000 * worker + next.round, options.signal));
      place = at;
      const fail = (session: string, findings: readonly string[]): void => {
        // The folder stays as it is.
        at.isKept = true;
        const repeat = `npm run kill -- --seed ${seed} --round ${next?.round} --count ${next?.kills}`;
        onFailure({ repeat, session, findings }, at.folder);
      };
      const round = await playRound({ ...next, ...at, ...options }).catch((error: unknown) => {
        if (options.signal.aborted) throw error;
        fail('(unknown)', [`the round broke off: ${String(error)}`, at.server.complaints.slice(-4_000)]);
        throw error;
      });
      if (round.findings.length > 0) fail(round.session, round.findings);
      if (at.isKept || ++at.rounds >= ROUNDS_A_PLACE) {
        await leave(at);
        place = null;
      }
      options.onRound(round);
    }
  } finally {
    if (place) await leave(place);
  }
}

interface Place {
  readonly folder: string;
  readonly books: string;
  readonly outside: string;
  readonly server: Server;
  readonly services: Running;
  isKept: boolean;
  rounds: number;
}

async function openPlace(seed: number, signal: AbortSignal): Promise<Place> {
  signal.throwIfAborted();
  const folder = mkdtempSync(join(tmpdir(), 'outlast-kill-'));
  const books = join(folder, 'books');
  const services = startOutside(books, seed);
  const said = await services.said;
  if (!said) throw new Error(`the services did not start: ${services.complaints()}`);
  const server = new Server(join(folder, 'data'), said.url);
  return { folder, books, outside: said.url, server, services, isKept: false, rounds: 0 };
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
