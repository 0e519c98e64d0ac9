/**
 * Where the hands of each session are, from the brain's side: woken before they are used, waited for while they cannot be
 * reached, renewed while their session is held, paused when nothing is left for them to do.
 *
 * W1  What holds in an environment was entered there. Once it is gone, every call throws `hands.lost` until the session is
 *     entered anew, and so nothing runs among files that are not the session's.
 * W2  Only what may be said twice is said again to hands that do not answer. For the rest the answer is missing.
 */

import { OutlastError } from '../core/error.ts';
import { systemClock } from '../lib/clock.ts';
import type { At, Environments } from './port.ts';

export interface PlacesOptions {
  readonly environments: Environments;
  /** Whether a pause keeps anything that is worth it. */
  readonly canPause: boolean;
  /** How often is looked what is to be renewed, and what is quiet for so long that it may be paused. */
  readonly everyMs?: number;
  readonly isHeld: (session: string, epoch: number) => Promise<boolean>;
  readonly report: (line: string, cause?: unknown) => void;
}

interface Place {
  /** Null before it is known, or when there is none. */
  id: string | null;
  epoch: number;
  isAwake: boolean;
  /** Over when it is paused: whoever comes meanwhile wakes it after that. */
  pausing: Promise<void> | null;
  /** W1. */
  isLost: boolean;
  mayRest: boolean;
  inUse: number;
  usedAt: number;
}

const NOWHERE: Place = {
  ...{ id: null, epoch: 0, isAwake: false, pausing: null, isLost: false },
  ...{ mayRest: false, inUse: 0, usedAt: 0 },
};

/** How long a call waits for hands that cannot be reached. */
const PATIENCE_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
const EVERY_MS = 5_000;

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof OutlastError && error.code === code;

export const isLostHands = (error: unknown): boolean => hasCode(error, 'hands.lost');
export const isUnreachable = (error: unknown): boolean => hasCode(error, 'hands.unreachable');

export class Places {
  private readonly options: PlacesOptions;
  private readonly places = new Map<string, Place>();
  private readonly closing = new AbortController();
  private readonly keeping: Promise<void>;
  private areAway = false;

  constructor(options: PlacesOptions) {
    this.options = options;
    this.keeping = this.keep();
  }

  get environments(): Environments {
    return this.options.environments;
  }

  /** The environment of a session for the holder of this epoch; a new one where there is none. */
  async enter(session: string, epoch: number): Promise<void> {
    const place = this.placeOf(session);
    place.inUse++;
    try {
      await place.pausing;
      const id = await this.patiently(() => this.environments.create(session));
      Object.assign(place, { id, isAwake: true, isLost: false, mayRest: false });
      place.epoch = Math.max(place.epoch, epoch);
    } finally {
      place.inUse--;
      place.usedAt = systemClock.monotonic();
    }
  }

  /** Enters it, unless that has been done. */
  async entered(session: string, epoch: number): Promise<void> {
    const place = this.placeOf(session);
    if (place.id === null && !place.isLost) await this.enter(session, epoch);
  }

  hold(session: string, epoch: number): void {
    const place = this.placeOf(session);
    place.epoch = Math.max(place.epoch, epoch);
  }

  /** Undefined where there is no environment. `work` is done again while it cannot be reached: W2. */
  async ask<Answer>(
    session: string,
    work: (at: At) => Promise<Answer>,
    { epoch, signal }: { readonly epoch?: number; readonly signal?: AbortSignal } = {},
  ): Promise<Answer | undefined> {
    return this.using(session, epoch, (at) => this.patiently(() => work(at), signal), signal);
  }

  /** The same, said once. */
  once<Answer>(
    session: string,
    epoch: number,
    work: (at: At) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    const place = this.placeOf(session);
    place.mayRest = false;
    return this.using(session, epoch, work);
  }

  /** Whatever a session has there is gone, and the environment with it. */
  async destroy(session: string, epoch: number): Promise<void> {
    await this.patiently(() => this.environments.destroy(session, epoch));
    this.places.delete(session);
  }

  /** Nothing is left to do there, as far as is known. */
  rest(session: string): void {
    this.placeOf(session).mayRest = this.options.canPause;
  }

