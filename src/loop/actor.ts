/**
 * The actor: drives one session to rest under a lease. The whole loop is: ask `next`, keep in flight what it names,
 * commit what came back.
 *
 * A1  Nothing in here is needed after a crash: recovery is this same loop over the same log.
 * A2  What is running and not named any more is aborted; what is named and not running is started.
 * A3  When the lease cannot be renewed in time the actor ends before it lapses. Results of requests that have left are
 *     handed in as evidence, never as facts; after any other error by the next actor of this process.
 * A4  Nothing is appended under a lease that has ended, also where nobody else holds the session: a process that was
 *     frozen past it goes on under a lease of its own.
 */

import { isAwaited } from '../core/effect.ts';
import { OutlastError } from '../core/error.ts';
import { callKey, type PortCall } from '../core/flight.ts';
import type { SessionId } from '../core/ids.ts';
import { next } from '../core/next.ts';
import { findEffect, type State } from '../core/state.ts';
import { Abort } from '../lib/abort.ts';
import { Nudge } from '../lib/clock.ts';
import { handIn } from './evidence.ts';
import type { Heaps } from './heap/heaps.ts';
import { Lease, leaseLost } from './lease.ts';
import type { Leftovers } from './leftovers.ts';
import { type Facts, Log } from './log.ts';
import { type Performed, type Performer, perform } from './perform.ts';
import type { Ports } from './ports.ts';
import { record } from './record.ts';
import { isItsTurn, Slot, type Wake } from './slot.ts';
import { toolsOf } from './tools/offer.ts';
import type { Workspaces } from './workspace/workspaces.ts';

export interface DriveContext {
  readonly ports: Ports;
  readonly heaps: Heaps;
  readonly workspaces: Workspaces;
  readonly leftovers: Leftovers;
  /** Whether somebody follows this session, as far as this process knows. */
  readonly attended: (session: SessionId) => boolean;
  /** Somebody else may go on now. */
  readonly wake: Wake;
  readonly states: { get(id: SessionId): State | undefined; set(id: SessionId, state: State): void };
}

/** A wait shorter than this is waited for in memory; a longer one is the sweeper's. */
const STAY_MS = 60_000;
/** How long the next turn waits for the end of a reply that was interrupted. */
const CUT_OFF_MS = 1_000;
/** How long a clean shutdown waits for requests that have left. */
const DRAIN_MS = 3_000;

const HEAP_CALLS: ReadonlySet<string | undefined> = new Set<PortCall['do']>([
  'open',
  'run',
  'deliver',
  'base',
  'park',
  'giveUp',
  'archive',
  'release',
  'erase',
  'checkout',
]);
const isHeapCall = (kind: string | undefined): boolean => HEAP_CALLS.has(kind);

/** Drives a session until nothing is in flight. At least once, one at a time per id; cheap when there is nothing to do. */
export async function drive(session: SessionId, context: DriveContext, signal: AbortSignal): Promise<void> {
  const { ports } = context;
  await context.leftovers.handIn(session, ports);
  const log = new Log(session, ports, context.states.get(session));
  await log.catchUp();
  context.states.set(session, log.state);
  const now = ports.clock.now();
  if (!hasWork(log.state, now) && !(await isItsTurn(session, log.state, ports, now))) return;
  context.heaps.foresee(session, log.state);
  const asked = ports.clock.monotonic();
  const acquired = await ports.store.acquire(session, ports.holder, ports.leaseMs);
  if (acquired.status === 'held') return;
  const lease = new Lease(session, acquired.epoch, asked + ports.leaseMs, ports);
  await new Actor(log, context, lease).run(acquired.clean, signal);
}

function hasWork(s: State, now: number): boolean {
  const { choices, calls } = next(s, now);
  return choices.length > 0 || calls.length > 0;
}

/** Of the store, or of the machine where its hands are: no session's doing. */
const isOutside = (error: unknown): boolean =>
  error instanceof OutlastError && /^(store|hands)\./.test(error.code);

/** A port call in flight, and what comes of it; null when it broke. */
interface Running {
  readonly halt: Abort;
  readonly result: Promise<Performed | null>;
}

class Actor {
  private readonly log: Log;
  private readonly context: DriveContext;
  private readonly ports: Ports;
  private readonly lease: Lease;
  private readonly slot: Slot;
  private readonly performer: Performer;
  private readonly running = new Map<string, Running>();
  private readonly finished: { key: string; performed: Performed | null; error: unknown }[] = [];
  private modelCalls = 0;
  private rang = false;
  private ending: Promise<void> | undefined;
  private fenced = false;
  private wake: () => void = () => {};

