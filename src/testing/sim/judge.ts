/**
 * The judge: looks at the log, the books and the clean run, and says what is wrong. It shares no code with the runtime
 * but the fold and the invariants.
 */

import type { Event, EventOf, ForeignEvent } from '../../core/event.ts';
import { evolve, initialState } from '../../core/evolve.ts';
import { InvariantChecker } from '../../core/invariant.ts';
import { phase } from '../../core/phase.ts';
import { type State, unknownEffects } from '../../core/state.ts';
import type { OwnerBudget } from '../../store/port.ts';
import { ONE_CALL, type Scenario } from './scenarios.ts';
import { SERVICES, type World } from './world.ts';

export interface Verdict {
  readonly duplicates: readonly string[];
  readonly lost: readonly string[];
  readonly untrue: readonly string[];
  readonly stuck: readonly string[];
  /**
   * Broken invariants, an end that is not that of the clean run, a journal that does not lead to the heap that stands,
   * events that a follower missed or saw twice.
   */
  readonly broken: readonly string[];
  readonly questions: number;
  readonly questionsMinimum: number;
}

/** Follows the log commit by commit, with the books as they are at that moment. */
export class Witness {
  readonly untrue: string[] = [];
  readonly broken: string[] = [];
  private readonly world: World;
  private readonly checker = new InvariantChecker();
  private folded: State = initialState;
  /** What a person was last told of each effect. */
  private readonly told = new Map<string, string>();
  private held = false;
  /** The generation that a message `now` should have ended, and when it came. */
  private superseded: { readonly turn: number; readonly step: number; readonly at: number } | null = null;

  constructor(world: World) {
    this.world = world;
  }

  get state(): State {
    return this.folded;
  }

  /** Events that a fork shares with its original: what they say was true of that one, and is judged there. */
  inherited(events: readonly (Event | ForeignEvent)[]): void {
    for (const event of events) {
      this.broken.push(...this.checker.check(event).map((v) => `${v.invariant} at ${v.seq}: ${v.detail}`));
      this.folded = evolve(this.folded, event);
    }
    // Told by the original, or to be told there.
    for (const { id, status } of this.folded.effects.closed) this.told.set(id, status);
  }

  committed(events: readonly (Event | ForeignEvent)[]): void {
    for (const event of events) {
      this.broken.push(...this.checker.check(event).map((v) => `${v.invariant} at ${v.seq}: ${v.detail}`));
      this.orders(event);
      this.folded = evolve(this.folded, event);
      if (event.kind === 'effect.settled') this.ledgerSays(event.effect, event.outcome.status, event.seq);
      if (event.kind === 'effect.reconciled') {
        this.ledgerSays(event.effect, event.finding.status, event.seq);
        if (event.evidence === 'audited') this.transientIsTold(event.effect, event.note, event.seq);
      }
      if (event.kind === 'response.surfaced') this.personIsTold(event.text, event.seq);
      if (event.kind === 'response.surfaced' || event.kind === 'turn.failed') this.claimed(event);
    }
  }

  /** What a person has ordered, and what order there is, against the state before this event. */
  private orders(event: Event | ForeignEvent): void {
    const { effects, heap, turn } = this.folded;
    const expect = (isTrue: boolean, what: string): void => {
      if (!isTrue) this.broken.push(`${event.seq}: ${what}`);
    };
    switch (event.kind) {
      case 'session.paused':
        this.held = true;
        return;
      case 'session.resumed':
      case 'session.stopping':
        this.held = false;
        return;
      case 'turn.started':
      case 'step.started':
      case 'cell.started':
      case 'effect.dispatched':
        expect(!this.held, `${event.kind} while the session is held`);
        return;
      case 'message.accepted':
        if (event.when === 'now' && turn?.step.phase === 'generating') {
          this.superseded = { turn: turn.number, step: turn.step.number, at: event.at };
        }
        return;
      case 'model.completed': {
        const { turn: number, step, at } = this.superseded ?? {};
        // At the same instant the reply may have been there already.
        const isIt = event.turn === number && event.step === step && event.at > (at ?? 0);
        expect(!isIt, `a message was to end step ${step}, and its generation went on`);
        return;
      }
      case 'decision.made': {
        const decision = this.folded.decisions.find(({ id }) => id === event.decision);
        const isSettled = effects.closed.some(({ id }) => id === decision?.effect);
        expect(!isSettled, `${event.decision} is about an effect that is settled`);
        return;
      }
      case 'heap.restored': {
        const isLost = event.rung === 'replayed' || (event.rung === 'fresh' && heap.chain !== null);
        expect(!isLost, `the heap was lost, and every image stands in the store: ${event.note}`);
        return;
      }
      case 'cell.committed': {
        const { moved } = event;
        if (moved.by !== 'delivery') return;
        const own = heap.pending.find(({ guestCall }) => guestCall === moved.guestCall)?.answer?.seq ?? 0;
        const isFirst = heap.pending.every(({ answer }) => !answer || answer.seq >= own);
        expect(isFirst, `call ${moved.guestCall} is answered before one that was settled earlier`);
        return;
      }
      default:
        return;
    }
  }

