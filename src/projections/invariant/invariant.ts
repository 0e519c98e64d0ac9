/**
 * What is true of every log, whole or cut off anywhere. The crash loop asks this after every commit; `verify` asks it
 * of a log that somebody has. Each statement has a name that reports and tests use.
 */

import { ATTEMPTS } from '../../core/context/evolve.ts';
import type { Event, ForeignEvent, Origin } from '../../core/event.ts';
import type { Verdict } from '../../core/policy.ts';
import { TalkChecker } from './conversation.ts';
import { RetentionChecker } from './retention.ts';
import { FilesChecker } from './workspace.ts';

export interface Violation {
  readonly invariant: string;
  readonly seq: number;
  readonly detail: string;
}

interface Known {
  /** Of the original of a fork, or asked for by its code: it may not be sent from here. */
  isBarred: boolean;
  sent: number;
  /** The last sending that was found absent. */
  cleared: number;
  closed: boolean;
  /** An earlier sending may stand beside the newest one: its answer does not close it (only where extras are undone). */
  isDoubtful: boolean;
  readonly isCancelable: boolean;
  readonly digest: string;
  readonly verdict: Verdict;
  isApproved: boolean;
}

interface Asked {
  state: 'open' | 'made' | 'expired' | 'left';
  /** The effect that may be sent once this is approved. */
  readonly approves: Known | undefined;
  readonly expiresAt: number;
}

/** Checks one event after the other; keeps what it must know of the events before. */
export class InvariantChecker {
  private readonly violations: Violation[] = [];
  private seq = 0;
  private at = 0;
  private epoch = 0;
  private turn: number | null = null;
  private turns = 0;
  private step = 0;
  private stopped = false;
  private readonly accepted = new Map<string, 'unread' | 'read' | 'left'>();
  private readonly keys = new Set<string>();
  private readonly effects = new Map<string, Known>();
  private readonly decisions = new Map<string, Asked>();
  private readonly cells = new Map<string, 'started' | 'committed' | 'over'>();
  private readonly guestCalls = new Map<number, 'asked' | 'delivered'>();
  private readonly timers = new Map<string, 'set' | 'fired' | 'left'>();
  /** Cells of the original of a fork. */
  private readonly others = new Set<string>();
  /** Digests of all heaps that were committed. */
  private readonly heaps = new Set<string>();
  private parked = true;
  /** The open turn rests on a budget. */
  private rests = false;
  /** The compaction that was begun. */
  private compacting: { readonly items: number; attempt: number } | null = null;
  private readonly files = new FilesChecker((...said) => this.expect(...said));
  private readonly talk = new TalkChecker((...said) => this.expect(...said));
  private readonly retention = new RetentionChecker((...said) => this.expect(...said));

  check(event: Event | ForeignEvent): readonly Violation[] {
    const before = this.violations.length;
    this.order(event);
    if (event.kind !== 'foreign') {
      this.content(event);
      this.files.check(event);
      this.talk.check(event);
      this.retention.check(event);
    }
    return this.violations.slice(before);
  }

  private expect(condition: boolean, invariant: string, event: { seq: number }, detail: string): void {
    if (!condition) this.violations.push({ invariant, seq: event.seq, detail });
  }

  private order(e: Event | ForeignEvent): void {
    // What a tombstone follows is gone with it, read by whoever came in time or not.
    const follows = e.kind === 'session.deleted' ? e.seq > this.seq : e.seq === this.seq + 1;
    this.expect(follows, 'order.seq', e, `${e.seq} follows ${this.seq}`);
    this.expect(e.at >= this.at, 'order.time', e, `${e.at} is before ${this.at}`);
    this.expect((e.kind === 'session.started') === (e.seq === 1), 'order.first', e, `${e.kind} at ${e.seq}`);
    this.seq = e.seq;
    this.at = e.at;
  }