  constructor(log: Log, context: DriveContext, lease: Lease) {
    this.log = log;
    this.context = context;
    this.ports = context.ports;
    this.lease = lease;
    this.slot = new Slot(lease, context.ports, context.wake);
    this.performer = {
      session: log.session,
      ports: context.ports,
      heaps: context.heaps,
      workspaces: context.workspaces,
      epoch: lease.epoch,
      leaseEnds: () => lease.endsAt,
      number: () => ++this.modelCalls,
      attended: context.attended,
      late: (performed) => this.handIn(performed),
      wake: context.wake,
    };
  }

  async run(clean: boolean, signal: AbortSignal): Promise<void> {
    const { log, ports } = this;
    const off = ports.bell.on(log.session, { rang: (head) => this.ring(head) });
    const interrupt = () => this.wake();
    signal.addEventListener('abort', interrupt, { once: true });
    try {
      await log.catchUp();
      // Deleted while it was asked for: nothing stands behind a tombstone.
      if (log.state.retention.deleted !== null) return await this.letGo();
      const { epoch } = this.lease;
      const entered = await this.slot.enter(log.state, ports.clock.now());
      await this.commit((s) =>
        s.lifetime.epoch >= epoch || s.retention.deleted !== null
          ? { events: [] }
          : { events: [{ kind: 'lease.acquired', epoch, holder: ports.holder, clean }, ...entered] },
      );
      ports.processes?.hold(log.session, epoch);
      while (!signal.aborted && (await this.round(signal)));
      await this.drain();
      await this.letGo();
    } catch (error) {
      if (error instanceof OutlastError && error.code === 'lease.lost') return await this.lostLease();
      if (isOutside(error)) await this.giveBack();
      this.leaveResults();
      throw error;
    } finally {
      off();
      signal.removeEventListener('abort', interrupt);
      this.abortAllBut('call');
      this.context.states.set(log.session, log.state);
    }
  }

  /** A clean end with work in flight: what is only ours is given up, requests that have left get a moment to answer. */
  private async drain(): Promise<void> {
    this.abortAllBut('call');
    const deadline = this.ports.clock.monotonic() + DRAIN_MS;
    for (;;) {
      await this.commitFinished(false);
      const left = deadline - this.ports.clock.monotonic();
      if (this.running.size === 0 || left <= 0) return;
      await this.wait(left);
    }
  }

  private abortAllBut(kept: PortCall['do']): void {
    for (const [key, { halt }] of this.running) if (!key.startsWith(`${kept}:`)) halt.abort();
  }

  /** One look at the log and the world. False when nothing is in flight and nothing is due soon. */
  private async round(signal: AbortSignal): Promise<boolean> {
    const { log, ports } = this;
    await this.commitFinished();
    if (this.rang) {
      this.rang = false;
      await log.catchUp();
    }
    // Read in the log before the store has refused anything: what is named there is named to the new holder.
    if (log.state.lifetime.epoch !== this.lease.epoch) throw leaseLost(log.state.lifetime.epoch);
    const now = ports.clock.now();
    const entered = await this.slot.enter(log.state, now);
    if (entered.length > 0) {
      await this.commit(() => ({ events: entered }));
      return true;
    }
    const { choices, calls, wakeAt } = next(log.state, now);
    if (choices.some((choice) => choice.kind === 'turn.started') && (await this.cutOff())) return true;
    if (choices.length > 0 || calls.some((call) => call.do === 'plan')) {
      await this.commit(() => ({ events: [] }));
      return true;
    }
    this.reconcile(calls);
    if (this.finished.length > 0 || this.rang) return true;
    const waitMs = wakeAt === null ? Number.POSITIVE_INFINITY : Math.max(0, wakeAt - now);
    if (this.running.size === 0 && waitMs > STAY_MS) return false;
    if (this.running.size === 0) await this.slot.rest(log.state);
    await this.pause(waitMs, signal);
    return true;
  }

  /** A reply that was interrupted ends before the next turn starts: what people saw of it stands before that. */
  private async cutOff(): Promise<boolean> {
    const found = [...this.running].find(([key]) => key.startsWith('generate:'));
    // Asked once: a model that does not heed its signal holds nobody up.
    if (!found || found[1].halt.aborted) return false;
    const [key, { halt }] = found;
    halt.abort();
    const deadline = this.ports.clock.monotonic() + CUT_OFF_MS;
    for (let left = CUT_OFF_MS; left > 0; left = deadline - this.ports.clock.monotonic()) {
      if (this.finished.some((done) => done.key === key)) break;
      this.rang = false;
      await this.wait(left);
    }
    this.rang = true;
    return true;
  }

