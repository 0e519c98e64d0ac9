/**
 * How long a session at rest stays where it is: a policy of a few numbers, pure and the same everywhere. docs/design/lifetime.md
 * has the reasons.
 *
 * R1  Memory is held as long as that costs no more than the wait that it is likely to spare somebody. So, whatever comes,
 *     it costs at most twice what the best choice would have cost (and what the bounds add).
 * R2  Who comes back at a pace of their own finds it as it was left, up to the longest time.
 * R3  Nothing here gives anything up: each rung can be woken with all there was.
 * R4  What rests on a decision and on nothing else is parked almost at once, however likely an answer is: people take
 *     minutes or days, and a wake is as nothing to them. Only what decides by itself answers sooner.
 */

import { isAtWork } from '../family/state.ts';
import { openDecisions, pendingTimers, type State } from '../state.ts';

/** Where a session is kept: `parked` has no memory, and `archived` is folded to its least form on the disk as well. */
export type Residency = 'resident' | 'parked' | 'archived';

export interface Tunables {
  /** What it takes to have a heap back: ms, and more for each delta and each MB of images. */
  readonly wake: { readonly ms: number; readonly perDelta: number; readonly perMb: number };
  /** What a heap holds: MB at the least, and how often the size of its images. */
  readonly held: { readonly mb: number; readonly unpacked: number };
  /** How many MB of memory, for a minute each, are worth sparing somebody a millisecond. */
  readonly mbMinutesPerMs: number;
  /** That another instruction comes: of a task that is kept open, of one that was not and got one, of one that did not. */
  readonly likelihood: { readonly persistent: number; readonly followed: number; readonly oneShot: number };
  /** Whoever came back after some time is waited for so many times as long. */
  readonly pace: number;
  readonly parkMs: { readonly least: number; readonly most: number };
  /** R4. */
  readonly askedMs: number;
  /** At likelihood 1, and its bounds. */
  readonly archiveMs: { readonly usual: number; readonly least: number; readonly most: number };
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const MB = 1024 * 1024;

/** The wake is that of `bench/results`: 40 ms for the engine and its base, 0.3 ms for reading a delta. */
export const TUNABLES: Tunables = {
  wake: { ms: 40, perDelta: 0.3, perMb: 5 },
  held: { mb: 4, unpacked: 4 },
  mbMinutesPerMs: 1,
  likelihood: { persistent: 1, followed: 1, oneShot: 0.2 },
  pace: 1.5,
  parkMs: { least: 2 * MINUTE, most: 60 * MINUTE },
  askedMs: 5_000,
  archiveMs: { usual: 7 * DAY, least: DAY, most: 30 * DAY },
};

/** What the policy looks at. */
export interface Kept {
  readonly persist: boolean;
  /** Instructions that came while it rested. */
  readonly followUps: number;
  /** How long it had rested before the last of them; null before the first. */
  readonly gapMs: number | null;
  readonly imageBytes: number;
  readonly deltas: number;
  /** Whether it rests until somebody decides, and nothing that it holds is dearer than a wake. */
  readonly isAsked: boolean;
}

export function keptOf(s: State): Kept {
  const { contract, residence, heap, kernel, family } = s;
  const { chain } = heap;
  return {
    persist: contract.persist,
    followUps: residence.followUps,
    gapMs: residence.gapMs,
    imageBytes: chain ? [chain.base, ...chain.deltas].reduce((sum, { bytes }) => sum + bytes, 0) : 0,
    deltas: chain?.deltas.length ?? 0,
    isAsked:
      openDecisions(s).length > 0 &&
      pendingTimers(s).length === 0 &&
      !family.children.some(isAtWork) &&
      kernel.live.length === 0,
  };
}

/** What having it back costs, and how much memory it takes meanwhile. */
export function costOf({ imageBytes, deltas }: Kept, { wake, held }: Tunables = TUNABLES) {
  const mb = imageBytes / MB;
  return {
    wakeMs: wake.ms + wake.perDelta * deltas + wake.perMb * mb,
    heldMb: Math.max(held.mb, held.unpacked * mb),
  };
}

export function likelihoodOf({ persist, followUps }: Kept, { likelihood }: Tunables = TUNABLES): number {
  if (persist) return likelihood.persistent;
  return followUps > 0 ? likelihood.followed : likelihood.oneShot;
}

/** How long it rests before its memory is given up. */
export function parkAfterMs(kept: Kept, tunables: Tunables = TUNABLES): number {
  if (kept.isAsked) return tunables.askedMs;
  const { wakeMs, heldMb } = costOf(kept, tunables);
  const worth = (likelihoodOf(kept, tunables) * wakeMs * tunables.mbMinutesPerMs * MINUTE) / heldMb;
  return within(tunables.parkMs, Math.max(worth, paced(kept, tunables.parkMs.most, tunables)));
}

/** How long it rests before it is folded to its least form. */
export function archiveAfterMs(kept: Kept, tunables: Tunables = TUNABLES): number {
  const { archiveMs } = tunables;
  const usual = likelihoodOf(kept, tunables) * archiveMs.usual;
  return within(archiveMs, Math.max(usual, paced(kept, archiveMs.most, tunables)));
}

/** R2. A pace that is slower than the longest time is none that could be kept up with. */
const paced = ({ gapMs }: Kept, most: number, { pace }: Tunables): number =>
  gapMs !== null && gapMs <= most ? pace * gapMs : 0;

const within = ({ least, most }: { least: number; most: number }, ms: number): number =>
  Math.round(Math.min(most, Math.max(least, ms)));

/** Where a session that rests is kept. What a notice still holds of a parked one, a kernel, is named by that. */
export function restsAt({ heap, workspace, activeAt, residence }: State): Residency {
  if (!heap.parked || !workspace.parked) return 'resident';
  return residence.archivedSince === activeAt ? 'archived' : 'parked';
}
