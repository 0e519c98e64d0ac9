/**
 * One run: a job, a worker that dies at the boundary, the strategy's next life, and so on until it rests. Then the judge.
 *
 * R1  A life is dropped, not ended: nothing of it is told that it is over (`life.ts`).
 * R2  A run counts only if its fault has happened. What did not come to rest in time is stuck.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Capability } from '../core/capability.ts';
import type { Event, ForeignEvent } from '../core/event.ts';
import { decode } from '../core/upcast.ts';
import { systemClock } from '../lib/clock.ts';
import { seededEntropy } from '../lib/entropy.ts';
import type { Json } from '../lib/json.ts';
import type { Outlast } from '../runtime/runtime.ts';
import { type MemoryStore, memoryStore } from '../store/memory.ts';
import type { Store } from '../store/port.ts';
import { sqliteStore } from '../store/sqlite/open.ts';
import type { Claim, Step } from './agent.ts';
import { judge, type Verdict } from './judge.ts';
import { Life, type Trap } from './life.ts';
import { machine } from './machine.ts';
import { Person } from './person.ts';
import { withoutFence, withoutMark } from './stores.ts';
import { waysOf } from './strategies.ts';
import { AWAY_MS, type Cell, LATE_FROM_MS, LATE_TO_MS, LEASE_MS } from './terms.ts';
import { before } from './torn.ts';
import type { RunWorld } from './world.ts';

export interface RunOptions {
  readonly cell: Cell;
  readonly run: string;
  readonly seed: number;
  readonly world: RunWorld;
  readonly capability: Capability;
  readonly claims?: (text: string) => readonly Claim[];
  readonly lateMs?: number;
}

export interface Outcome {
  readonly cell: Cell;
  readonly run: string;
  readonly seed: number;
  /** R2. */
  readonly hasFired: boolean;
  readonly isStuck: boolean;
  readonly verdict: Verdict;
  /** Beyond those of a life without a crash. */
  readonly extraCalls: number;
  readonly tokens: number;
  /** From the crash to the next durable progress; null where there was none, or nothing was left to do. */
  readonly stepMs: number | null;
}

const BOUND_MS = 15_000;
const LONG_LEASE_MS = 15_000;
const NO_LEASE_MS = 1_000_000_000;

/** A worker, its session and its store. */
interface Stage {
  readonly life: Life;
  readonly outlast: Outlast;
  readonly store: Store;
  readonly session: string;
}

/** What one store was, for the judge: sessions of it, in the order in which they began. */
interface Shelf {
  readonly store: Store;
  readonly session: string;
}

export async function playRun(options: RunOptions): Promise<Outcome> {
  return new Play(options).play();
}

class Play {
  private readonly options: RunOptions;
  private readonly cell: Cell;
  private readonly world: RunWorld;
  private readonly person: Person;
  private readonly lives: Life[] = [];
  private readonly shelves: Shelf[] = [];
  private readonly random: () => number;
  private readonly fired: Promise<void>;
  private fire: () => void = () => {};
  private hasFired = false;
  private crashedAt = 0;
  private folder: string | null = null;
  private torn: string | null = null;
  private readonly opened: Store[] = [];
  private stage: Stage | undefined;

  constructor(options: RunOptions) {
    this.options = options;
    this.cell = options.cell;
    this.world = options.world;
    this.random = seededEntropy(options.seed).next;
    this.fired = new Promise((resolve) => {
      this.fire = resolve;
    });
    const { lateMs } = options;
    this.person = new Person({
      entries: () => this.world.entries(),
      about: aboutOf(this.world),
      ...(lateMs === undefined ? {} : { lateMs }),
    });
  }

  async play(): Promise<Outcome> {
    let isStuck = true;
    let isQuiet = true;
    try {
      const work = this.work().then(() => true);
      isStuck = !(await Promise.race([work, systemClock.sleep(BOUND_MS).then(() => false)]));
      isQuiet = await this.world.quiet();
      return await this.outcome(isStuck, isQuiet);
    } finally {
      for (const life of this.lives) life.die();
      await this.world.close();
      for (const store of this.opened) await store.close();
      if (this.folder) rmSync(this.folder, { recursive: true, force: true });
    }
  }

