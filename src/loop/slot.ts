/**
 * The slot of one holder: asked for before anything that costs, given back as soon as the session rests (core/slot.ts).
 *
 * T1  A slot is the lease, counted: whatever ends the lease ends the slot, and nothing of it has to be cleared up.
 * T2  Whoever gives one back wakes the next. A wake that is lost is found by the sweeper, which knows whose turn it is.
 */

import type { EventBody } from '../core/event.ts';
import { phase } from '../core/phase.ts';
import { needsSlot } from '../core/slot.ts';
import type { State } from '../core/state.ts';
import { type Lease, leaseLost } from './lease.ts';
import type { Ports } from './ports.ts';
import type { Choosing } from './saturate.ts';

/** Sessions of one owner that may work at once, unless the owner has a number of its own. */
export const DEFAULT_SLOTS = 20;

type SlotPorts = Pick<Ports, 'store' | 'slots' | 'leaseMs'>;

export class Slot {
  private readonly lease: Lease;
  private readonly ports: SlotPorts;
  private readonly wake: Wake;
  private isHeld = false;

  constructor(lease: Lease, ports: SlotPorts, wake: Wake) {
    this.lease = lease;
    this.ports = ports;
    this.wake = wake;
  }

  /** What may be chosen in the commits of this holder. */
  get choosing(): Choosing {
    return this.isHeld ? 'all' : 'clearing';
  }

  /** Asks for the slot where one is needed; gives what has to stand in the log of that. */
  async enter(s: State, now: number): Promise<readonly EventBody[]> {
    if (this.isHeld || !needsSlot(s, now)) return [];
    const { session, epoch } = this.lease;
    const { store, slots = DEFAULT_SLOTS, leaseMs } = this.ports;
    const claimed = await store.claim(session, epoch, slots, leaseMs);
    if (claimed.status === 'fenced') throw leaseLost(claimed.epoch);
    this.isHeld = claimed.status === 'granted';
    const isQueued = s.lifetime.status === 'queued';
    if (claimed.status === 'granted') return isQueued ? [{ kind: 'session.admitted' }] : [];
    return isQueued ? [] : [{ kind: 'session.queued', place: claimed.place }];
  }

  /** Nothing is in flight: where the session waits for something else than us, the slot goes back, and the lease stays. */
  async rest(s: State): Promise<void> {
    if (!this.isHeld || phase(s) === 'working') return;
    this.isHeld = false;
    this.pass(await this.ports.store.free(this.lease.session, this.lease.epoch));
  }

  /** The lease goes back, and the slot with it. */
  async release(): Promise<void> {
    this.pass(await this.lease.release());
  }

  private pass(next: Awaited<ReturnType<Lease['release']>>): void {
    if (next !== null) this.wake(next);
  }
}

export type Wake = (session: Lease['session']) => void;

/** Whether a session that waits for a slot would get one now: only then is its lease worth taking. */
export async function isItsTurn(
  session: Lease['session'],
  s: State,
  { store, slots = DEFAULT_SLOTS }: SlotPorts,
  now: number,
): Promise<boolean> {
  if (s.lifetime.status !== 'queued' || !needsSlot(s, now)) return false;
  const queue = await store.queue(s.contract.owner);
  const place = queue.waiting.indexOf(session);
  return place !== -1 && queue.working + place < (queue.slots ?? slots);
}