  async close(): Promise<void> {
    if (this.closing.signal.aborted) return;
    this.closing.abort();
    await this.keeping;
    await this.environments.close();
  }

  private async using<Answer>(
    session: string,
    epoch: number | undefined,
    work: (at: At) => Promise<Answer>,
    signal?: AbortSignal,
  ): Promise<Answer | undefined> {
    const place = this.placeOf(session);
    place.inUse++;
    try {
      const id = await this.awake(session, place, signal);
      return id === null ? undefined : await work({ session, id, epoch: epoch ?? place.epoch });
    } catch (error) {
      if (isLostHands(error)) Object.assign(place, { isLost: true, isAwake: false });
      throw error;
    } finally {
      place.inUse--;
      place.usedAt = systemClock.monotonic();
    }
  }

  /** W1. */
  private async awake(session: string, place: Place, signal?: AbortSignal): Promise<string | null> {
    if (!place.isLost && place.isAwake) return place.id;
    await place.pausing;
    const found = place.isLost ? null : await this.patiently(() => this.environments.resume(session), signal);
    if (place.id !== null && place.id !== found) {
      throw new OutlastError('hands.lost', 'The environment of this session is gone.');
    }
    Object.assign(place, { id: found, isAwake: found !== null });
    return found;
  }

  private placeOf(session: string): Place {
    const known = this.places.get(session);
    if (known) return known;
    const fresh: Place = { ...NOWHERE };
    this.places.set(session, fresh);
    return fresh;
  }

  /** Until it is answered; with a signal as long as somebody waits. */
  private async patiently<Answer>(work: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    const until = systemClock.monotonic() + PATIENCE_MS;
    const isOver = () =>
      this.closing.signal.aborted || (signal ? signal.aborted : systemClock.monotonic() >= until);
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return await work();
      } catch (error) {
        if (!isUnreachable(error) || isOver()) throw error;
        await systemClock.sleep(pauseMs, signal ?? this.closing.signal);
      }
    }
  }

  /** What is held is renewed; what rests is paused; what another worker holds is forgotten. */
  private async keep(): Promise<void> {
    const { signal } = this.closing;
    const everyMs = this.options.everyMs ?? EVERY_MS;
    while (!signal.aborted) {
      await systemClock.sleep(everyMs, signal);
      if (signal.aborted) return;
      try {
        await this.environments.renew(await this.heldHere());
        await this.pauseResting(everyMs);
        this.seen(true);
      } catch (error) {
        if (isUnreachable(error)) this.seen(false, error);
        else this.options.report('an environment was not looked after', error);
      }
    }
  }

  private async heldHere(): Promise<readonly At[]> {
    const held: At[] = [];
    for (const [session, place] of this.places) {
      const { id, epoch, isAwake, inUse } = place;
      // What never had an environment is known again with the next call.
      if (id === null && inUse === 0) this.places.delete(session);
      if (id === null || !isAwake) continue;
      if (await this.options.isHeld(session, epoch).catch(() => true)) held.push({ session, id, epoch });
      else if (inUse === 0) this.places.delete(session);
    }
    return held;
  }

  /** After a while: a last look at the files comes behind what was ended. */
  private async pauseResting(quietMs: number): Promise<void> {
    for (const [session, place] of this.places) {
      const { id, epoch, isAwake, mayRest, inUse, usedAt } = place;
      const isQuiet = inUse === 0 && systemClock.monotonic() - usedAt >= quietMs;
      if (id === null || !isAwake || !mayRest || !isQuiet) continue;
      place.isAwake = false;
      const pausing = this.environments.pause({ session, id, epoch }).catch((error: unknown) => {
        if (!isLostHands(error) && !hasCode(error, 'lease.lost')) throw error;
      });
      place.pausing = pausing.catch(() => {});
      await pausing;
    }
  }

  /** Told once when they are away, and once when they are back. */
  private seen(areThere: boolean, cause?: unknown): void {
    if (this.closing.signal.aborted || areThere !== this.areAway) return;
    this.areAway = !areThere;
    this.options.report(areThere ? `${this.environments.name} are back` : 'the hands do not answer', cause);
  }
}
