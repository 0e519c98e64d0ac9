/**
 * The heap of the sandbox as the log knows it: the image chain, the running cell, and what the guest waits for.
 *
 * H1  One `cell.committed` for each move of the heap; its image holds everything up to it.
 * H2  Settlements enter the guest one at a time in the order of the log (`Pending.answer.seq`).
 * H3  An abort brings back what stood before the cell. What was delivered since is delivered again. When code of another
 *     cell has moved the heap meanwhile, the last commit stands instead, and the cell goes on no more.
 */

import { unreachable } from '../../lib/assert.ts';
import { given } from '../../lib/given.ts';
import { withdrawQuestions } from '../decision.ts';
import { doneOutside, withdrawUnsent } from '../effect.ts';
import type { EventOf, Stamp } from '../event.ts';
import type { CellId, DecisionId, TimerId } from '../ids.ts';
import { reportToSelf } from '../inbox.ts';
import { progressed } from '../lifetime.ts';
import { objectsLost } from '../loss.ts';
import type { CallResult, Whole } from '../message.ts';
import type { Effect, State } from '../state.ts';
import { answerCall, note, runCall } from '../turn.ts';
import type { HeapImage } from './event.ts';
import type { Delivery, Heap, ImageChain, Pending, RunningCell } from './state.ts';

export function cellStarted(s: State, e: EventOf<'cell.started'>): State {
  const { chain, pending, live } = s.heap;
  const cell: RunningCell = {
    id: e.cell,
    call: e.call,
    code: e.code,
    startedAt: e.at,
    committed: false,
    output: '',
    isMixed: false,
    before: { chain, pending, live },
  };
  const running: State = {
    ...s,
    counters: { ...s.counters, cell: s.counters.cell + 1 },
    heap: { ...s.heap, cell },
  };
  return runCall(running, e.call, { kind: 'cell', cell: e.cell });
}

export function cellCommitted(s: State, e: EventOf<'cell.committed'>): State {
  const { moved } = e;
  const heap: Heap = {
    ...s.heap,
    chain: extend(s.heap.chain, e.image, e.seq),
    pending:
      moved.by === 'delivery'
        ? s.heap.pending.filter((call) => call.guestCall !== moved.guestCall)
        : s.heap.pending,
    cell: s.heap.cell && (s.heap.cell.id === e.cell ? movedOn(s.heap.cell, e) : mixed(s.heap.cell)),
    suspended: s.heap.suspended.map((cell) => (cell.id === e.cell ? movedOn(cell, e) : cell)),
    live: relive(s.heap.live, e),
  };
  const moving = progressed({ ...s, heap });
  const isHeard = [heap.cell, ...heap.suspended].some((cell) => cell?.id === e.cell);
  const heard = isHeard || e.output === '' ? moving : inBackground(moving, e.cell, e.output, e);
  return e.ended.reduce((state, { cell, end }) => {
    const ending = [state.heap.cell, ...state.heap.suspended].find((one) => one?.id === cell);
    const ended = cellResult(end, ending?.output ?? '');
    return endCell(state, cell, { ...ended, ...given({ whole: wholeOf(ended.text, e) }) }, e);
  }, heard);
}

const movedOn = (cell: RunningCell, { moved, output }: EventOf<'cell.committed'>): RunningCell => ({
  ...cell,
  committed: cell.committed || moved.by === 'run',
  output: cell.output + output,
});

const mixed = (cell: RunningCell): RunningCell => (cell.isMixed ? cell : { ...cell, isMixed: true });

