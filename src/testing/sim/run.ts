/**
 * One run of one scenario: lives follow each other over the same store, world and clock, until the acts are done and
 * the session rests. The judge then says what it thinks of it.
 */

import { setImmediate as realTurn } from 'node:timers/promises';
import { OutlastError } from '../../core/error.ts';
import type { Owner, SessionId } from '../../core/ids.ts';
import { phase } from '../../core/phase.ts';
import { openDecisions } from '../../core/state.ts';
import { decode } from '../../core/upcast.ts';
import { leaseDriver } from '../../driver/leases.ts';
import { seededEntropy } from '../../lib/entropy.ts';
import type { Model } from '../../models/port.ts';
import { localBell } from '../../runtime/bell.ts';
import type { Ports, Sealer } from '../../runtime/ports.ts';
import { registry } from '../../runtime/registry.ts';
import { type Outlast, outlast } from '../../runtime/runtime.ts';
import type { Sandbox } from '../../sandbox/port.ts';
import { memoryStore } from '../../store/memory.ts';
import type { Store } from '../../store/port.ts';
import type { Tool } from '../../tools/port.ts';
import { type VirtualClock, virtualClock } from '../virtual-clock.ts';
import { fewestQuestions, judgeBooks, type Verdict, Witness } from './judge.ts';
import { type Crash, type Life, life, type Side } from './life.ts';
import type { Act, Scenario } from './scenarios.ts';
import { type World, world } from './world.ts';

/** What a planted bug may put between the runtime and its ports. */
export interface Mutation {
  store?(store: Store): Store;
  tool?(tool: Tool): Tool;
  sandbox?(sandbox: Sandbox): Sandbox;
  model?(model: Model): Model;
  /** The machine is gone, and with it what was only in its memory. */
  crashed?(): void;
}

export interface RunOptions {
  /** Where each life ends, in order; a life without an entry lives on. */
  readonly crashes?: readonly Crash[];
  /** Where the first life freezes; it is thawed when its successor has come to rest. */
  readonly freeze?: Crash | null;
  /** Something that another program does at a side of a boundary of the first life. */
  readonly meanwhile?: { readonly boundary: number; readonly side: Side; readonly text: string } | null;
  readonly mutation?: Mutation;
  readonly sandbox: () => Sandbox;
}

export interface Run {
  readonly verdict: Verdict;
  readonly witness: Witness;
  /** Of the first life. */
  readonly boundaries: readonly string[];
  /** Of each life, in order. */
  readonly lives: readonly (readonly string[])[];
  readonly crashes: number;
  /** One line per event: equal for equal seeds. */
  readonly trace: readonly string[];
}

const LEASE_MS = 15_000;
/** Rarely: each look of the sweeper is a boundary as well. */
const SWEEP_MS = 10_000;
/** A small heap: the simulator makes thousands. */
const LIMITS = { heapMb: 8 };
/** Looks for rest after the last act: at what came in last, and at what a crash left. */
const LOOKS = 4;
/** Virtual time after which a session that works on is stuck. */
const BOUND_MS = 6 * 3_600_000;

