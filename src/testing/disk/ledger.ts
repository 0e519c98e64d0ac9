/**
 * What a client of the store knows: what it asked for, and when it was told that it is done. Times are counts of disk
 * operations, so a power cut after `at` operations comes before or after each of them without doubt.
 */

import type { SessionId } from '../../core/ids.ts';
import type { Commit } from '../../store/port.ts';
import type { AskedEntry } from './accounts.ts';
import type { AskedBatch } from './indexes.ts';

/** Done once it is acknowledged; may be done from the moment it was asked for. */
export interface Asked {
  readonly askedAt: number;
  /** Infinity while there is no answer. */
  ackedAt: number;
}

export interface AskedCommit extends Asked {
  readonly commit: Commit;
  /** The store refused it: nothing of it may ever be there. */
  isRefused: boolean;
}

export interface AskedEpoch extends Asked {
  readonly session: SessionId;
  readonly epoch: number;
}

export interface Ledger {
  readonly commits: AskedCommit[];
  readonly epochs: AskedEpoch[];
  /** Of the owner's books, in the order in which they were asked for. */
  readonly entries: AskedEntry[];
  readonly batches: AskedBatch[];
}

/** How much of a session may and must be there. */
export interface Bounds {
  /** The commits that may be there, in order. */
  readonly commits: readonly Commit[];
  /** As many of them must be. */
  readonly acknowledged: number;
  readonly epochAtLeast: number;
  readonly epochAtMost: number;
}

export function boundsOf(ledger: Ledger, session: SessionId, at: number): Bounds {
  const commits = ledger.commits.filter(
    ({ commit, askedAt, isRefused }) => commit.session === session && askedAt < at && !isRefused,
  );
  const epochs = ledger.epochs.filter((asked) => asked.session === session && asked.askedAt < at);
  return {
    commits: commits.map(({ commit }) => commit),
    acknowledged: commits.filter(({ ackedAt }) => ackedAt <= at).length,
    epochAtLeast: highest(epochs.filter(({ ackedAt }) => ackedAt <= at)),
    epochAtMost: highest(epochs),
  };
}

/** What had been answered by then: two cuts with the same number ask the same of the store. */
export function answered(ledger: Ledger, at: number): number {
  const { commits, epochs, entries, batches } = ledger;
  return [...commits, ...epochs, ...entries, ...batches].filter(({ ackedAt }) => ackedAt <= at).length;
}

export function sessionsOf(ledger: Ledger): readonly SessionId[] {
  return [...new Set(ledger.commits.map(({ commit }) => commit.session))];
}

function highest(epochs: readonly AskedEpoch[]): number {
  return Math.max(0, ...epochs.map(({ epoch }) => epoch));
}
