/**
 * One run of one scenario: lives follow each other over the same store, world and clock, until the acts are done and
 * the session rests. The judge then says what it thinks of it.
 */

import { OutlastError } from '../../core/error.ts';
import { seededEntropy } from '../../lib/entropy.ts';
import { type Bell, localBell } from '../../loop/bell.ts';
import type { Prices } from '../../models/port.ts';
import type { Outlast } from '../../runtime/runtime.ts';
import type { Sandbox } from '../../sandbox/port.ts';
import { memoryStore } from '../../store/memory.ts';
import type { Store } from '../../store/port.ts';
import { lent } from '../inline-sandbox.ts';
import { quiet } from '../quiet.ts';
import { type VirtualClock, virtualClock } from '../virtual-clock.ts';
import { forkable } from './branch.ts';
import { heeded } from './heard.ts';
import { described } from './judge.ts';
import { type Crash, type Life, life } from './life.ts';
import { LEASE_MS, type Mutation, machine } from './machine.ts';
import { type Meanwhile, Other } from './meanwhile.ts';
import { Person, patiently } from './person.ts';
import { chargeOf } from './reply.ts';
import { rotting } from './rot.ts';
import type { Scenario } from './scenario.ts';
import type { Verdict } from './verdict.ts';
import { OWNER, Watch } from './watch.ts';
import type { Witness } from './witness.ts';
import { ALLOW_ALL, type World, world } from './world.ts';

export interface RunOptions {
  /** Where each life ends, in order; a life without an entry lives on. */
  readonly crashes?: readonly Crash[];
  /** How long nobody comes after a crash; by default until the lease has lapsed. */
  readonly downMs?: number;
  /** Where the first life freezes; it is thawed when its successor has come to rest. */
  readonly freeze?: Crash | null;
  /** It is thawed before that, so that both work on it: once its successor holds the session, or has sent something. */
  readonly thaws?: 'held' | 'sent';
  /** A second worker from the beginning, beside whoever lives. */
  readonly rival?: boolean;
  /** Something that happens at a side of a boundary of the first life: another client, or the clock on the wall. */
  readonly meanwhile?: (Crash & { readonly act: Meanwhile }) | null;
  /** By how much the next commit is late on its way to the store; it may come when its machine is dead. */
  readonly lateMs?: () => number;
  /** Everything that the person sends arrives twice. */
  readonly isRepeated?: boolean;
  readonly mutation?: Mutation;
  readonly sandbox: () => Sandbox;
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

const UNPRICED: Prices = { price: async () => null };
/** Looks for rest after the last act: at what came in last, and at what a crash left. */
const LOOKS = 4;
/** Virtual time after which a session that works on is stuck; on top of the longest wait of the scenario. */
const BOUND_MS = 6 * 3_600_000;
/** Boundaries that are crossed while the clock stands still, before that counts as going round in circles. */
const CIRCLES = 1_000;

export async function run(scenario: Scenario, options: RunOptions): Promise<Run> {
  const clock = virtualClock();
  const outside = world(clock);
  scenario.prepare?.(outside);
  const disk = scenario.rots ? rotting(memoryStore(clock), outside.rotten) : memoryStore(clock);
  const store = options.mutation?.store?.(disk) ?? disk;
  if (scenario.owner) await store.setBudget(OWNER, scenario.owner);
  const sandbox = lent(options.sandbox());
  try {
    return await new Simulation(
      scenario,
      { ...options, sandbox: () => sandbox },
      clock,
      outside,
      store,
    ).play();
  } finally {
    await sandbox.close();
  }
}

class Simulation {
  private readonly scenario: Scenario;
  private readonly options: RunOptions;
  private readonly clock: VirtualClock;
  private readonly world: World;
  private readonly store: Store;
  private readonly watch: Watch;
  private readonly other: Other;
  private readonly person: Person;
  private readonly entropy = seededEntropy(7);
  private readonly lives: Life[] = [];
  /** Everybody who may be at work: the lives, and the rival beside them. */
  private readonly workers: Life[] = [];
  private current!: { readonly life: Life; readonly api: Outlast };
  private crashes = 0;
  private openDecisions = 0;
  private readonly decidable = new Set<number>();
  /** Of the first life. */
  private bell: Bell = localBell();