  /** A2. A call that ends when it is told to is told so when nobody waits for it: a turn or a session that was ended. */
  private reconcile(calls: readonly PortCall[]): void {
    const named = new Set(calls.map(callKey));
    for (const [key, { halt }] of this.running) if (!named.has(key)) halt.abort();
    for (const call of calls) if (this.isCalledOff(call)) this.running.get(callKey(call))?.halt.abort();
    if (this.log.state.lifetime.status === 'stopping') this.endProcesses();
    for (const call of calls) {
      const key = callKey(call);
      if (this.running.has(key)) continue;
      // One hand on the heap at a time: the next call waits until an aborted one has really ended.
      if (isHeapCall(call.do) && [...this.running.keys()].some((other) => isHeapCall(other.split(':')[0])))
        continue;
      this.startCall(key, call);
    }
  }

  /** At once, and not after what else has left: it is waited for where the stop is. */
  private endProcesses(): void {
    const { session } = this.log;
    this.ending ??= this.ports.processes
      ?.end(session)
      .catch((error: unknown) => this.ports.report(`${session}: its processes were not ended yet`, error));
  }

  private isCalledOff(call: PortCall): boolean {
    if (call.do !== 'call') return false;
    const effect = findEffect(this.log.state, call.effect);
    if (!effect || !toolsOf(this.log.state, this.ports).get(effect.tool)?.heedsSignal) return false;
    return !isAwaited(this.log.state, effect);
  }

  private startCall(key: string, call: PortCall): void {
    const halt = new Abort();
    const result = perform(call, this.log.state, this.performer, halt).then(
      (performed) => {
        this.finish(key, performed, null);
        return performed;
      },
      (error: unknown) => {
        this.finish(key, null, error);
        return null;
      },
    );
    this.running.set(key, { halt, result });
  }

  private finish(key: string, performed: Performed | null, error: unknown): void {
    if (this.fenced && performed) this.handIn(performed);
    this.finished.push({ key, performed, error });
    this.wake();
  }

  private handIn(performed: Performed): void {
    handIn(this.log.session, [performed], this.lease.epoch, this.ports).catch((cause: unknown) =>
      this.ports.report(`${this.log.session}: evidence could not be handed in`, cause),
    );
  }

  private async commitFinished(choosing = true): Promise<void> {
    for (let done = this.finished[0]; done; done = this.finished[0]) {
      const { key, performed, error } = done;
      if (error !== null) throw error;
      if (performed) await this.commit((s) => record(performed, s, this.performer), choosing);
      // Only now: until its facts are durable the call counts as in flight, so it is not made again.
      this.finished.shift();
      this.running.delete(key);
    }
  }

  /** A4. */
  private async commit(facts: (s: State) => Facts, choosing = true): Promise<void> {
    if (this.ports.clock.monotonic() >= this.lease.endsAt) throw leaseLost(this.lease.epoch);
    return this.log.commit(this.lease.epoch, facts, choosing ? this.slot.choosing : 'nothing');
  }

  /** Waits for a result, a ring, an instant, or the time to renew. */
  private async pause(waitMs: number, signal: AbortSignal): Promise<void> {
    const untilLook = this.lease.keep(() => this.wake());
    if (signal.aborted) return;
    await this.wait(Math.min(waitMs, untilLook));
  }

  private async wait(ms: number): Promise<void> {
    const over = new Nudge();
    const woken = new Promise<void>((resolve) => {
      this.wake = resolve;
      if (this.finished.length > 0 || this.rang) resolve();
    });
    await Promise.race([woken, this.ports.clock.sleep(ms, over)]);
    over.give();
    this.wake = () => {};
  }

  private ring(head: number): void {
    if (head <= this.log.state.head) return;
    this.rang = true;
    this.wake();
  }

  private async letGo(): Promise<void> {
    if (this.running.size > 0) return; // Aborted by a shutdown with work in flight: the lease says so by not being clean.
    await this.slot.release();
  }

  /** What fails outside is not this session's doing: with no request in flight the lease goes back as if nothing had been. */
  private async giveBack(): Promise<void> {
    const hasSent = [...this.running.keys()].some((key) => key.startsWith('call:'));
    if (hasSent) return;
    const { session } = this.log;
    await this.slot
      .release()
      .catch((error: unknown) => this.ports.report(`${session}: the lease was not given back`, error));
  }

  /** A3. What is finished and not committed is still among the running. */
  private leaveResults(): void {
    const results = [...this.running].flatMap(([key, { result }]) =>
      key.startsWith('call:') ? [result] : [],
    );
    this.context.leftovers.keep(this.log.session, { epoch: this.lease.epoch, results });
  }

  /** A3. */
  private async lostLease(): Promise<void> {
    this.fenced = true;
    const performed = this.finished.flatMap((done) => (done.performed ? [done.performed] : []));
    await handIn(this.log.session, performed, this.lease.epoch, this.ports);
  }
}