export function cellAborted(s: State, e: EventOf<'cell.aborted'>): State {
  const outside = doneOutside(s, isOf(e.cell));
  const stands = s.heap.cell?.isMixed ? BEFORE_LAST : BEFORE;
  const text = [abortText(e.reason), stands, e.message, outside].filter((part) => part !== '').join(' ');
  const printed = e.output === '' ? '' : `\nPrinted before that:\n${e.output}`;
  if (s.heap.cell?.id === e.cell) {
    const { call } = s.heap.cell;
    const quiet = withdrawUnsent(abortRunningCell(s), isOf(e.cell), 'its cell was aborted', e);
    const before = e.message === '' ? 0 : e.message.length + 1;
    const whole = { seq: e.seq, from: text.length + printed.length - e.output.length - before };
    return answerCall(quiet, call, { status: 'failed', text: text + printed, whole });
  }
  // A delivery outside a running cell ran away: the heap before that delivery stays, the promise never settles.
  const first = nextDelivery(s.heap.pending)?.guestCall;
  const dropped = s.heap.pending.filter(({ guestCall }) => guestCall !== first);
  const gone = { ...s, heap: { ...s.heap, pending: dropped, opened: null } };
  return s.heap.suspended.some((cell) => cell.id === e.cell)
    ? endCell(gone, e.cell, { status: 'failed', text }, e)
    : note(gone, `[${e.cell} in the background] ${text}`, e.at);
}

function inBackground(s: State, cell: CellId, output: string, e: Stamp): State {
  const who = `[${cell} in the background] `;
  return note(s, who + output, e.at, { seq: e.seq, from: who.length });
}

export function cellSuspended(s: State, e: EventOf<'cell.suspended'>): State {
  if (s.heap.cell?.id !== e.cell) return s;
  const { cell } = s.heap;
  const isTimer = s.heap.pending.some((call) => call.on === 'timer' && call.timer === e.on);
  const awaits = isTimer ? `until its timer ${e.on}` : `for a person (decision ${e.on})`;
  const text = `The cell waits ${awaits}. Its end is reported when it comes.`;
  const parked = { ...s, heap: { ...s.heap, cell: null, suspended: [...s.heap.suspended, cell] } };
  return answerCall(parked, cell.call, { status: 'suspended', text });
}

export function restored(s: State, e: EventOf<'heap.restored'>): State {
  const known = { rung: e.rung, at: e.at, note: e.note, lost: e.lost };
  const chain = e.image ? { base: e.image, deltas: [], seq: e.seq } : s.heap.chain;
  const open: State = { ...s, heap: { ...s.heap, chain, opened: e.epoch, parked: false, restored: known } };
  const hadHeap = s.heap.chain !== null;
  switch (e.rung) {
    case 'attached':
    case 'exact':
      return open;
    case 'replayed':
      return objectsLost(note(regenerated(open), e.note, e.at), e);
    case 'fresh':
      return hadHeap ? objectsLost(note(regenerated(emptied(open, e)), e.note, e.at), e) : open;
    default:
      return unreachable(e.rung);
  }
}

export function based(s: State, e: EventOf<'heap.based'>): State {
  return progressed({ ...s, heap: { ...s.heap, chain: { base: e.image, deltas: [], seq: e.seq } } });
}

export function parked(s: State): State {
  return progressed({ ...s, heap: { ...s.heap, opened: null, parked: true } });
}

// ── shared by the slices ───────────────────────────────────────────────────────────────────────────────────

type InCell = Pick<Pending, 'cell' | 'guestCall'>;

export function guestTimerSet(s: State, timer: InCell & { timer: TimerId; due: number }): State {
  const { cell, guestCall, timer: id, due } = timer;
  return awaited(s, { cell, guestCall, on: 'timer', timer: id, due, answer: null });
}

export function guestTimerFired(s: State, e: EventOf<'timer.fired'>): State {
  return answerPending(s, (call) => call.on === 'timer' && call.timer === e.timer, nothing(e));
}

export function guestAsked(s: State, { cell, guestCall }: InCell, decision: DecisionId): State {
  return awaited(s, { cell, guestCall, on: 'decision', decision, answer: null });
}

export function answerGuestDecision(s: State, id: DecisionId, e: Stamp): State {
  const isIt = (call: Pending): boolean => call.on === 'decision' && call.decision === id;
  return answerPending(s, isIt, decided(s, id, e));
}

/** Nothing is waited for: it is noted, and the guest goes on. */
export function noted(s: State, { cell, guestCall }: InCell, e: Stamp): State {
  return awaited(s, { cell, guestCall, on: 'note', answer: nothing(e) });
}

/** A settlement is on its way into the guest; for a call that no heap knows any more it stays in the ledger. */
export function answerGuest(s: State, effect: Effect, e: Stamp): State {
  const isIt = (call: Pending): boolean => call.on === 'effect' && call.effect === effect.id;
  return answerPending(s, isIt, delivery(effect, e));
}