  private async work(): Promise<void> {
    const { boundary, strategy, variant } = this.cell;
    const { afterlife } = waysOf(strategy);
    await this.world.arm(boundary, LATE_FROM_MS + this.random() * (LATE_TO_MS - LATE_FROM_MS));
    const first = await this.begin(this.trapOfFirst());
    if (boundary === 'clean') {
      this.hasFired = true;
      return this.person.attend(first);
    }
    await Promise.race([this.fired, this.world.seen() ?? this.fired]);
    if (boundary === 'cancel') await first.outlast.stop(first.session, { waitMs: 0 });
    this.hasFired = true;
    this.crashedAt = systemClock.now();
    if (boundary !== 'zombie') this.bury(first);
    if (variant === 'long') await systemClock.sleep(AWAY_MS);

    let stage = first;
    if (boundary === 'recovery') {
      stage = await this.next(stage, { ...DYING_IN_RECOVERY(() => this.bury(stage)) });
      await Promise.race([stage.life.ended, this.person.attend(stage)]);
      this.bury(stage);
    }
    stage = await this.next(stage);
    await this.person.attend(stage);
    if (boundary === 'cancel' && afterlife === 'log') {
      await stage.outlast.reopen(stage.session);
      await this.person.attend(stage);
      await stage.outlast.send(stage.session, 'Finish what is not done, and say what became of it.');
      await this.person.attend(stage);
    }
    if (boundary === 'zombie') {
      first.life.thaw();
      if (afterlife !== 'log') await Promise.race([first.outlast.rest(first.session), systemClock.sleep(3_000)]);
      await quiet(first.life);
    }
  }

  /** Where the first life ends by what it does itself; the outside tells of the other boundaries. */
  private trapOfFirst(): Trap {
    const here = (): void => {
      this.bury(this.stage);
      this.fire();
    };
    const has =
      (...kinds: readonly string[]) =>
      ({ events }: { events: readonly { kind: string }[] }): boolean =>
        events.some(({ kind }) => kinds.includes(kind));
    const when = (holds: boolean): void => (holds ? here() : undefined);
    switch (this.cell.boundary) {
      case 'before-intent':
        return { before: (commit) => when(has('effect.intended')(commit)) };
      case 'intent':
        return { after: (commit) => when(has('effect.intended')(commit)) };
      case 'unsaved':
        return { answered: here };
      case 'receipt': {
        const wanted = this.cell.variant === 'two' ? 1 : this.world.calls.length;
        let settled = 0;
        return {
          after(commit) {
            settled += commit.events.filter(({ kind }) => kind === 'effect.settled').length;
            if (settled >= wanted) here();
          },
        };
      }
      case 'told':
        return { replied: ({ finish }) => when(finish === 'stop') };
      case 'answer':
        return { after: (commit) => when(has('response.surfaced')(commit)) };
      case 'zombie':
        return {
          after: (commit) => {
            if (!has('effect.dispatched')(commit) || this.hasFired) return;
            this.lives[0]?.freeze();
            this.fire();
          },
        };
      case 'torn': {
        let tear: ((share: number) => boolean) | null = null;
        return {
          before: (commit) => {
            if (!has('effect.settled')(commit) || this.torn || !this.folder) return;
            this.torn = join(this.folder, 'torn');
            tear = before(join(this.folder, 'first'), this.torn);
          },
          after: () => {
            if (tear?.(this.random())) here();
            tear = null;
          },
        };
      }
      default:
        return {};
    }
  }

  /** R1. And whoever watches the workers says that it is dead, so that nobody waits for its lease. */
  private bury(stage: Stage | undefined): void {
    const life = stage?.life ?? this.lives.at(-1);
    life?.die();
    const store = stage?.store ?? this.shelves.at(-1)?.store;
    if (store && 'bury' in store) (store as MemoryStore).bury();
  }

  private async next(stage: Stage, trap: Trap = {}): Promise<Stage> {
    const { afterlife } = waysOf(this.cell.strategy);
    if (afterlife === 'nothing') return this.begin(trap);
    const { session } = stage;
    let { store } = stage;
    if (this.torn) {
      store = await this.sqlite(this.torn);
      this.torn = null;
      this.shelves.splice(0, this.shelves.length, { store, session });
    }
    if (afterlife === 'transcript') return this.begin(trap, stepsOf(await logOf({ store, session })));
    return this.seat(new Life(trap), store, session);
  }

  /** A new session, in a store of its own. */
  private async begin(trap: Trap, before: readonly Step[] = []): Promise<Stage> {
    const life = new Life(trap);
    const store = await this.newStore();
    const { calls, together, message } = this.world;
    return this.seat(life, store, null, message({ calls, together, before }));
  }

  private async newStore(): Promise<Store> {
    if (this.cell.boundary !== 'torn' || this.lives.length > 0) return memoryStore(systemClock);
    this.folder = mkdtempSync(join(tmpdir(), 'outlast-break-'));
    return this.sqlite(join(this.folder, 'first'));
  }

  private async sqlite(dir: string): Promise<Store> {
    const store = await sqliteStore({ dir });
    this.opened.push(store);
    return store;
  }

