/** What happens beside the run: another client acts on the same store, without a lease, or the surroundings change. */

import * as decide from '../../core/decide.ts';
import { OutlastError } from '../../core/error.ts';
import type { Event, EventBody } from '../../core/event.ts';
import { evolve } from '../../core/evolve.ts';
import type { SessionId } from '../../core/ids.ts';
import type { When } from '../../core/message.ts';
import { isGone } from '../../core/retention/gone.ts';
import type { State } from '../../core/state.ts';
import { unreachable } from '../../lib/assert.ts';
import { type Bell, localBell } from '../../loop/bell.ts';
import { appendInput } from '../../loop/input.ts';
import { registry } from '../../loop/tools/registry.ts';
import type { Sandbox } from '../../sandbox/port.ts';
import type { Store } from '../../store/port.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import { branchOff } from './branch.ts';
import { PLAIN } from './machine.ts';
import { answerTo, patiently, takesUp } from './person.ts';
import type { Scenario } from './scenario.ts';
import type { Watch } from './watch.ts';
import { ALLOW_ALL, type World } from './world.ts';

export type Meanwhile =
  /** Repeated, it arrives twice under the same keys. */
  | { readonly do: 'send'; readonly messages: readonly Note[]; readonly isRepeated?: boolean }
  | { readonly do: 'stop' | 'interrupt' | 'pause' | 'decide' }
  /** Somebody forks it. */
  | { readonly do: 'fork' }
  | { readonly do: 'jump'; readonly ms: number }
  /** The store takes nothing for a while. */
  | { readonly do: 'outage'; readonly ms: number }
  /** The next call of the model fails. */
  | { readonly do: 'fail'; readonly how: ProviderFailure };

/** It is not taken, or its answer is torn in the middle: that one was made, and is charged. */
export type ProviderFailure = 'overloaded' | 'incomplete';

export interface Note {
  readonly text: string;
  readonly when: When;
}

/** What another client does. */
type OfAnother = Exclude<Meanwhile, { do: 'jump' | 'outage' | 'fail' | 'fork' }>;

interface Options {
  readonly act: Meanwhile | null;
  readonly scenario: Scenario;
  readonly clock: VirtualClock;
  readonly world: World;
  readonly watch: Watch;
  readonly sandbox: () => Sandbox;
}

export class Other {
  /** Whether it took effect. */
  hasActed = false;
  /** What was sent, and accepted. */
  readonly notes: string[] = [];
  private readonly options: Options;
  private hasBegun = false;
  private downUntil = 0;
  private failure: ProviderFailure | null = null;

  constructor(options: Options) {
    this.options = options;
  }

  /** Who stops, interrupts or breaks in wants another course than that of the clean run. */
  get changesCourse(): boolean {
    const { act } = this.options;
    return act?.do === 'stop' || act?.do === 'interrupt' || (act?.do === 'send' && isUrgent(act));
  }

  get isStoreDown(): boolean {
    return this.options.clock.monotonic() < this.downUntil;
  }

  /** How this call of the model ends, if it is to fail; the one after it does not. */
  takeFailure(): ProviderFailure | null {
    const { failure } = this;
    this.failure = null;
    return failure;
  }

  /** Once. What is to break in comes by way of this bell; of the rest the holder reads at its next commit. */
  act(store: Store, bell: Bell): Promise<void> | void {
    const { act, clock, watch } = this.options;
    const { session } = watch;
    if (!act || !session || this.hasBegun) return;
    this.hasBegun = true;
    switch (act.do) {
      case 'jump':
        this.hasActed = true;
        return clock.jump(act.ms);
      case 'outage':
        this.hasActed = true;
        this.downUntil = clock.monotonic() + act.ms;
        return;
      case 'fail':
        this.hasActed = true;
        this.failure = act.how;
        return;
      default: {
        const isHeard = act.do === 'send' && isUrgent(act);
        return patiently(clock, () =>
          this.asClient(session, act, this.portsOf(store, isHeard ? bell : localBell())),
        );
      }
    }
  }

  /** On the same store, without a lease: its ports are not those of a life. */
  private portsOf(store: Store, bell: Bell) {
    const { scenario, clock, sandbox } = this.options;
    const { policy = ALLOW_ALL } = scenario;
    return { store, clock, bell, tools: registry([]), policy, sandbox: sandbox(), sealer: PLAIN };
  }

  private async asClient(
    session: SessionId,
    act: OfAnother | { readonly do: 'fork' },
    ports: ReturnType<Other['portsOf']>,
  ): Promise<void> {
    const { scenario, world, watch } = this.options;
    if (act.do === 'fork') {
      watch.branch = await branchOff(session, ports, world);
      this.hasActed = true;
      return;
    }
    const times = act.do === 'send' && act.isRepeated ? 2 : 1;
    for (let time = 0; time < times; time++) {
      const { events } = await appendInput(session, ports, undefined, (s, now) => {
        // A stopped session refuses, as it should; then nothing was accepted and nothing is owed.
        if (s.lifetime.status === 'stopping' || s.lifetime.status === 'stopped' || isGone(s)) return [];
        return commandOf(s, act, { scenario, world, session, now });
      });
      this.hasActed ||= events.length > 0;
      // What arrives again under its key is not sent again: were it accepted, it would be read twice.
      for (const event of events)
        if (event.kind === 'message.accepted' && time === 0) this.notes.push(event.text);
    }
  }
}

interface Place extends Pick<Options, 'scenario' | 'world'> {
  readonly session: SessionId;
  readonly now: number;
}

/** What another client's act appends; nothing where the state takes no such act. */
function commandOf(s: State, act: OfAnother, place: Place): readonly EventBody[] {
  switch (act.do) {
    case 'send':
      return act.messages.reduce(sent, { state: s, events: [] as readonly EventBody[] }).events;
    case 'stop':
      return decide.stop(s, 'bob');
    case 'pause':
      return decide.pause(s, 'bob');
    case 'interrupt':
      return s.turn ? decide.interrupt(s, 'bob') : [];
    case 'decide':
      return decided(s, place);
    default:
      return unreachable(act);
  }
}

/** Nobody may have noticed yet that its time is over; then it is refused, as it should be. */
function decided(s: State, place: Place): readonly EventBody[] {
  const open = takesUp(place.scenario, s);
  if (!open) return [];
  try {
    return decide.answer(s, open.id, { ...answerTo(open, s, place), by: 'bob' }, place.now);
  } catch (error) {
    if (error instanceof OutlastError && error.code === 'decision.expired') return [];
    throw error;
  }
}

const isUrgent = ({ messages }: Extract<Meanwhile, { do: 'send' }>): boolean =>
  messages.some(({ when }) => when === 'now');

/** One more message of another client, decided on the state that the ones before it leave. */
function sent(
  { state, events }: { state: State; events: readonly EventBody[] },
  { text, when }: Note,
  index: number,
): { state: State; events: readonly EventBody[] } {
  const one = decide.send(state, text, { key: `meanwhile-${index}`, when });
  const more = 'events' in one ? one.events : [];
  const after = more.reduce((s, body) => evolve(s, { ...body, seq: s.head + 1, at: s.at } as Event), state);
  return { state: after, events: [...events, ...more] };
}