  /** What stood twice for a while is not kept quiet. */
  private transientIsTold(id: string, note: string, seq: number): void {
    const undone = this.world.undone.filter((entry) => entry.reference.endsWith(`.${id}`)).length;
    if (undone > 0 && !note.includes(`${undone} w`) && !note.includes('One extra'))
      this.untrue.push(`${seq}: ${undone} extras of ${id} were undone, it is told: ${note}`);
  }

  private ledgerSays(id: string, status: string, seq: number): void {
    const effect = [...this.folded.effects.closed, ...this.folded.effects.open].find((e) => e.id === id);
    if (!effect || effect.capability.kind === 'read') return;
    const stands = this.world.books.some((e) => e.service === effect.tool && e.reference.endsWith(`.${id}`));
    const wrong = (status === 'done' && !stands) || ((status === 'failed' || status === 'absent') && stands);
    if (wrong)
      this.untrue.push(`${seq}: the ledger says ${id} ${status}, the books ${stands ? 'have' : 'lack'} it`);
  }

  /** What goes out beside a text against the books; of what is unknown nothing is claimed, and it must be named. */
  private claimed({ claims, seq }: EventOf<'response.surfaced' | 'turn.failed'>): void {
    for (const { effect: id, status } of claims) {
      const claim = status === 'withdrawn' ? 'failed' : status;
      this.ledgerSays(id, claim, seq);
    }
    const named = new Map(claims.map(({ effect, status }) => [effect, status]));
    for (const { id, capability } of unknownEffects(this.folded)) {
      if (capability.kind !== 'read' && named.get(id) !== 'unknown')
        this.untrue.push(`${seq}: ${id} is unknown, and the person is not told`);
    }
    for (const [id, status] of named) this.told.set(id, status);
    for (const { id, capability, status } of this.folded.effects.closed) {
      if (capability.kind !== 'read' && this.told.get(id) !== status)
        this.untrue.push(
          `${seq}: ${id} is ${status}, and the person was told ${this.told.get(id) ?? 'nothing'}`,
        );
    }
  }

  /** Responses of the scenarios name a service and what became of it, one a line. */
  private personIsTold(text: string, seq: number): void {
    for (const [, service, status] of text.matchAll(/^(\w+): (done|failed)$/gm)) {
      if (!service || SERVICES[service]?.kind === 'read' || !(service in SERVICES)) continue;
      const stands = this.world.books.some((entry) => entry.service === service);
      if ((status === 'done') !== stands) this.untrue.push(`${seq}: told "${service}: ${status}"`);
    }
  }
}

/**
 * The ledger at rest against the books: what it calls done stands there, what it calls failed does not, and nothing
 * stands there that it has never heard of.
 */
export function judgeLedger({ effects }: State, world: World): readonly string[] {
  const known = new Set([...effects.closed, ...effects.open].map(({ id }) => id as string));
  const strangers = world.books
    .filter(({ reference }) => !known.has(reference.split('.')[1]?.split('~')[0] ?? ''))
    .map(
      ({ service, reference }) => `the books of ${service} have ${reference}, the ledger does not know it`,
    );
  const untrue = effects.closed.flatMap(({ id, tool, capability, status }) => {
    if (capability.kind === 'read' || status === 'withdrawn') return [];
    const stands = world.books.some(
      ({ service, reference }) => service === tool && reference.endsWith(`.${id}`),
    );
    return stands === (status === 'done')
      ? []
      : [`at rest the ledger says ${id} ${status}, the books ${stands ? 'have' : 'lack'} it`];
  });
  return [...untrue, ...strangers];
}

/** What a provider charged against what the ledger counts, and against the limits in force. */
export function judgeMoney({ charged }: World, { budget }: State, ledger: OwnerBudget): readonly string[] {
  const { microUsd: session = Number.POSITIVE_INFINITY } = budget.limits.session;
  const { microUsd: owner = Number.POSITIVE_INFINITY } = ledger.limits;
  const counted = ledger.spent.microUsd + ledger.held.microUsd;
  const isMetered = session < Number.POSITIVE_INFINITY || owner < Number.POSITIVE_INFINITY;
  const most = Math.min(session, owner) + ONE_CALL;
  return [
    ...(isMetered && charged > counted
      ? [`the provider charged ${charged}, the ledger counts ${counted}`]
      : []),
    ...(charged > most ? [`the provider charged ${charged}, which is more than ${most}`] : []),
  ];
}

