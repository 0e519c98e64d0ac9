/**
 * One run of one scenario: lives follow each other over the same store, world and clock, until the acts are done and
 * the session rests. The judge then says what it thinks of it.
 */

import { setImmediate as realTurn } from 'node:timers/promises';
import type { Budget } from '../../core/budget.ts';
import { OutlastError } from '../../core/error.ts';
import type { Owner, SessionId } from '../../core/ids.ts';
import { decode } from '../../core/upcast.ts';
import { seededEntropy } from '../../lib/entropy.ts';
import type { Prices } from '../../models/port.ts';
import { localBell } from '../../runtime/bell.ts';
import { appendInput } from '../../runtime/input.ts';
import { registry } from '../../runtime/registry.ts';
import type { Outlast } from '../../runtime/runtime.ts';
import { memoryStore } from '../../store/memory.ts';
import type { Store } from '../../store/port.ts';
import { type VirtualClock, virtualClock } from '../virtual-clock.ts';
import { Branch, branchOff, FORKED, forkable, seenBy } from './branch.ts';
import { askedInVain, type Heard, heeded } from './heard.ts';
import {
  asksAboutEffect,
  described,
  fewestQuestions,
  judgeBooks,
  judgeLedger,
  judgeMoney,
  untrueEnd,
  type Verdict,
  Witness,
} from './judge.ts';
import { type Life, life } from './life.ts';
import { machine } from './machine.ts';
import { commandOf, isUrgent, type Meanwhile, type OfAnother } from './meanwhile.ts';
import { personOf } from './person.ts';
import { type Act, chargeOf, LEASE_MS, NOTE, type Scenario } from './scenarios.ts';
import type { Run, RunOptions } from './trial.ts';
import { ALLOW_ALL, type World, world } from './world.ts';

/** A small heap: the simulator makes thousands. */
const LIMITS = { heapMb: 8 };
const OWNER = 'local' as Owner;
const UNPRICED: Prices = { price: async () => null };
/** Looks for rest after the last act: at what came in last, and at what a crash left. */
const LOOKS = 4;
const TOO_LATE: ReadonlySet<string> = new Set(['decision.closed', 'decision.expired']);
/** Virtual time after which a session that works on is stuck. */
const BOUND_MS = 6 * 3_600_000;
/** Boundaries that are crossed while the clock stands still, before that counts as going round in circles. */
const CIRCLES = 500;

export async function run(scenario: Scenario, options: RunOptions): Promise<Run> {
  const clock = virtualClock();
  const outside = world(clock);
  scenario.prepare?.(outside);
  const store = options.mutation?.store?.(memoryStore(clock)) ?? memoryStore(clock);
  if (scenario.owner) await store.setBudget(OWNER, scenario.owner);
  return new Simulation(scenario, options, clock, outside, store).play();
}

class Simulation {
  private readonly scenario: Scenario;
  private readonly options: RunOptions;
  private readonly clock: VirtualClock;
  private readonly world: World;
  private readonly store: Store;
  private readonly witness: Witness;
  private readonly entropy = seededEntropy(7);
  private readonly trace: string[] = [];
  private session: SessionId | null = null;
  private branch: Branch | null = null;
  private readonly lives: Life[] = [];
  /** Everybody who may be at work: the lives, and the rival beside them. */
  private readonly workers: Life[] = [];
  private crashes = 0;
  private readonly events: ReturnType<typeof decode>[] = [];
  private questions = 0;
  private seen = 0;
  private injected: Promise<unknown> | null = null;
  private hasInjected = false;
  private openDecisions = 0;
  private downUntil = 0;
  private readonly notes: string[] = [];
  /** Answers that reached a machine, in the order in which they came. */
  private readonly heard: Heard[] = [];
  private thawedAt = 0;
  /** Of the first life. */
  private bell = localBell();
  private readonly decidable = new Set<number>();
  private looking: Promise<void> = Promise.resolve();

  constructor(scenario: Scenario, options: RunOptions, clock: VirtualClock, outside: World, store: Store) {
    this.scenario = scenario;
    this.options = options;
    this.clock = clock;
    this.world = outside;
    this.store = this.watched(store);
    this.witness = new Witness(seenBy(outside, (reference) => !this.isOfFork(reference)));
  }

  private isOfFork(reference: string): boolean {
    return this.branch !== null && reference.startsWith(`${this.branch.session}.`);
  }

  /** Knows at every boundary whether a person is asked something, without a look of its own. */
  private watched(store: Store): Store {
    return {
      ...store,
      commit: async (commit) => {
        if (this.clock.monotonic() < this.downUntil) {
          throw new OutlastError('store.failed', 'The store takes nothing.');
        }
        const result = await store.commit(commit);
        const isIt = commit.session === (this.session ?? commit.session);
        if (result.status === 'committed' && isIt) this.openDecisions = commit.summary.openDecisions;
        return result;
      },
    };
  }