  constructor(scenario: Scenario, options: RunOptions, clock: VirtualClock, outside: World, store: Store) {
    this.scenario = scenario;
    this.options = options;
    this.clock = clock;
    this.world = outside;
    this.store = this.watched(store);
    this.watch = new Watch({ scenario, clock, world: outside, store: this.store });
    const { watch } = this;
    const act = options.meanwhile?.act ?? null;
    this.other = new Other({ act, scenario, clock, world: outside, watch, sandbox: options.sandbox });
    const { isRepeated = false } = options;
    this.person = new Person({ scenario, clock, world: outside, watch, other: this.other, isRepeated });
  }

  /** Knows at every boundary whether a person is asked something, without a look of its own. */
  private watched(store: Store): Store {
    return {
      ...store,
      commit: async (commit) => {
        const lateMs = this.options.lateMs?.() ?? 0;
        if (lateMs > 0) await this.clock.sleep(lateMs);
        if (this.other.isStoreDown) throw new OutlastError('store.failed', 'The store takes nothing.');
        // What it takes with it is judged before.
        if (commit.erases) await this.watch.look();
        const result = await store.commit(commit);
        const { session } = this.watch;
        const isIt = commit.session === (session ?? commit.session);
        if (result.status === 'committed' && isIt) this.openDecisions = commit.summary.openDecisions;
        return result;
      },
    };
  }

  async play(): Promise<Run> {
    const { scenario, options, watch, other, person } = this;
    if (options.rival) this.startRival();
    this.current = this.live();
    const first = this.current.life;
    const stuck: string[] = [];
    for (const [index, act] of scenario.acts.entries()) {
      if (await this.through((api) => person.perform(api, act, `act-${index}`))) continue;
      stuck.push(`act ${index} (${act.do}) did not come to rest: ${described(watch.witness.state)}`);
      break;
    }
    // The looks below are the judge's own; nothing is counted there.
    const lives = this.lives.map((one) => one.boundaries.slice());
    if (first.frozen) await this.thaw(first);
    // What came in last, from another client or from the thawed machine, is still to be worked on.
    if (other.changesCourse) await this.through((api) => person.takeUpAgain(api));
    const { session } = watch;
    for (let look = 0; look < LOOKS && session && stuck.length === 0; look++) {
      if (!(await this.through((api) => person.restAll(api, session))))
        stuck.push(`it did not come to rest at the end: ${described(watch.witness.state)}`);
    }
    const { branch } = watch;
    if (branch && stuck.length === 0 && !(await this.through((api) => person.speakTo(api, branch))))
      stuck.push('the fork did not come to rest');
    for (const worker of this.workers) worker.end();
    const verdict = await watch.verdict(stuck, other.changesCourse);
    const { witness, trace } = watch;
    const { crashes, decidable } = this;
    const { hasActed: injected, notes } = other;
    return {
      ...{ verdict, witness, trace, crashes, decidable, injected, notes },
      ...{ boundaries: lives[0] ?? [], lives },
    };
  }

  // ── lives ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** Another worker on the same store, that only looks for what is due. */
  private startRival(): void {
    const other = life({ clock: this.clock, circles: CIRCLES });
    this.workers.push(other);
    this.runtimeOf(other, 'rival');
  }

  private live(): { life: Life; api: Outlast } {
    const crash = this.options.crashes?.[this.crashes] ?? null;
    const first = this.crashes === 0;
    const { meanwhile } = this.options;
    const current = life({
      clock: this.clock,
      circles: CIRCLES,
      crash,
      freeze: first ? (this.options.freeze ?? null) : null,
      at: (boundary, side) => {
        if (first && this.openDecisions > 0) this.decidable.add(boundary);
        const isIt = first && meanwhile?.boundary === boundary && meanwhile.side === side;
        return isIt ? this.other.act(this.store, this.bell) : undefined;
      },
    });
    this.lives.push(current);
    this.workers.push(current);
    return { life: current, api: this.runtimeOf(current, `worker-${this.crashes + 1}`) };
  }

