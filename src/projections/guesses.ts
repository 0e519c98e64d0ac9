/**
 * Wrong guesses, and what they cost: kept for nothing, and closed too early. Counted from the index rows, which have it from
 * the logs, so they are the same after every restart. Pure.
 *
 * G1  Kept for nothing: a task that was kept open ended, or went to the archive, and nobody ever gave it a second instruction.
 * G2  Closed too early: a one-shot was completed, and a follow-up came after all.
 */

import type { Residency } from '../core/residency/policy.ts';
import type { Summary } from './summary.ts';

export interface Guesses {
  readonly sessions: number;
  /** How many rest where. */
  readonly at: Readonly<Record<Residency, number>>;
  readonly keptForNothing: {
    readonly sessions: number;
    /** Memory that was held for a message that did not come. */
    readonly heldMbMinutes: number;
    /** Images on the disk, up to now or to the stop. */
    readonly storedMbDays: number;
  };
  readonly closedTooEarly: {
    readonly sessions: number;
    /** Follow-ups that found one completed. */
    readonly times: number;
    /** Until there was all that it had. */
    readonly wakeMs: number;
    /** Of the first request after each, as far as the provider had it not cached. */
    readonly tokensReadAgain: number;
  };
}

const DAY_MS = 24 * 3_600_000;
const MB = 1024 * 1024;

export const NO_GUESSES: Guesses = {
  sessions: 0,
  at: { resident: 0, parked: 0, archived: 0 },
  keptForNothing: { sessions: 0, heldMbMinutes: 0, storedMbDays: 0 },
  closedTooEarly: { sessions: 0, times: 0, wakeMs: 0, tokensReadAgain: 0 },
};

export function counted(guesses: Guesses, row: Summary, now: number): Guesses {
  if (row.phase === 'deleted') return guesses;
  const { residency = 'resident', residence } = row;
  const { keptForNothing: kept, closedTooEarly: early } = guesses;
  const isDone = row.phase === 'stopped' || residency === 'archived';
  const isForNothing = row.persist && row.turn > 0 && isDone && (residence?.followUps ?? 0) === 0;
  const from = row.phase === 'stopped' ? row.startedAt : row.updatedAt;
  const until = row.phase === 'stopped' ? row.updatedAt : now;
  return {
    sessions: guesses.sessions + 1,
    at: { ...guesses.at, [residency]: guesses.at[residency] + 1 },
    keptForNothing: isForNothing
      ? {
          sessions: kept.sessions + 1,
          heldMbMinutes: kept.heldMbMinutes + (residence?.heldMbMinutes ?? 0),
          storedMbDays: kept.storedMbDays + (((residence?.imageBytes ?? 0) / MB) * (until - from)) / DAY_MS,
        }
      : kept,
    closedTooEarly: residence?.tooEarly
      ? {
          sessions: early.sessions + 1,
          times: early.times + residence.tooEarly.times,
          wakeMs: early.wakeMs + residence.tooEarly.ms,
          tokensReadAgain: early.tokensReadAgain + residence.tooEarly.tokens,
        }
      : early,
  };
}