  private content(e: Event): void {
    switch (e.kind) {
      case 'lease.acquired':
        this.expect(e.epoch > this.epoch, 'lease.grows', e, `epoch ${e.epoch} after ${this.epoch}`);
        this.epoch = e.epoch;
        return;
      case 'message.accepted':
        this.expect(!this.accepted.has(e.message), 'message.once', e, `${e.message} accepted twice`);
        this.expect(e.key === null || !this.keys.has(e.key), 'message.key', e, `key ${e.key} accepted twice`);
        this.accepted.set(e.message, 'unread');
        if (e.key !== null) this.keys.add(e.key);
        return;
      case 'message.read':
        for (const id of e.messages) this.read(e, id);
        this.expect(e.turn === this.turn && e.step === this.step, 'message.step', e, `read outside its step`);
        return;
      case 'turn.started':
        this.expect(this.turn === null, 'turn.one', e, `turn ${e.turn} while ${this.turn} is open`);
        this.expect(e.turn === this.turns + 1, 'turn.order', e, `turn ${e.turn} after ${this.turns}`);
        this.expect(!this.stopped, 'stop.final', e, 'a turn of a stopped session');
        this.turn = e.turn;
        this.turns = e.turn;
        this.step = 0;
        return;
      case 'step.started':
        this.expect(e.turn === this.turn, 'step.turn', e, `step of turn ${e.turn}, open is ${this.turn}`);
        this.expect(e.step === this.step + 1, 'step.order', e, `step ${e.step} after ${this.step}`);
        this.expect(!this.rests, 'budget.rests', e, 'a step while its turn rests on a budget');
        this.step = e.step;
        return;
      case 'response.surfaced':
      case 'turn.failed':
        this.expect(e.turn === this.turn, 'turn.end', e, `end of turn ${e.turn}, open is ${this.turn}`);
        this.expect(!this.rests, 'budget.rests', e, 'an end of a turn that rests on a budget');
        this.turn = null;
        return;
      case 'turn.passed':
        this.expect(e.turn === this.turn, 'turn.end', e, `end of turn ${e.turn}, open is ${this.turn}`);
        this.turn = null;
        return;
      case 'turn.interrupted':
        if (e.turn === this.turn) this.turn = null;
        this.rests = false;
        return;
      case 'budget.exhausted':
        this.expect(
          e.turn === this.turn && e.step === this.step,
          'budget.step',
          e,
          'it rests outside its step',
        );
        this.rests = true;
        return;
      case 'budget.set':
      case 'session.resumed':
        this.rests = false;
        return;
      case 'model.completed':
        this.expect(!this.rests, 'budget.rests', e, 'a reply while its turn rests on a budget');
        this.expect(e.turn === this.turn && e.step === this.step, 'model.step', e, 'reply outside its step');
        return;
      case 'compaction.started':
        this.expect(this.compacting === null, 'compaction.one', e, 'begun while another one is under way');
        this.compacting = { items: e.items, attempt: 1 };
        return;
      case 'compaction.failed':
        this.expect(this.compacting?.attempt === e.attempt, 'compaction.attempt', e, `attempt ${e.attempt}`);
        if (this.compacting)
          this.compacting = e.attempt < ATTEMPTS ? { ...this.compacting, attempt: e.attempt + 1 } : null;
        return;
      case 'context.compacted':
        this.compacted(e);
        return;
      case 'effect.intended':
        this.intended(e);
        return;
      case 'effect.dispatched': {
        const effect = this.effects.get(e.effect);
        this.expect(effect !== undefined, 'effect.intent', e, `${e.effect} dispatched without intent`);
        this.expect(!effect?.closed, 'effect.closed', e, `${e.effect} dispatched after its end`);
        this.expect(!effect?.isBarred, 'fork.effect', e, `${e.effect} dispatched in a fork, of its original`);
        this.expect(e.attempt === (effect?.sent ?? 0) + 1, 'effect.attempt', e, `attempt ${e.attempt}`);
        this.expect(e.epoch === this.epoch, 'effect.epoch', e, `epoch ${e.epoch} under ${this.epoch}`);
        this.expect(!this.stopped, 'stop.final', e, 'a dispatch of a stopped session');
        this.expect(effect?.verdict !== 'deny', 'policy.deny', e, `${e.effect} dispatched, and was denied`);
        const mayPass = effect?.verdict !== 'ask' || effect.isApproved;
        this.expect(mayPass, 'policy.ask', e, `${e.effect} dispatched, and nobody approved it`);
        if (effect) {
          effect.isDoubtful = effect.isCancelable && effect.sent > effect.cleared;
          effect.sent = e.attempt;
        }
        return;
      }
      case 'effect.settled': {
        const effect = this.effects.get(e.effect);
        this.expect((effect?.sent ?? 0) > 0, 'effect.mark', e, `${e.effect} settled without a dispatch mark`);
        this.expect(!effect?.closed, 'effect.once', e, `${e.effect} settled twice`);
        if (effect && e.outcome.status !== 'unknown') {
          effect.closed = !effect.isDoubtful;
          effect.isDoubtful = false;
        }
        return;
      }
      case 'effect.reconciled': {
        const effect = this.effects.get(e.effect);
        this.expect((effect?.sent ?? 0) > 0, 'effect.mark', e, `${e.effect} reconciled, never sent`);
        this.expect(!effect?.closed, 'effect.once', e, `${e.effect} settled twice`);
        if (effect && (e.finding.status === 'done' || e.finding.status === 'failed')) effect.closed = true;
        if (effect && e.finding.status === 'absent') effect.cleared = effect.sent;
        return;
      }
      case 'decision.requested':
        this.requested(e);
        return;
      case 'decision.made':
        this.made(e);
        return;
      case 'decision.expired': {
        const asked = this.decisions.get(e.decision);
        this.expect(asked?.state === 'open', 'decision.expired', e, `${e.decision} was decided before`);
        const isOver = asked !== undefined && e.at >= asked.expiresAt;
        this.expect(isOver, 'decision.early', e, `${e.decision} expires before its time`);
        if (asked) asked.state = 'expired';
        return;
      }
      case 'cell.started':
        this.expect(!this.cells.has(e.cell), 'cell.once', e, `${e.cell} started twice`);
        this.cells.set(e.cell, 'started');
        return;
      case 'cell.committed':
        this.committed(e);
        return;
      case 'timer.fired': {
        const timer = this.timers.get(e.timer);
        this.expect(timer !== 'fired', 'timer.once', e, `${e.timer} fired twice`);
        this.expect(timer !== 'left', 'fork.timer', e, `${e.timer} fired in a fork, of its original`);
        this.timers.set(e.timer, 'fired');
        return;
      }
      case 'timer.set':
        this.timers.set(e.timer, 'set');
        this.expect(!this.isOfOther(e.origin), 'fork.cell', e, `${e.timer} set by code of its original`);
        this.asked(e.origin);
        return;
      case 'progress.noted':
        this.asked(e.origin);
        return;
      case 'session.forked':
        this.forked(e);
        return;
      case 'heap.restored':
        if (e.image) this.heaps.add(e.image.digest);
        this.parked = false;
        return;
      case 'workspace.opened':
        this.parked = false;
        return;
      case 'heap.based':
        this.expect(e.image.form === 'base', 'heap.base', e, `${e.image.form} where a base belongs`);
        this.expect(this.heaps.has(e.image.digest), 'heap.based', e, 'a base of a heap that never was');
        return;
      case 'session.parked':
        this.expect(!this.parked, 'park.once', e, 'parked without a heap that was opened');
        this.parked = true;
        return;
      case 'session.archived':
        this.expect(this.parked, 'archive.parked', e, 'archived with a heap in memory');
        return;
      case 'session.stopping':
        this.turn = null;
        this.rests = false;
        this.compacting = null;
        return;
      case 'session.stopped':
        this.stopped = true;
        this.parked = true;
        return;
      case 'session.reopened':
        this.stopped = false;
        return;
      default:
        return;
    }
  }

