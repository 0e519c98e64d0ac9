/** What a run of the simulator is given, and what it leaves behind. */

import type { Sandbox } from '../../sandbox/port.ts';
import type { Verdict, Witness } from './judge.ts';
import type { Crash, Life } from './life.ts';
import type { Mutation } from './machine.ts';
import type { Meanwhile } from './meanwhile.ts';

export interface RunOptions {
  /** Where each life ends, in order; a life without an entry lives on. */
  readonly crashes?: readonly Crash[];
  /** How long nobody comes after a crash; by default until the lease has lapsed. */
  readonly downMs?: number;
  /** Where the first life freezes; it is thawed when its successor has come to rest. */
  readonly freeze?: Crash | null;
  /** The frozen life is thawed as soon as its successor holds the session, so that both work on it. */
  readonly contend?: boolean;
  /** A second worker from the beginning, beside whoever lives. */
  readonly rival?: boolean;
  /** Something that happens at a side of a boundary of the first life: another client, or the clock on the wall. */
  readonly meanwhile?: (Crash & { readonly act: Meanwhile }) | null;
  readonly mutation?: Mutation;
  readonly sandbox: () => Sandbox;
}

/** An answer that a machine has; it may have died with it. */
export interface Heard {
  readonly by: Life;
  readonly reference: string;
  readonly attempt: number;
  readonly at: number;
}

export interface Run {
  readonly verdict: Verdict;
  readonly witness: Witness;
  /** Of the first life. */
  readonly boundaries: readonly string[];
  /** Those of them at which a decision was open. */
  readonly decidable: ReadonlySet<number>;
  /** Of each life, in order. */
  readonly lives: readonly (readonly string[])[];
  readonly crashes: number;
  /** Whether what was to happen meanwhile changed anything. */
  readonly injected: boolean;
  /** What was sent meanwhile, and accepted. */
  readonly notes: readonly string[];
  /** One line per event: equal for equal seeds. */
  readonly trace: readonly string[];
}