  private runtimeOf(current: Life, holder: string): Outlast {
    const { clock, world: outside, scenario, watch, store, entropy, other } = this;
    const { mutation = {}, sandbox } = this.options;
    const bell = localBell();
    if (current === this.lives[0]) this.bell = bell;
    const { workspaces, kernels } = outside;
    const kernel = scenario.hasKernels ? kernels : null;
    const offered = [...outside.tools(), ...(kernel ? [kernel.tool] : []), ...(scenario.tools ?? [])];
    const tools = offered.map((tool) => {
      const port = current.port(tool.spec.name, mutation.tool?.(tool) ?? tool);
      return heeded(current, port, () => clock.monotonic(), watch.heard);
    });
    const report = (line: string, cause?: unknown): void => {
      if (!current.dead) watch.trace.push(`report ${line} ${cause instanceof Error ? cause.message : ''}`);
    };
    return machine(current, {
      ...{ holder, bell, tools, mutation, report, store, clock, entropy, sandbox: sandbox() },
      ...{ workspaces, processes: kernel?.processes },
      reply: forkable(scenario.reply),
      policy: scenario.policy ?? ALLOW_ALL,
      sweepMs: scenario.sweepMs,
      limits: scenario.limits,
      prices: scenario.prices ?? UNPRICED,
      failing: () => (current === this.lives[0] ? other.takeFailure() : null),
      charge: (usage) => {
        outside.charged += chargeOf(usage);
      },
    });
  }

  /** The life is over: its lease lapses, and a new runtime finds what the store has. */
  private next(): { life: Life; api: Outlast } {
    this.crashes++;
    this.options.mutation?.crashed?.();
    this.clock.elapse(this.options.downMs ?? LEASE_MS + 1);
    return this.live();
  }

  // ── time ──────────────────────────────────────────────────────────────────────────────────────────────────

  /** Does it, in the life that is and in those that follow it. False when it does not come to its end. */
  private async through(work: (api: Outlast) => Promise<void>): Promise<boolean> {
    for (;;) {
      const { life: current, api } = this.current;
      const outcome = await this.until(current, () => patiently(this.clock, () => work(api)));
      if (outcome !== 'crashed') return outcome === 'done';
      this.current = this.next();
    }
  }

  /** Runs real turns and virtual time until `work` is done, the life is over, or time is up. */
  private async until(current: Life, work: () => Promise<void>): Promise<'done' | 'crashed' | 'stuck'> {
    let outcome: 'done' | null = null;
    let failure: unknown = null;
    work().then(
      () => {
        outcome = 'done';
      },
      (error: unknown) => {
        failure = error;
      },
    );
    const end = this.clock.now() + BOUND_MS + Math.max(...this.scenario.acts.map(({ ms = 0 }) => ms));
    const [first] = this.lives;
    for (;;) {
      const isCalm = await quiet(this.workers);
      await this.watch.look();
      // A log that is broken need not be followed to its end.
      if (!isCalm || this.watch.witness.broken.length > 20) return 'stuck';
      if (first?.frozen && current !== first && this.isTimeToThaw(current)) this.awaken(first);
      if (failure) throw failure;
      if (outcome) return outcome;
      if (current.dead || current.frozen) return 'crashed';
      if (this.clock.now() > end || !this.clock.advance()) return 'stuck';
    }
  }

  private isTimeToThaw({ boundaries }: Life): boolean {
    const { thaws } = this.options;
    if (thaws === 'held') return boundaries.includes('store.acquire');
    return thaws === 'sent' && boundaries.some((at) => at.endsWith('.run'));
  }

  /** The machine goes on as if nothing had been, beside its successor. Whatever it does now must change nothing. */
  private async thaw(first: Life): Promise<void> {
    this.awaken(first);
    const end = this.clock.now() + 2 * LEASE_MS;
    while (this.clock.now() < end && this.clock.advance()) {
      await quiet(this.workers);
      // Somebody else may still be at work: what they say is held against the books of that moment.
      await this.watch.look();
    }
  }

  private awaken(first: Life): void {
    this.watch.thawedAt = this.clock.monotonic();
    first.thaw();
  }
}