  async play(): Promise<Run> {
    if (this.options.rival) this.startRival();
    let { life: current, api } = this.live();
    const first = current;
    const stuck: string[] = [];
    for (const [index, act] of this.scenario.acts.entries()) {
      for (;;) {
        const outcome = await this.until(current, () =>
          this.patiently(() => this.perform(api, act, `act-${index}`)),
        );
        if (outcome === 'done') break;
        if (outcome === 'stuck') {
          stuck.push(`act ${index} (${act.do}) did not come to rest: ${described(this.witness.state)}`);
          break;
        }
        ({ life: current, api } = this.next());
      }
      if (stuck.length > 0) break;
    }
    // The looks below are the judge's own; nothing is counted there.
    const lives = this.lives.map((life) => life.boundaries.slice());
    if (first.frozen) await this.thaw(first);
    // What came in last, from another client or from the thawed machine, is still to be worked on.
    const session = this.session;
    if (this.changesCourse) {
      while ((await this.until(current, () => this.takeUpAgain(api))) === 'crashed')
        ({ life: current, api } = this.next());
    }
    for (let look = 0; look < LOOKS && session && stuck.length === 0; ) {
      const outcome = await this.until(current, () =>
        this.patiently(() => this.restWithPerson(api, session)),
      );
      // What ended with its machine was no look; there are no more crashes than were asked for.
      if (outcome === 'crashed') ({ life: current, api } = this.next());
      else look++;
      if (outcome === 'stuck')
        stuck.push(`it did not come to rest at the end: ${described(this.witness.state)}`);
    }
    while (this.branch && stuck.length === 0) {
      const { branch } = this;
      const outcome = await this.until(current, () => this.patiently(() => this.speakTo(api, branch)));
      if (outcome === 'done') break;
      if (outcome === 'crashed') ({ life: current, api } = this.next());
      else stuck.push('the fork did not come to rest');
    }
    for (const worker of this.workers) worker.end();
    await this.witnessLog();
    const wanted = { ...this.scenario.wanted, ...(this.branch?.isSpokenTo ? this.branch.wanted : {}) };
    const { duplicates, lost } = judgeBooks({ ...this.scenario, wanted }, this.world);
    const fork = this.branch && session ? await this.branch.findings(session, this.store) : null;
    const verdict: Verdict = {
      duplicates,
      // What was stopped or interrupted need not have been done; what was told of it is true all the same.
      lost: this.changesCourse ? [] : lost,
      untrue: [
        ...this.witness.untrue,
        ...judgeLedger(
          this.witness.state,
          seenBy(this.world, (reference) => !this.isOfFork(reference)),
        ),
        ...(this.changesCourse ? [] : untrueEnd(this.scenario, this.witness.state)),
        ...(fork?.untrue ?? []),
      ],
      stuck,
      broken: [...this.witness.broken, ...(fork?.broken ?? [])],
      questions: this.questions + (this.branch?.questions.asked ?? 0),
      questionsMinimum: fewestQuestions(this.events) + (this.branch?.questions.fewest ?? 0),
    };
    const { trace, witness, crashes, hasInjected: injected, decidable, notes } = this;
    return {
      verdict,
      witness,
      boundaries: lives[0] ?? [],
      decidable,
      lives,
      crashes,
      injected,
      notes,
      trace,
    };
  }

  /** A person who stops, interrupts or breaks in wants another course than that of the clean run. */
  private get changesCourse(): boolean {
    const act = this.options.meanwhile?.act;
    return act?.do === 'stop' || act?.do === 'interrupt' || (act?.do === 'send' && isUrgent(act));
  }

  /** After a stop or an interruption: the session is there, with all that it knows. */
  private async takeUpAgain(api: Outlast): Promise<void> {
    const id = this.session;
    if (!id || !this.hasInjected) return;
    await this.patiently(async () => {
      await this.restWithPerson(api, id);
      await api.reopen(id);
      await api.send(id, `${NOTE} are you there?`, { key: 'again' });
      await this.restWithPerson(api, id);
    });
  }

  /** Another worker on the same store, that only looks for what is due. */
  private startRival(): void {
    const other = life({ clock: this.clock });
    this.workers.push(other);
    this.runtimeOf(other, 'rival');
  }

  private live(): { life: Life; api: Outlast } {
    const crash = this.options.crashes?.[this.crashes] ?? null;
    const first = this.crashes === 0;
    const { meanwhile } = this.options;
    const current = life({
      clock: this.clock,
      crash,
      freeze: first ? (this.options.freeze ?? null) : null,
      at: (boundary, side) => {
        if (first && this.openDecisions > 0) this.decidable.add(boundary);
        if (first && meanwhile?.boundary === boundary && meanwhile.side === side)
          return this.inject(meanwhile.act);
        return undefined;
      },
    });
    this.lives.push(current);
    this.workers.push(current);
    return { life: current, api: this.runtimeOf(current, `worker-${this.crashes + 1}`) };
  }