  private async seat(life: Life, store: Store, known: string | null, message = ''): Promise<Stage> {
    const { boundary, strategy } = this.cell;
    const { afterlife, marks, fences, recast } = waysOf(strategy);
    const isFreezing = boundary === 'zombie' && this.lives.length === 0;
    this.lives.push(life);
    const leaseMs = isFreezing ? LEASE_MS : LONG_LEASE_MS;
    const marked = marks ? store : withoutMark(store);
    const outlast = machine(life, {
      store: fences ? marked : withoutFence(marked, leaseMs),
      tools: this.world.tools().map(recast),
      model: this.world.model,
      holder: `${this.options.run}.${this.lives.length}`,
      leaseMs: !fences || (isFreezing && afterlife !== 'log') ? NO_LEASE_MS : leaseMs,
    });
    // Known before the first step: a trap may spring while the start returns.
    if (known !== null) this.stage = { life, outlast, store, session: known };
    else this.stage = undefined;
    if (known === null) this.shelves.push({ store, session: '' });
    const session = known ?? (await outlast.start({ message, persist: true })).session;
    if (known === null) this.shelves.splice(-1, 1, { store, session });
    const stage: Stage = { life, outlast, store, session };
    this.stage = stage;
    const isFirst = this.lives.length === 1;
    void this.person
      .follow(stage, () => {
        if (boundary !== 'surfaced' || !isFirst || life.isDead) return;
        this.bury(stage);
        this.fire();
      })
      .catch(() => {});
    return stage;
  }

  private async outcome(isStuck: boolean, isQuiet: boolean): Promise<Outcome> {
    const { cell, run, seed, capability, claims } = this.options;
    const logs = await Promise.all(this.shelves.map(logOf));
    const verdict = judge({
      wanted: wantedOf(this.world),
      entries: await this.world.entries(),
      told: this.person.told,
      logs,
      about: aboutOf(this.world),
      capability,
      ...(claims ? { claims } : {}),
    });
    const calls = this.lives.reduce((sum, life) => sum + life.calls, 0);
    return {
      ...{ cell, run, seed, isStuck, verdict },
      hasFired: this.hasFired && isQuiet,
      extraCalls: calls - fewestCalls(this.cell, this.world),
      tokens: this.lives.reduce((sum, life) => sum + life.tokens, 0),
      stepMs: this.crashedAt === 0 ? null : progressAfter(logs.flat(), this.crashedAt),
    };
  }
}

/** Once the answer of its first contact with the outside is there, or once a person is to be asked. */
const DYING_IN_RECOVERY = (die: () => void): Trap => ({
  answered: die,
  after({ events }) {
    if (events.some(({ kind }) => kind === 'decision.requested')) die();
  },
});

async function logOf({ store, session }: Shelf): Promise<readonly (Event | ForeignEvent)[]> {
  if (session === '') return [];
  return (await store.read(session as Parameters<Store['read']>[0], 0, 10_000)).map(decode);
}

/** What a transcript has: calls with their results. One without is left out, or a provider would refuse it. */
function stepsOf(log: readonly (Event | ForeignEvent)[]): readonly Step[] {
  const calls = new Map<string, Pick<Step, 'tool' | 'args'>>();
  return log.flatMap((event): readonly Step[] => {
    if (event.kind === 'effect.intended') calls.set(event.effect, event);
    if (event.kind !== 'effect.settled' || event.outcome.status === 'unknown') return [];
    const call = calls.get(event.effect);
    return call ? [{ tool: call.tool, args: call.args, status: event.outcome.status }] : [];
  });
}

const aboutOf =
  ({ calls }: RunWorld) =>
  (args: Json): readonly string[] =>
    calls.find((call) => JSON.stringify(call.args) === JSON.stringify(args))?.what ?? [];

function wantedOf({ calls }: RunWorld): ReadonlyMap<string, number> {
  const wanted = new Map<string, number>();
  for (const what of calls.flatMap((call) => call.what)) wanted.set(what, (wanted.get(what) ?? 0) + 1);
  return wanted;
}

/** A model call for each round of calls, one to answer, and one when somebody asks again. */
const fewestCalls = ({ boundary }: Cell, { calls, together }: RunWorld): number =>
  (together ? 1 : calls.length) + 1 + (boundary === 'cancel' ? 1 : 0);

function progressAfter(log: readonly (Event | ForeignEvent)[], since: number): number | null {
  const steps = log.filter(
    (event) =>
      event.at >= since &&
      (event.kind === 'model.completed' ||
        (event.kind === 'effect.settled' && event.outcome.status !== 'unknown') ||
        (event.kind === 'effect.reconciled' && event.finding.status !== 'unclear')),
  );
  return steps.length === 0 ? null : Math.min(...steps.map(({ at }) => at)) - since;
}

async function quiet(life: Life): Promise<void> {
  for (let calm = 0; calm < 4; ) {
    await systemClock.sleep(15);
    calm = life.busy === 0 ? calm + 1 : 0;
  }
}
