/**
 * The torn-disk loop: one workload on record, every disk that a power cut may leave of it, each opened by the real store
 * and judged. For some of them also a second cut, in what recovery itself writes.
 */

import { seededEntropy } from '../../lib/entropy.ts';
import type { Shard } from '../shards.ts';
import { type Cut, contentAfter, cuts, type Shape } from './cuts.ts';
import type { Op } from './disk.ts';
import { judge } from './judge.ts';
import { answered } from './ledger.ts';
import type { Change } from './store.ts';
import { record, type Workload } from './workload.ts';

export interface LoopOptions extends Workload {
  /** Random cuts at each point. */
  readonly extra: number;
  /** Each so many-th disk is judged; 1 for all. */
  readonly every: number;
  /** Each so many-th of those gets a second cut, at some places; 0 for none. */
  readonly pairsEach: number;
  /** One part of the work, for the processes that share it. */
  readonly shard: Shard;
  /** Only this disk, by its number. */
  readonly only?: number;
  /** A planted bug in the recorded lives; the loop ends when it is found. */
  readonly mutant?: () => Change;
}

export interface Failure {
  /** Of the disk, for repeating it. */
  readonly number: number;
  /** How many operations came before the cut. */
  readonly at: number;
  readonly shape: Shape | 'second cut';
  readonly findings: readonly string[];
}

export interface Totals {
  writes: number;
  syncs: number;
  /** How often a write-ahead log began anew. */
  logs: number;
  commits: number;
  /** Entries in the owner's books, and batches of the indexes of words. */
  entries: number;
  batches: number;
  /** Those of them that erased a session. */
  erased: number;
  /** Different disks that a cut may leave. */
  disks: number;
  /** Those that were opened and judged. */
  judged: number;
  secondCuts: number;
  failed: number;
}

export interface Outcome {
  readonly totals: Totals;
  readonly shapes: Readonly<Partial<Record<Shape, number>>>;
  readonly failures: readonly Failure[];
}

/** Second cuts that are judged of one recovery. */
const SECONDS = 6;
const KEPT_FAILURES = 20;

/** Disks in which a planted bug must show. */
const PATIENCE = 1500;

export async function tornLoop(options: LoopOptions): Promise<Outcome> {
  const { seed, extra, every, shard, only, mutant } = options;
  const { disk, ledger } = await record(options, mutant);
  const all = [...cuts(disk, { seed, extra, acknowledged: (at) => answered(ledger, at) })];
  const { commits, entries, batches } = ledger;
  const erased = commits.filter(({ commit }) => commit.erases).length;
  const asked = { commits: commits.length, erased, entries: entries.length, batches: batches.length };
  const totals = { ...counted(disk.ops), ...asked, disks: all.length };
  const done = { judged: 0, secondCuts: 0, failed: 0 };
  const shapes: Partial<Record<Shape, number>> = {};
  const failures: Failure[] = [];

  for (const number of chosen()) {
    const cut = all[number] as Cut;
    shapes[cut.shape] = (shapes[cut.shape] ?? 0) + 1;
    await one(number, cut);
    if (mutant && (failures.length > 0 || done.judged === PATIENCE)) break;
  }
  return { totals: { ...totals, ...done }, shapes, failures };

  /**
   * A planted bug is looked for all over the record, not from its beginning; first where only later writes are there,
   * since that is what a missing flush allows.
   */
  function chosen(): readonly number[] {
    if (only !== undefined) return all[only] ? [only] : [];
    const numbers = all.map((_, number) => number);
    if (mutant) {
      const isLater = (number: number): boolean => all[number]?.shape === 'later only';
      const mixed = shuffled(numbers, seed);
      return [...mixed.filter(isLater), ...mixed.filter((number) => !isLater(number))];
    }
    return numbers.filter((number) => number % every === 0 && (number / every) % shard.of === shard.index);
  }

  async function one(number: number, cut: Cut): Promise<void> {
    const verdict = await judge(contentAfter(disk, cut), ledger, cut.at);
    done.judged++;
    tell(number, cut, cut.shape, verdict.findings);
    const isPaired = !mutant && options.pairsEach > 0 && Math.floor(number / every) % options.pairsEach === 0;
    if (!isPaired || verdict.findings.length > 0) return;
    const seconds = [...cuts(verdict.disk, { seed, extra: 1, acknowledged: () => 0, to: verdict.openAt })];
    for (const index of shuffled(seconds, seed + number).slice(0, SECONDS)) {
      const { findings } = await judge(contentAfter(verdict.disk, index), verdict.found, index.at);
      done.secondCuts++;
      tell(number, index, 'second cut', findings);
    }
  }

  function tell(number: number, { at }: Cut, shape: Failure['shape'], findings: readonly string[]): void {
    if (findings.length === 0) return;
    done.failed++;
    if (failures.length < KEPT_FAILURES) failures.push({ number, at, shape, findings });
  }
}

function shuffled<T>(items: readonly T[], seed: number): readonly T[] {
  const { next } = seededEntropy(seed);
  return items
    .map((item) => ({ item, place: next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

function counted(ops: readonly Op[]): Pick<Totals, 'writes' | 'syncs' | 'logs'> {
  const syncs = ops.filter(({ kind }) => kind === 'sync' || kind === 'syncNames').length;
  return { writes: ops.length - syncs, syncs, logs: ops.filter(isLogHeader).length };
}

/** 32 bytes that begin with the magic number of write-ahead logs, in either byte order of checksums. */
function isLogHeader(op: Op): boolean {
  if (op.kind !== 'write' || op.at !== 0 || op.bytes.length !== 32) return false;
  return (Buffer.from(op.bytes).readUInt32BE(0) | 1) === 0x377f0683;
}