  private runtimeOf(current: Life, holder: string): Outlast {
    const { mutation = {}, sandbox } = this.options;
    const bell = localBell();
    if (current === this.lives[0]) this.bell = bell;
    const tools = this.world.tools().map((tool) => {
      const port = current.port(tool.spec.name, mutation.tool?.(tool) ?? tool);
      return heeded(current, port, () => this.clock.monotonic(), this.heard);
    });
    const report = (line: string, cause?: unknown): void => {
      if (!current.dead) this.trace.push(`report ${line} ${cause instanceof Error ? cause.message : ''}`);
    };
    return machine(current, {
      ...{ holder, bell, tools, mutation, report, sandbox: sandbox() },
      ...{
        store: this.store,
        clock: this.clock,
        entropy: this.entropy,
        reply: forkable(this.scenario.reply),
      },
      policy: this.scenario.policy ?? ALLOW_ALL,
      sweepMs: this.scenario.sweepMs,
      prices: this.scenario.prices ?? UNPRICED,
      charge: (usage) => {
        this.world.charged += chargeOf(usage);
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

  /** A client does what an error tells it to do: it tries again, under the same key. */
  private async patiently(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof OutlastError) || error.action !== 'retry') throw error;
        await this.clock.sleep(100);
      }
    }
  }

  private async perform(api: Outlast, act: Act, key: string): Promise<void> {
    const text = act.text ?? '';
    if (act.do === 'start') {
      const budget = { session: (act.budget ?? {}) as Budget };
      const started = await api.start({ message: text, persist: true, key, limits: LIMITS, budget });
      this.session = started.session;
    } else {
      const id = this.session;
      if (!id) throw new Error('a scenario begins with start');
      if (act.do === 'wait') return this.clock.sleep(act.ms ?? 0);
      if (act.do === 'fork') return this.fork(api, id, key);
      await this.say(api, id, act, key).catch((error: unknown) => {
        // Somebody else has stopped it, or ended the turn; then there is nothing to say to it.
        const isRefused = error instanceof OutlastError && error.action !== 'retry';
        if (!(this.changesCourse && isRefused)) throw error;
      });
    }
    if (!this.session) return;
    await this.restWithPerson(api, this.session, act.leavesOpen);
  }

  private async say(api: Outlast, id: SessionId, act: Act, key: string): Promise<void> {
    const { text = '', when } = act;
    if (act.do === 'send') await api.send(id, text, { key, ...(when ? { when } : {}) });
    else if (act.do === 'raise') {
      const { whose, budget = {} } = act;
      await (whose === 'owner' ? api.setOwnerBudget(budget) : api.setBudget(id, { session: budget }));
    } else if (act.do !== 'rest' && act.do !== 'start' && act.do !== 'wait' && act.do !== 'fork')
      await api[act.do](id);
  }

  private async fork(api: Outlast, id: SessionId, key: string): Promise<void> {
    const { session, seq } = await api.fork(id, { key, message: FORKED });
    this.branch ??= new Branch(session, seq, this.world);
    this.branch.isSpokenTo = true;
    await this.restWithPerson(api, session);
  }

  /** A fork that somebody made meanwhile is left alone so far. */
  private async speakTo(api: Outlast, branch: Branch): Promise<void> {
    if (!branch.isSpokenTo) {
      await api.rest(branch.session);
      await this.witnessLog();
      branch.rested();
      await api.send(branch.session, FORKED, { key: 'to the fork' });
      branch.isSpokenTo = true;
    }
    await this.restWithPerson(api, branch.session);
  }

  /** A person who answers every question truthfully: they can look into the books. */
  private async restWithPerson(api: Outlast, session: SessionId, leavesOpen = false): Promise<void> {
    for (;;) {
      const now = await api.rest(session);
      // Somebody else has held it.
      if (now === 'paused' && this.hasInjected && (await this.isHeld(session))) {
        await api.resume(session);
        continue;
      }
      if (now !== 'awaiting_decision' || leavesOpen) return;
      await this.witnessLog();
      const { state } = this.witnessOf(session);
      const { takesUp, truth } = personOf(this.scenario, this.world, session);
      const decision = takesUp(state);
      if (!decision) return;
      const { answer, text } = truth(decision, state);
      await api.decide(session, decision.id, answer, text).catch((error: unknown) => {
        // Decided by this person before the crash and not noticed, or by somebody else; or its time is over.
        if (!(error instanceof OutlastError && TOO_LATE.has(error.code))) throw error;
        return this.clock.sleep(1_000);
      });
    }
  }