  /** Nobody invents what stands for the past: it is there, it is smaller, and each line names what it was taken from. */
  private compacted(e: Extract<Event, { kind: 'context.compacted' }>): void {
    const begun = this.compacting?.items;
    const isBegun = e.by === 'runtime' ? this.compacting === null : begun === e.items;
    this.expect(isBegun, 'compaction.begun', e, `${e.items} items leave, begun for ${begun ?? 'none'}`);
    this.expect(
      e.by === 'runtime' || e.lines.length > 0,
      'compaction.empty',
      e,
      'nothing stands for what has left',
    );
    const strange = e.lines.flatMap(({ sources }) => sources).filter((seq) => seq < 1 || seq >= e.seq);
    this.expect(strange.length === 0, 'compaction.sources', e, `a line names ${strange.join(', ')}`);
    const isSourced = e.lines.every(({ sources }) => sources.length > 0);
    this.expect(isSourced, 'compaction.sources', e, 'a line names no source');
    this.expect(
      e.tokensAfter < e.tokensBefore,
      'compaction.smaller',
      e,
      `${e.tokensAfter} of ${e.tokensBefore}`,
    );
    this.compacting = null;
  }

  private read(e: { seq: number }, id: string): void {
    const known = this.accepted.get(id);
    const own = id.startsWith('end:');
    this.expect(own || known !== undefined, 'message.read', e, `${id} read, never accepted`);
    this.expect(known !== 'read', 'message.read_once', e, `${id} read twice`);
    this.expect(known !== 'left', 'fork.message', e, `${id} read in a fork, left with its original`);
    this.accepted.set(id, 'read');
  }

