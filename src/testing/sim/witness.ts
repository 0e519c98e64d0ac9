/**
 * The judge while a run goes on: follows the log commit by commit, with the books as they are at that moment. It shares no
 * code with the runtime but the fold and the invariants.
 */

import type { Event, EventOf, ForeignEvent } from '../../core/event.ts';
import { evolve, initialState } from '../../core/evolve.ts';
import { type State, unknownEffects } from '../../core/state.ts';
import { InvariantChecker } from '../../projections/invariant/invariant.ts';
import { forgotten } from './forgotten.ts';
import { SERVICES, type World } from './world.ts';

/** What somebody said or did: a notice about the rest before that holds no more. */
const AWAKE: ReadonlySet<string> = new Set([
  'message.accepted',
  'session.resumed',
  'turn.started',
  'session.reopened',
]);

export class Witness {
  readonly untrue: string[] = [];
  readonly broken: string[] = [];
  private readonly world: World;
  private readonly checker = new InvariantChecker();
  private folded: State = initialState;
  /** What a person was last told of each effect. */
  private readonly told = new Map<string, string>();
  private held = false;
  /** Of the rest that is, and whether somebody wants it gone. */
  private notice: { readonly at: number; readonly until: number } | null = null;
  private ordered = false;
  /** On a budget, until a person changes or resumes something, or another step begins. */
  private rests = false;
  /** Machines in a row that died before the session got ahead. */
  private deaths = 0;
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
      if (AWAKE.has(event.kind)) this.notice = null;
      const before = this.folded;
      this.folded = evolve(before, event);
      if (event.kind === 'context.compacted') this.broken.push(...forgotten(before, this.folded, event));
      if (event.kind === 'effect.settled') this.ledgerSays(event.effect, event.outcome.status, event.seq);
      if (event.kind === 'effect.reconciled') {
        this.ledgerSays(event.effect, event.finding.status, event.seq);
        if (event.evidence === 'audited') this.transientIsTold(event.effect, event.note, event.seq);
      }
      // The words of a task are held against its own books, where it has said them.
      if (event.kind === 'response.surfaced' && !event.relayed) this.personIsTold(event.text, event.seq);
      if (event.kind === 'response.surfaced' || event.kind === 'turn.failed') this.claimed(event);
    }
  }

  /** What a person has ordered, and what order there is, against the state before this event. */
  private orders(event: Event | ForeignEvent): void {
    const { effects, heap, turn, contract } = this.folded;
    const expect = (isTrue: boolean, what: string): void => {
      if (!isTrue) this.broken.push(`${event.seq}: ${what}`);
    };
    switch (event.kind) {
      case 'lease.acquired':
        this.deaths = event.clean ? this.deaths : this.deaths + 1;
        return;
      case 'session.quarantined': {
        const most = contract.limits.crashes;
        expect(this.deaths >= most, `held after ${this.deaths} deaths in a row, where ${most} are borne`);
        return;
      }
      case 'session.paused':
        this.held = true;
        return;
      case 'session.resumed':
        this.deaths = 0;
        this.held = false;
        this.rests = false;
        return;
      case 'session.stopping':
        this.held = false;
        return;
      case 'step.started':
        this.rests = false;
        expect(!this.held, 'a step is started while the session is held');
        return;
      case 'turn.started':
      case 'cell.started':
      case 'effect.dispatched':
        expect(!this.held, `${event.kind} while the session is held`);
        return;
      case 'retention.noticed':
        this.notice = { at: event.at, until: event.until };
        return;
      case 'session.deleting':
        this.ordered = true;
        return;
      case 'session.deleted': {
        const { inbox, turn: open, lifetime } = this.folded;
        const isNoticed =
          this.notice !== null && this.notice.until <= event.at && this.notice.at < this.notice.until;
        expect(this.ordered || isNoticed, 'deleted without an order, and before any notice was over');
        expect(effects.open.length === 0 && open === null, 'deleted with something open');
        expect(lifetime.status === 'stopped' || inbox.unread.length === 0, 'deleted with a message unread');
        return;
      }
      case 'message.accepted':
        expect(this.folded.retention.going === null, 'a message is accepted while everything goes');
        if (event.when === 'now' && turn?.step.phase === 'generating') {
          this.superseded = { turn: turn.number, step: turn.step.number, at: event.at };
        }
        return;
      case 'budget.exhausted':
        expect(!this.rests, 'it rests on a budget, and has asked again by itself');
        this.rests = true;
        return;
      case 'budget.set':
        this.rests = false;
        return;
      case 'effect.settled':
        if (event.outcome.status !== 'unknown') this.deaths = 0;
        return;
      case 'model.completed': {
        this.deaths = 0;
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
        const images = heap.chain ? [heap.chain.base, ...heap.chain.deltas] : [];
        const isRotten = images.some(({ blob }) => this.world.rotten.has(blob));
        const isLost = event.rung === 'fresh' && heap.chain !== null;
        const isOther = isLost || (event.rung === 'replayed' && !isRotten);
        expect(!isOther, `the heap was lost, and every image stands in the store: ${event.note}`);
        expect(event.rung !== 'exact' || !isRotten, 'another image was taken for that of the heap');
        return;
      }
      case 'cell.committed': {
        this.deaths = 0;
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
    // What was done to files and children stands in no book.
    if (!effect || effect.files || effect.family || effect.capability.kind === 'read') return;
    const stands = this.world.books.some((e) => e.service === effect.tool && e.reference.endsWith(`.${id}`));
    const wrong = (status === 'done' && !stands) || ((status === 'failed' || status === 'absent') && stands);
    if (wrong)
      this.untrue.push(`${seq}: the ledger says ${id} ${status}, the books ${stands ? 'have' : 'lack'} it`);
  }

  /** What goes out beside a text against the books; of what is unknown nothing is claimed, and it must be named. */
  private claimed({ claims: all, seq }: EventOf<'response.surfaced' | 'turn.failed'>): void {
    // What children did is told by them first, and judged there.
    const claims = all.filter(({ session }) => session === undefined);
    for (const { effect: id, status } of claims) {
      const claim = status === 'withdrawn' ? 'failed' : status;
      this.ledgerSays(id, claim, seq);
    }
    const named = new Map(claims.map(({ effect, status }) => [effect, status]));
    for (const { id, capability, family } of unknownEffects(this.folded)) {
      if (family === undefined && capability.kind !== 'read' && named.get(id) !== 'unknown')
        this.untrue.push(`${seq}: ${id} is unknown, and the person is not told`);
    }
    for (const [id, status] of named) this.told.set(id, status);
    for (const { id, capability, status, files, family } of this.folded.effects.closed) {
      // Of its own files and children nobody outside has to be told.
      if (
        files === undefined &&
        family === undefined &&
        capability.kind !== 'read' &&
        this.told.get(id) !== status
      )
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