export function judgeBooks(scenario: Scenario, world: World): Pick<Verdict, 'duplicates' | 'lost'> {
  const counts = new Map<string, number>();
  for (const { service, what } of world.books) {
    const name = `${service}: ${what}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const names = new Set([...counts.keys(), ...Object.keys(scenario.wanted)]);
  const duplicates: string[] = [];
  const lost: string[] = [];
  for (const name of names) {
    const found = counts.get(name) ?? 0;
    const wanted = scenario.wanted[name] ?? 0;
    if (found > wanted) duplicates.push(`${name} stands ${found} times, wanted ${wanted}`);
    if (found < wanted) lost.push(`${name} stands ${found} times, wanted ${wanted}`);
  }
  return { duplicates, lost };
}

/** A question of the work itself is no doubt of ours, and neither is one that comes before anything is sent. */
export const asksAboutEffect = (event: Event | ForeignEvent): boolean =>
  event.kind === 'decision.requested' && event.about === 'unknown';

/**
 * The fewest questions that this log allows: one for each dispatch of a blind effect whose own answer never came, and
 * for a keyed one whose key the service has forgotten since. The log cannot tell whether it was applied, and nobody but
 * a person can.
 */
export function fewestQuestions(events: readonly (Event | ForeignEvent)[]): number {
  const blind = new Set<string>();
  const doubtful = new Set<string>();
  const asked = new Set<string>();
  const keyed = new Map<string, { readonly retentionMs: number; sentAt: number | null }>();
  let forgotten = 0;
  for (const event of events) {
    if (event.kind === 'effect.intended' && event.capability.kind === 'keyed') {
      keyed.set(event.effect, { retentionMs: event.capability.retentionMs, sentAt: null });
    }
    const key = 'effect' in event && event.effect !== null ? keyed.get(event.effect) : undefined;
    if (key && event.kind === 'effect.dispatched') key.sentAt ??= event.at;
    if (key && asksAboutEffect(event) && event.at >= (key.sentAt ?? 0) + key.retentionMs) forgotten++;
    if (event.kind === 'effect.intended' && event.capability.kind === 'blind') blind.add(event.effect);
    if (event.kind === 'effect.dispatched' && blind.has(event.effect)) {
      doubtful.add(`${event.effect}:${event.attempt}`);
    }
    if (event.kind === 'effect.settled' && event.outcome.status !== 'unknown') {
      doubtful.delete(`${event.effect}:${event.attempt}`);
    }
    // A result that was handed in before anybody was asked answers it, too.
    if (event.kind === 'evidence.received' && !asked.has(event.effect)) {
      doubtful.delete(`${event.effect}:${event.attempt}`);
    }
    if (event.kind === 'effect.reconciled' && event.evidence === 'unsent' && !asked.has(event.effect)) {
      for (const one of doubtful) if (one.startsWith(`${event.effect}:`)) doubtful.delete(one);
    }
    if (event.kind === 'decision.requested' && event.about === 'unknown' && event.effect !== null)
      asked.add(event.effect);
    if (event.kind === 'effect.dispatched') asked.delete(event.effect);
  }
  return doubtful.size + forgotten;
}

/** What must be equal to the clean run whatever crashed. Ids, times, attempts, epochs and questions may differ. */
export function essence(s: State): unknown {
  return {
    status: s.lifetime.status,
    turns: s.turns,
    last: s.lastTurn && { number: s.lastTurn.number, end: s.lastTurn.end, text: s.lastTurn.text },
    unread: s.inbox.unread.length,
    read: s.transcript.flatMap((item) => (item.kind === 'message' ? [item.message.text] : [])),
    effects: s.effects.closed.map((e) => `${e.tool} ${e.target} ${e.status}`).sort(),
    open: s.effects.open.length,
    timers: s.timers.length,
    live: s.heap.live.map(({ name, type, size }) => `${name}: ${type} ${size}`),
    generation: s.heap.generation,
  };
}

/** Whether the last response says what it is to say. */
export function untrueEnd({ says }: Scenario, { lastTurn }: State): readonly string[] {
  if (says === undefined || lastTurn?.text.includes(says)) return [];
  return [`the last response should say "${says}", it says: ${lastTurn?.end} ${lastTurn?.text}`];
}

/** Where a session that came to no rest stands. */
export const described = (s: State): string =>
  `${phase(s)}, head ${s.head}, step ${JSON.stringify(s.turn?.step ?? null).slice(0, 300)}`;