  private intended(e: Extract<Event, { kind: 'effect.intended' }>): void {
    this.expect(!this.effects.has(e.effect), 'effect.id', e, `${e.effect} intended twice`);
    const isCancelable = e.capability.kind === 'cancelable';
    const isBarred = this.isOfOther(e.origin);
    const { digest, policy } = e;
    this.effects.set(e.effect, {
      ...{ sent: 0, cleared: 0, closed: false, isDoubtful: false, isCancelable, isBarred },
      ...{ digest, verdict: policy.verdict, isApproved: false },
    });
    this.asked(e.origin);
  }

  /** What was open is closed, and what was under way is over: the original has it. */
  private forked(e: Extract<Event, { kind: 'session.forked' }>): void {
    this.expect(e.head === e.seq - 1, 'fork.prefix', e, `a fork at ${e.head} that goes on at ${e.seq}`);
    for (const effect of this.effects.values()) {
      effect.closed = true;
      effect.isBarred = true;
    }
    for (const asked of this.decisions.values()) if (asked.state === 'open') asked.state = 'left';
    for (const [id, state] of this.timers) if (state === 'set') this.timers.set(id, 'left');
    for (const [id, state] of this.accepted) if (state === 'unread') this.accepted.set(id, 'left');
    for (const cell of this.cells.keys()) this.others.add(cell);
    this.keys.clear();
    this.rests = false;
    this.compacting = null;
    this.epoch = 0;
    this.turn = null;
    this.stopped = false;
    this.parked = true;
  }

  private isOfOther(origin: Origin | null): boolean {
    return origin?.by === 'cell' && this.others.has(origin.cell);
  }

  private requested(e: Extract<Event, { kind: 'decision.requested' }>): void {
    this.expect(!this.decisions.has(e.decision), 'decision.once', e, `${e.decision} asked twice`);
    const approves = e.about === 'approval' ? this.effects.get(e.effect ?? '') : undefined;
    if (e.about === 'approval')
      this.expect(
        approves?.digest === e.digest,
        'approval.digest',
        e,
        `${e.decision} is about another action`,
      );
    this.decisions.set(e.decision, {
      state: 'open',
      approves,
      expiresAt: e.expiresAt ?? Number.POSITIVE_INFINITY,
    });
    this.expect(!this.isOfOther(e.origin), 'fork.cell', e, `${e.decision} asked by code of its original`);
    this.asked(e.origin);
  }

  private made(e: Extract<Event, { kind: 'decision.made' }>): void {
    const asked = this.decisions.get(e.decision);
    this.expect(asked?.state === 'open', 'decision.made', e, `${e.decision} was decided or had expired`);
    const isInTime = asked === undefined || e.at < asked.expiresAt;
    this.expect(isInTime, 'decision.late', e, `${e.decision} decided after its time`);
    if (!asked) return;
    asked.state = 'made';
    if (asked.approves && e.answer === 'approve') asked.approves.isApproved = true;
  }

  private asked(origin: Origin | null): void {
    if (origin?.by === 'cell') this.guestCalls.set(origin.guestCall, 'asked');
  }

  private committed(e: Extract<Event, { kind: 'cell.committed' }>): void {
    if (e.moved.by === 'run') {
      this.expect(
        this.cells.get(e.cell) === 'started',
        'cell.run_once',
        e,
        `${e.cell} run twice or never started`,
      );
      this.cells.set(e.cell, 'committed');
    } else {
      const state = this.guestCalls.get(e.moved.guestCall);
      this.expect(state !== undefined, 'cell.delivery', e, `call ${e.moved.guestCall} was never asked`);
      this.guestCalls.set(e.moved.guestCall, 'delivered');
    }
    for (const { cell } of e.ended) this.cells.set(cell, 'over');
    this.heaps.add(e.image.digest);
  }
}

/** All violations of a whole log. */
export function checkLog(events: Iterable<Event | ForeignEvent>): readonly Violation[] {
  const checker = new InvariantChecker();
  const found: Violation[] = [];
  for (const event of events) found.push(...checker.check(event));
  return found;
}