export async function run(scenario: Scenario, options: RunOptions): Promise<Run> {
  const clock = virtualClock();
  const outside = world(clock);
  scenario.prepare?.(outside);
  const store = options.mutation?.store?.(memoryStore(clock)) ?? memoryStore(clock);
  const witness = new Witness(outside);
  const sim = new Simulation(scenario, options, clock, outside, store, witness);
  return sim.play();
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
  private readonly lives: Life[] = [];
  private crashes = 0;
  private readonly events: ReturnType<typeof decode>[] = [];
  private questions = 0;
  private seen = 0;
  private injected: Promise<unknown> | null = null;

  constructor(
    scenario: Scenario,
    options: RunOptions,
    clock: VirtualClock,
    outside: World,
    store: Store,
    witness: Witness,
  ) {
    this.scenario = scenario;
    this.options = options;
    this.clock = clock;
    this.world = outside;
    this.store = store;
    this.witness = witness;
  }

  async play(): Promise<Run> {
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
          stuck.push(`act ${index} (${act.do}) did not come to rest: ${this.describe()}`);
          break;
        }
        ({ life: current, api } = this.next());
      }
      if (stuck.length > 0) break;
    }
    // The looks below are the judge's own; nothing is counted there.
    const lives = this.lives.map((life) => life.boundaries.slice());
    if (first.frozen) await this.thaw(first, current);
    // What came in last, from another client or from the thawed machine, is still to be worked on.
    const session = this.session;
    for (let look = 0; look < LOOKS && session && stuck.length === 0; look++) {
      const outcome = await this.until(current, () =>
        this.patiently(() => this.restWithPerson(api, session)),
      );
      if (outcome === 'crashed') ({ life: current, api } = this.next());
      if (outcome === 'stuck') stuck.push(`it did not come to rest at the end: ${this.describe()}`);
    }
    current.end();
    first.end();
    await this.witnessLog();
    const books = judgeBooks(this.scenario, this.world);
    const verdict: Verdict = {
      ...books,
      untrue: [...this.witness.untrue, ...this.untrueEnd()],
      stuck,
      broken: this.witness.broken,
      questions: this.questions,
      questionsMinimum: fewestQuestions(this.events),
    };
    const { trace, witness, crashes } = this;
    return { verdict, witness, boundaries: lives[0] ?? [], lives, crashes, trace };
  }

  private live(): { life: Life; api: Outlast } {
    const crash = this.options.crashes?.[this.crashes] ?? null;
    const first = this.crashes === 0;
    const { meanwhile, mutation } = this.options;
    const current = life({
      clock: this.clock,
      crash,
      freeze: first ? (this.options.freeze ?? null) : null,
      at: (boundary, side) => {
        if (first && meanwhile?.boundary === boundary && meanwhile.side === side)
          return this.inject(meanwhile.text);
        return undefined;
      },
    });
    this.lives.push(current);
    const tools = this.world
      .tools()
      .map((tool) => current.port(tool.spec.name, mutation?.tool?.(tool) ?? tool));
    const scripted: Model = {
      name: 'scripted/sim',
      scripted: true,
      generate: async (request) => {
        await this.clock.sleep(50);
        return this.scenario.reply(request);
      },
    };
    const sandbox = this.options.sandbox();
    const ports: Ports = {
      store: current.port('store', this.store),
      model: current.port('model', mutation?.model?.(scripted) ?? scripted),
      sandbox: this.wrapSandbox(current, mutation?.sandbox?.(sandbox) ?? sandbox),
      tools: registry(tools),
      clock: current.clock,
      entropy: this.entropy,
      bell: localBell(),
      sealer: PLAIN,
      holder: `worker-${this.crashes + 1}`,
      leaseMs: LEASE_MS,
      briefing: '',
      report: (line, cause) => {
        if (!current.dead) this.trace.push(`report ${line} ${cause instanceof Error ? cause.message : ''}`);
      },
    };
    const driver = leaseDriver({
      store: ports.store,
      clock: current.clock,
      report: ports.report,
      sweepMs: SWEEP_MS,
    });
    return { life: current, api: outlast(ports, driver, 'local' as Owner) };
  }

  /** Heaps are ports too: each move of a heap is a boundary. */
  private wrapSandbox(current: Life, sandbox: Sandbox): Sandbox {
    const real = { real: true };
    const port = current.port('sandbox', sandbox, real);
    return {
      engine: sandbox.engine,
      prepare: (source) => sandbox.prepare(source),
      create: async (o) => current.port('heap', await port.create(o), real),
      restore: async (chain, o) => current.port('heap', await port.restore(chain, o), real),
      replay: async (journal, o) => {
        const result = await port.replay(journal, o);
        return { ...result, heap: current.port('heap', result.heap, real) };
      },
      close: () => sandbox.close(),
    };
  }

  /** The life is over: its lease lapses, and a new runtime finds what the store has. */
  private next(): { life: Life; api: Outlast } {
    this.crashes++;
    this.options.mutation?.crashed?.();
    this.clock.elapse(LEASE_MS + 1);
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
      const started = await api.start({ message: text, persist: true, key, limits: LIMITS });
      this.session = started.session;
    } else {
      const id = this.session;
      if (!id) throw new Error('a scenario begins with start');
      if (act.do === 'wait') return this.clock.sleep(act.ms ?? 0);
      if (act.do === 'send') await api.send(id, text, { key, ...(act.when ? { when: act.when } : {}) });
      else await api[act.do](id);
    }
    if (!this.session) return;
    await this.restWithPerson(api, this.session);
  }

  /** A person who answers every question truthfully: they can look into the books. */
  private async restWithPerson(api: Outlast, session: SessionId): Promise<void> {
    for (;;) {
      const now = await api.rest(session);
      if (now !== 'awaiting_decision') return;
      await this.witnessLog();
      const decision = openDecisions(this.witness.state)[0];
      if (!decision) return;
      const effect = decision.effect;
      const stands = this.world.books.some((entry) => entry.reference === `${session}.${effect}`);
      await api
        .decide(session, decision.id, stands ? 'done' : 'not-done', 'looked it up')
        .catch((error: Error) => {
          // Decided by this person before the crash, and not noticed.
          if (!/already/.test(error.message)) throw error;
        });
    }
  }

  private inject(text: string): Promise<void> | void {
    if (this.injected || !this.session) return;
    // Another client, on the same store, without a lease: its ports are not this life's.
    this.injected = this.otherClient(text);
  }

  private async otherClient(text: string): Promise<void> {
    const session = this.session;
    if (!session) return;
    const { appendInput } = await import('../../runtime/input.ts');
    const { send } = await import('../../core/decide.ts');
    const ports = {
      store: this.store,
      clock: this.clock,
      bell: localBell(),
      tools: registry([]),
      sandbox: this.options.sandbox(),
    };
    await appendInput(session, ports, undefined, (s) => {
      // A stopped session refuses, as it should; then nothing was accepted and nothing is owed.
      if (s.lifetime.status === 'stopping' || s.lifetime.status === 'stopped') return [];
      const sent = send(s, text, { key: 'meanwhile', when: 'next' });
      return 'events' in sent ? sent.events : [];
    });
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
    for (;;) {
      await this.quiet(current);
      await this.witnessLog();
      if (failure) throw failure;
      if (outcome) return outcome;
      if (current.dead || current.frozen) return 'crashed';
      if (this.clock.now() > end || !this.clock.advance()) return 'stuck';
    }
  }

  /** The machine goes on as if nothing had been, beside its successor. Whatever it does now must change nothing. */
  private async thaw(first: Life, current: Life): Promise<void> {
    first.thaw();
    const end = this.clock.now() + 2 * LEASE_MS;
    while (this.clock.now() < end && this.clock.advance()) {
      await this.quiet(first);
      await this.quiet(current);
    }
  }

  /** Lets everything run that does not wait for the virtual clock. */
  private async quiet(current: Life): Promise<void> {
    for (let calm = 0; calm < 2; ) {
      const before = current.boundaries.length;
      await realTurn();
      calm = current.boundaries.length === before && (current.busy === 0 || current.dead) ? calm + 1 : 0;
    }
  }

  private async witnessLog(): Promise<void> {
    if (!this.session) return;
    const rows = await this.store.read(this.session, this.seen, 10_000);
    this.seen += rows.length;
    const events = rows.map(decode);
    this.questions += events.filter((event) => event.kind === 'decision.requested').length;
    this.trace.push(...rows.map((row) => `${row.seq} ${row.at} ${row.kind} ${row.body.length}`));
    this.events.push(...events);
    this.witness.committed(events);
  }

  private untrueEnd(): readonly string[] {
    const { says } = this.scenario;
    const { lastTurn } = this.witness.state;
    if (says === undefined || lastTurn?.text.includes(says)) return [];
    return [`the last response should say "${says}", it says: ${lastTurn?.end} ${lastTurn?.text}`];
  }

  private describe(): string {
    const s = this.witness.state;
    return `${phase(s)}, head ${s.head}, step ${JSON.stringify(s.turn?.step ?? null).slice(0, 300)}`;
  }
}

/** The simulator reads images; secrets are the business of the stores' own tests. */
const PLAIN: Sealer = { seal: (bytes) => bytes, open: (bytes) => bytes };