const awaited = (s: State, call: Pending): State => ({
  ...s,
  heap: { ...s.heap, pending: [...s.heap.pending, call] },
});

function answerPending(s: State, which: (call: Pending) => boolean, answer: Delivery | null): State {
  if (answer === null) return s;
  const pending = s.heap.pending.map((call) => (which(call) ? { ...call, answer } : call));
  return { ...s, heap: { ...s.heap, pending } };
}

/** The heap from before the running cell, with the answers that have come in since. */
export function abortRunningCell(s: State): State {
  if (!s.heap.cell) return s;
  const { before, id, isMixed } = s.heap.cell;
  if (isMixed) return withoutCell(s, id);
  const isOld = new Set(before.pending.map(({ guestCall }) => guestCall));
  const pending = before.pending.map((call): Pending => {
    if (call.on === 'note' || call.answer) return call;
    const now = s.heap.pending.find((other) => other.guestCall === call.guestCall);
    return now ?? { ...call, answer: redelivery(s, call) };
  });
  const back: State = {
    ...s,
    heap: { ...s.heap, chain: before.chain, live: before.live, pending, cell: null, opened: null },
  };
  return withdrawQuestions(
    back,
    ({ origin }) => origin?.by === 'cell' && origin.cell === id && !isOld.has(origin.guestCall),
  );
}

/** The heap of the last commit, in which nothing that this cell waits for comes any more. */
function withoutCell(s: State, id: CellId): State {
  const pending = s.heap.pending.filter((call) => call.cell !== id);
  const left = { ...s, heap: { ...s.heap, pending, cell: null, opened: null } };
  return withdrawQuestions(left, ({ origin }) => origin?.by === 'cell' && origin.cell === id);
}

/** The settlement that enters the guest next. */
export function nextDelivery(pending: readonly Pending[]): (Pending & { answer: Delivery }) | null {
  let first: (Pending & { answer: Delivery }) | null = null;
  for (const call of pending) {
    if (!call.answer) continue;
    const { answer } = call;
    const earlier =
      first === null ||
      answer.seq < first.answer.seq ||
      (answer.seq === first.answer.seq && call.guestCall < first.guestCall);
    if (earlier) first = { ...call, answer };
  }
  return first;
}

// ── details ────────────────────────────────────────────────────────────────────────────────────────────────

const isOf =
  (cell: CellId) =>
  ({ origin }: Effect): boolean =>
    origin.by === 'cell' && origin.cell === cell;

function endCell(s: State, id: CellId, result: CallResult, e: Stamp): State {
  if (s.heap.cell?.id === id) {
    const { call } = s.heap.cell;
    return answerCall({ ...s, heap: { ...s.heap, cell: null } }, call, result);
  }
  if (!s.heap.suspended.some((cell) => cell.id === id)) return s;
  const suspended = s.heap.suspended.filter((cell) => cell.id !== id);
  const ended = { ...s, heap: { ...s.heap, suspended } };
  const news = `Cell ${id}, which was suspended, has ended: ${result.status}. `;
  const whole = result.whole && { ...result.whole, from: result.whole.from + news.length };
  return reportToSelf(ended, id, news + result.text, e.at, whole);
}

/** What one move of the heap says: what was printed, and how cells ended. */
export function cellInWords({ output, ended }: Pick<EventOf<'cell.committed'>, 'output' | 'ended'>): string {
  const ends = ended.map(({ end }) => (end.status === 'done' ? end.value : end.error));
  return [output.replace(/\n$/, ''), ...ends].filter((text) => text !== '').join('\n');
}

/** Of a cell that was moved often, only the end stands in its last event. */
function wholeOf(text: string, e: EventOf<'cell.committed'>): Whole | undefined {
  const from = text.lastIndexOf(cellInWords(e));
  return from < 0 ? undefined : { seq: e.seq, from };
}

function cellResult(end: EventOf<'cell.committed'>['ended'][number]['end'], output: string): CallResult {
  const printed = output === '' ? '' : `${output.replace(/\n$/, '')}\n`;
  return end.status === 'done'
    ? { status: 'done', text: `${printed}${end.value}` }
    : { status: 'failed', text: `${printed}${end.error}` };
}

