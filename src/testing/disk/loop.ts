/**
 * The torn-disk loop: one workload on record, every disk that a power cut may leave of it, each opened by the real store
 * and judged. For some of them also a second cut, in what recovery itself writes.
 */

import { type Cut, contentAfter, cuts, type Shape } from './cuts.ts';
import { judge } from './judge.ts';
import { answered } from './ledger.ts';
import type { Change } from './store.ts';
import { record, type WorkloadOptions } from './workload.ts';

export interface LoopOptions extends Omit<WorkloadOptions, 'change'> {
  /** Random cuts at each point. */
  readonly extra: number;
  /** Of the disks, each so many-th gets a second cut; 0 for none. */
  readonly pairsEach: number;
  /** One part of the work, for processes that share it. */
  readonly shard: { readonly index: number; readonly of: number };
  /** A planted bug, for the recorded lives and the recovered ones. */
  readonly change?: () => Change;
  /** Only this cut, by its number. */
  readonly only?: number;
  readonly untilFailure?: boolean;
}

export interface Failure {
  readonly number: number;
  readonly at: number;
  readonly shape: Shape | 'second cut';
  readonly findings: readonly string[];
}

export interface Totals {
  writes: number;
  syncs: number;
  checkpoints: number;
  commits: number;
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
const SECONDS = 12;

export async function tornLoop(options: LoopOptions): Promise<Outcome> {
  const { shard, extra, seed, change } = options;
  const { disk, ledger } = await record({
    ...options,
    ...(change ? { change: change() } : {}),
  } as WorkloadOptions);
  const totals: Totals = {
    ...counted(disk.ops),
    commits: ledger.commits.length,
    disks: 0,
    judged: 0,
    secondCuts: 0,
    failed: 0,
  };
  const shapes: Partial<Record<Shape, number>> = {};
  const failures: Failure[] = [];
  const all = cuts(disk, { seed, extra, acknowledged: (at) => answered(ledger, at) });
  for (const cut of all) {
    const number = totals.disks++;
    if (options.only === undefined ? number % shard.of !== shard.index : number !== options.only) continue;
    shapes[cut.shape] = (shapes[cut.shape] ?? 0) + 1;
    await one(number, cut);
    if (options.untilFailure && failures.length > 0) break;
  }
  return { totals, shapes, failures };

  async function one(number: number, cut: Cut): Promise<void> {
    const verdict = await judge(contentAfter(disk, cut), ledger, cut.at, change?.());
    totals.judged++;
    fail(number, cut.at, cut.shape, verdict.findings);
    const isPaired = options.pairsEach > 0 && Math.floor(number / shard.of) % options.pairsEach === 0;
    if (!isPaired || verdict.findings.length > 0) return;
    const seconds = [...cuts(verdict.disk, { seed: seed + number, extra: 1, acknowledged: () => 0 })].filter(
      ({ at }) => at <= verdict.openAt,
    );
    const each = Math.max(1, Math.floor(seconds.length / SECONDS));
    for (const second of seconds.filter((_, index) => index % each === number % each)) {
      const { findings } = await judge(
        contentAfter(verdict.disk, second),
        verdict.found,
        second.at,
        change?.(),
      );
      totals.secondCuts++;
      fail(number, second.at, 'second cut', findings);
    }
  }

  function fail(number: number, at: number, shape: Failure['shape'], findings: readonly string[]): void {
    if (findings.length === 0) return;
    totals.failed++;
    if (failures.length < 20) failures.push({ number, at, shape, findings });
  }
}

function counted(
  ops: readonly { readonly kind: string }[],
): Pick<Totals, 'writes' | 'syncs' | 'checkpoints'> {
  const of = (...kinds: string[]): number => ops.filter(({ kind }) => kinds.includes(kind)).length;
  return { writes: of('write', 'truncate', 'names'), syncs: of('sync', 'syncNames'), checkpoints: 0 };
}