  private witnessOf(session: SessionId): Witness {
    return session === this.branch?.session ? this.branch.witness : this.witness;
  }

  private async isHeld(session: SessionId): Promise<boolean> {
    await this.witnessLog();
    const { lifetime, budget } = this.witnessOf(session).state;
    return lifetime.status === 'paused' || budget.exhausted === null;
  }

  private inject(act: Meanwhile): Promise<void> | void {
    if (this.injected || !this.session) return;
    if (act.do === 'jump' || act.do === 'outage') {
      this.hasInjected = true;
      if (act.do === 'jump') this.clock.jump(act.ms);
      else this.downUntil = this.clock.monotonic() + act.ms;
      this.injected = Promise.resolve();
      return;
    }
    // Another client, on the same store, without a lease: its ports are not this life's.
    const session = this.session;
    this.injected = this.patiently(() => this.otherClient(session, act));
  }

  private async otherClient(session: SessionId, act: OfAnother | { readonly do: 'fork' }): Promise<void> {
    const ports = {
      store: this.store,
      clock: this.clock,
      // What is to break in comes by way of the same machine; of another's the holder reads at its next commit.
      bell: act.do === 'send' && isUrgent(act) ? this.bell : localBell(),
      tools: registry([]),
      policy: this.scenario.policy ?? ALLOW_ALL,
      sandbox: this.options.sandbox(),
    };
    if (act.do === 'fork') {
      this.branch = await branchOff(session, ports, this.world);
      this.hasInjected = true;
      return;
    }
    const { events } = await appendInput(session, ports, undefined, (s, now) => {
      // A stopped session refuses, as it should; then nothing was accepted and nothing is owed.
      if (s.lifetime.status === 'stopping' || s.lifetime.status === 'stopped') return [];
      return commandOf(s, act, personOf(this.scenario, this.world, session), now);
    });
    this.hasInjected = events.length > 0;
    for (const event of events) if (event.kind === 'message.accepted') this.notes.push(event.text);
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
    const end = this.clock.now() + BOUND_MS;
    const [first] = this.lives;
    for (;;) {
      const isCalm = await this.quiet();
      await this.witnessLog();
      // A log that is broken need not be followed to its end.
      if (!isCalm || this.witness.broken.length > 20) return 'stuck';
      const isHeld = current !== first && current.boundaries.includes('store.acquire');
      if (this.options.contend && first?.frozen && isHeld) this.awaken(first);
      if (failure) throw failure;
      if (outcome) return outcome;
      if (current.dead || current.frozen) return 'crashed';
      if (this.clock.now() > end || !this.clock.advance()) return 'stuck';
    }
  }

  /** The machine goes on as if nothing had been, beside its successor. Whatever it does now must change nothing. */
  private async thaw(first: Life): Promise<void> {
    this.awaken(first);
    const end = this.clock.now() + 2 * LEASE_MS;
    while (this.clock.now() < end && this.clock.advance()) await this.quiet();
  }

  private awaken(first: Life): void {
    this.thawedAt = this.clock.monotonic();
    first.thaw();
  }

  /** Lets everything run that does not wait for the virtual clock. False when that does not come to an end. */
  private async quiet(): Promise<boolean> {
    const crossed = (): number => this.workers.reduce((sum, one) => sum + one.boundaries.length, 0);
    const isBusy = (): boolean => this.workers.some((one) => one.busy > 0 && !one.dead);
    const begun = crossed();
    for (let calm = 0; calm < 2; ) {
      const before = crossed();
      if (before - begun > CIRCLES) return false;
      await realTurn();
      calm = crossed() === before && !isBusy() ? calm + 1 : 0;
    }
    return true;
  }

  /** One after the other: with two lives at work both may look. */
  private witnessLog(): Promise<void> {
    this.looking = this.looking.then(() => this.look());
    return this.looking;
  }

  private async look(): Promise<void> {
    if (!this.session) return;
    await this.branch?.look(this.store);
    const rows = await this.store.read(this.session, this.seen, 10_000);
    this.seen += rows.length;
    const events = rows.map(decode);
    this.questions += events.filter(asksAboutEffect).length;
    this.trace.push(...rows.map((row) => `${row.seq} ${row.at} ${row.kind} ${row.body.length}`));
    this.events.push(...events);
    this.witness.committed(events);
    this.witness.untrue.push(...judgeMoney(this.world, this.witness.state, await this.store.budget(OWNER)));
    const heard = {
      of: this.session,
      heard: this.heard,
      thawedAt: this.thawedAt,
      now: this.clock.monotonic(),
    };
    this.witness.untrue.push(...events.flatMap((event) => askedInVain(event, this.witness.state, heard)));
  }
}