const BEFORE = 'The heap is as it was before the cell.';
const BEFORE_LAST =
  'Other code has moved the heap meanwhile, so it is as it was at the last await; the cell goes on no more.';

function abortText(reason: EventOf<'cell.aborted'>['reason']): string {
  switch (reason) {
    case 'time':
      return 'Aborted: the cell ran too long.';
    case 'memory':
      return 'Aborted: out of memory.';
    case 'output':
      return 'Aborted: too much output.';
    case 'poisoned':
    case 'lost':
      return 'Aborted: the engine broke.';
    case 'stuck':
      return 'Aborted: the cell awaits something that can never come.';
    case 'interrupted':
      return 'Aborted: interrupted.';
    default:
      return unreachable(reason);
  }
}

function extend(chain: ImageChain | null, image: HeapImage, seq: number): ImageChain {
  return chain === null || image.form === 'base'
    ? { base: image, deltas: [], seq }
    : { base: chain.base, deltas: [...chain.deltas, image], seq };
}

function relive(live: Heap['live'], e: EventOf<'cell.committed'>): Heap['live'] {
  const { set, gone } = e.live;
  if (set.length === 0 && gone.length === 0) return live;
  const changed = new Set([...gone, ...set.map((object) => object.name)]);
  const added = set.map((object) => ({ ...object, cell: e.cell }));
  return [...live.filter((object) => !changed.has(object.name)), ...added].sort((a, b) =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : 0,
  );
}

function regenerated(s: State): State {
  return { ...s, heap: { ...s.heap, generation: s.heap.generation + 1 } };
}

/** Nothing could be brought back: whoever waits in the old heap waits no more. */
function emptied(s: State, e: Stamp): State {
  const cells = [...s.heap.suspended, ...(s.heap.cell ? [s.heap.cell] : [])];
  const ended = cells.reduce((state, { id }) => {
    const text = `The sandbox was lost while the cell ran. ${doneOutside(state, isOf(id))}`.trim();
    return endCell(state, id, { status: 'failed', text }, e);
  }, s);
  const chain = ended.heap.chain?.seq === e.seq ? ended.heap.chain : null;
  const empty: State = { ...ended, heap: { ...ended.heap, chain, pending: [], live: [] } };
  const silent = withdrawQuestions(empty, ({ origin }) => origin?.by === 'cell');
  return withdrawUnsent(silent, ({ origin }) => origin.by === 'cell', 'the sandbox was lost', e);
}

function delivery(effect: Effect, e: Stamp): Delivery {
  const { outcome } = effect;
  if (outcome?.status === 'done') {
    return { seq: e.seq, at: e.at, ok: true, json: JSON.stringify(outcome.result) };
  }
  const error = {
    name: 'EffectError',
    code: outcome?.code ?? 'failed',
    message: outcome?.message ?? 'failed',
  };
  return { seq: e.seq, at: e.at, ok: false, json: JSON.stringify(error) };
}

/** The answer to a call that the aborted cell had already been given. */
function redelivery(s: State, call: Exclude<Pending, { on: 'note' }>): Delivery | null {
  const now = { seq: s.head, at: s.at };
  if (call.on === 'timer') return nothing(now);
  if (call.on === 'decision') return decided(s, call.decision, now);
  const effect = s.effects.closed.findLast((closed) => closed.id === call.effect);
  return effect ? delivery(effect, { seq: effect.settledSeq ?? s.head, at: s.at }) : null;
}

/** What a person answered, for the guest, or that nobody did in time; null while it is open. */
function decided(s: State, id: DecisionId, { seq, at }: Stamp): Delivery | null {
  const { made, expired } = s.decisions.find((decision) => decision.id === id) ?? {};
  if (expired) {
    const error = { name: 'EffectError', code: 'question.expired', message: 'Nobody answered in time' };
    return { seq, at, ok: false, json: JSON.stringify(error) };
  }
  return made ? { seq, at, ok: true, json: JSON.stringify({ text: made.text, by: made.by }) } : null;
}

const nothing = ({ seq, at }: Stamp): Delivery => ({ seq, at, ok: true, json: 'null' });
