/**
 * One run: a job, a worker that dies at the boundary, the strategy's next life, and so on until it rests. Then the judge.
 *
 * R1  A life is dropped, not ended: nothing of it is told that it is over (`life.ts`).
 * R2  A run counts only if its fault has happened. What did not come to rest in time is stuck.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../lib/clock.ts';
import { seededEntropy } from '../lib/entropy.ts';
import type { Outlast } from '../runtime/runtime.ts';
import { type MemoryStore, memoryStore } from '../store/memory.ts';
import type { Store } from '../store/port.ts';
import { sqliteStore } from '../store/sqlite/open.ts';
import type { Step } from './agent.ts';
import { Life, type Trap } from './life.ts';
import { machine } from './machine.ts';
import { Person } from './person.ts';
import { aboutOf, logOf, type Outcome, type RunOptions, type Shelf, score, stepsOf } from './score.ts';
import { withoutFence, withoutMark } from './stores.ts';
import { waysOf } from './strategies.ts';
import { AWAY_MS, type Cell, LATE_FROM_MS, LATE_TO_MS, LEASE_MS } from './terms.ts';
import { tearing } from './torn.ts';
import { freezing, inRecovery, trapAt } from './traps.ts';
import type { Arrivals, RunWorld } from './world.ts';

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
  /** When the newest life began, and the first one after the crash. */
  private begunAt = 0;
  private recoveredAt = 0;
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
    const over = new AbortController();
    try {
      const work = this.work().then(() => false);
      const bound = systemClock.sleep(BOUND_MS, over.signal).then(() => true);
      const isStuck = await Promise.race([work, bound]);
      return await this.outcome(isStuck, await this.world.quiet());
    } finally {
      over.abort();
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
    const first = await this.begin(
      boundary === 'zombie' ? freezing(() => this.hold()) : trapAt(this.cell, this.world, () => this.drop()),
    );
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
      stage = await this.next(
        stage,
        inRecovery(() => this.bury(this.stage)),
      );
      this.recoveredAt = this.begunAt;
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
      if (afterlife !== 'log')
        await Promise.race([first.outlast.rest(first.session), systemClock.sleep(3_000)]);
      await quiet(first.life);
    }
  }

  private drop(): void {
    this.bury(this.stage);
    this.fire();
  }

  /** Once: after the thaw it may pass there again. */
  private hold(): void {
    if (this.hasFired) return;
    this.lives[0]?.freeze();
    this.fire();
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
    this.folder = mkdtempSync(join(this.options.tmp ?? tmpdir(), 'outlast-break-'));
    const [whole, torn] = [join(this.folder, 'whole'), join(this.folder, 'torn')];
    return tearing(await this.sqlite(whole), { whole, torn, share: this.random() }, () => {
      this.torn = torn;
      this.drop();
    });
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
    this.begunAt = systemClock.now();
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
    const seen = (): void => {
      if (boundary === 'surfaced' && isFirst && !life.isDead) this.drop();
    };
    void this.person.follow(stage, seen).catch(() => {});
    return stage;
  }

  private async outcome(isStuck: boolean, arrivals: Arrivals): Promise<Outcome> {
    const logs = await Promise.all(this.shelves.map(logOf));
    return score(this.options, {
      ...{ isStuck, arrivals, logs },
      hasFired: this.hasFired,
      told: this.person.told,
      calls: this.lives.reduce((sum, life) => sum + life.calls, 0),
      tokens: this.lives.reduce((sum, life) => sum + life.tokens, 0),
      crashedAt: this.crashedAt,
      begunAt: this.recoveredAt || this.begunAt,
    });
  }
}

async function quiet(life: Life): Promise<void> {
  for (let calm = 0; calm < 4; ) {
    await systemClock.sleep(15);
    calm = life.busy === 0 ? calm + 1 : 0;
  }
}
