/**
 * Recording: what was performed → facts, against the state as it stands when they are committed. Pure.
 *
 * W1  A fact is recorded only while the state still waits for it. Asked again on a newer head, the same performance
 *     gives the facts that are still missing, or none.
 */

import { readLines } from '../context/compact.ts';
import { exhaustionInWords } from '../core/budget/budget.ts';
import type { Audit } from '../core/capability.ts';
import { fault, swap } from '../core/context/compaction.ts';
import type { Charge } from '../core/context/event.ts';
import { mustLook } from '../core/conversation/next.ts';
import type { EventBody } from '../core/event.ts';
import { evolve } from '../core/evolve.ts';
import { mayAct } from '../core/fork/evolve.ts';
import { lineageOf } from '../core/fork/state.ts';
import type { LiveObject } from '../core/heap/event.ts';
import { nextDelivery } from '../core/heap/evolve.ts';
import { headImage } from '../core/heap/state.ts';
import { type CallId, mint } from '../core/ids.ts';
import type { Part } from '../core/message.ts';
import type { State } from '../core/state.ts';
import { textOf } from '../core/turn.ts';
import { unreachable } from '../lib/assert.ts';
import { ModelError, type ModelReply } from '../models/port.ts';
import type { HeapStep } from '../sandbox/port.ts';
import type { KernelObjects } from '../sandbox/process/port.ts';
import type { Blob } from '../store/port.ts';
import { sealFile } from './files.ts';
import type { Based, Heaps } from './heap/heaps.ts';
import { givenUp, kernelNoted, kernelNoticed } from './kernel/record.ts';
import type { Facts } from './log.ts';
import type { Performed, Performer } from './perform.ts';
import { planGuestCalls } from './plan.ts';
import { erased, surveyed } from './retention/record.ts';
import { checkedOut, committedFiles, joined, called as touched } from './workspace/record.ts';

const NOTHING: Facts = { events: [] };

export function record(performed: Performed, s: State, by: Performer): Facts {
  switch (performed.do) {
    case 'generate':
      return replied(performed, s, by);
    case 'compact':
      return compacted(performed, s);
    case 'call':
      return withObjects(called(performed, s), performed, s, by.epoch);
    case 'query':
      return withObjects(found(performed, s), performed, s, by.epoch);
    case 'audit':
      return audited(performed, s);
    case 'open':
      return opened(performed, s, by.epoch);
    case 'move':
      return movedHeap(performed, s, by);
    case 'base':
      return based(performed.based, s);
    case 'archive':
      return archived(performed, s);
    case 'survey':
      return surveyed(performed, s, by.ports.clock.now());
    case 'erase':
      return erased(performed, s, by.epoch);
    case 'park':
      return parked(performed, s, by);
    case 'giveUp':
      return { events: givenUp(performed, s, by.epoch) };
    case 'attend':
      return { events: kernelNoted(performed.objects, s, by.epoch, 'looked') };
    case 'checkout':
      return checkedOut(performed, s, by.epoch);
    case 'release':
      return s.lifetime.status === 'stopping' ? stopped(performed, s) : NOTHING;
    case 'look':
      return looked(performed, s);
    case 'report':
      return reported(performed, s);
    case 'relay':
      return relayed(performed, s);
    default:
      return unreachable(performed);
  }
}

/** What lives on behind a call stands in the commit of its settlement. */
function withObjects(
  facts: Facts,
  { objects }: { readonly objects?: KernelObjects | null },
  s: State,
  epoch: number,
): Facts {
  if (objects === undefined) return facts;
  return { ...facts, events: [...facts.events, ...kernelNoted(objects, s, epoch, 'ran')] };
}

function replied(
  { call, came, budget }: Extract<Performed, { do: 'generate' }>,
  s: State,
  by: Performer,
): Facts {
  const { turn, step, attempt } = call;
  const current =
    s.turn?.number === turn &&
    s.turn.step.phase === 'generating' &&
    s.turn.step.number === step &&
    s.turn.step.attempt === attempt;
  if ('exhausted' in came) {
    const rests = { kind: 'budget.exhausted', turn, step, ...came.exhausted, cut: null } as const;
    // A budget that has changed since was raised, or rests already: then it is asked again, or it need not be.
    return current && s.budget === budget ? { events: [rests] } : NOTHING;
  }
  const { reply, cost, ms, cut } = came;
  if (!(reply instanceof ModelError)) {
    if (!current) return NOTHING;
    const { finish, usage } = reply;
    if (cut !== null) {
      // It cost something whatever the budget is by now; it is written down once.
      if (s.budget.spent.steps > budget.spent.steps) return NOTHING;
      return { events: [{ kind: 'budget.exhausted', turn, step, ...cut, cut: { usage, cost, ms } }] };
    }
    const { parts, blobs } = partsOf(reply, s, by);
    const { name: model } = by.ports.model;
    const completed = { turn, step, model, parts, finish, usage, cost, ms };
    return { events: [{ kind: 'model.completed', ...completed }], blobs };
  }
  const { code, message, retry, retryAfterMs, partial } = reply;
  const failed: EventBody = { kind: 'model.failed', turn, step, code, message, retry, retryAfterMs, partial };
  if (code === 'aborted') {
    // Paused or superseded: the step is generated again. Interrupted: what people saw is kept, once.
    const cut = s.lastTurn?.number === turn && s.lastTurn.end === 'interrupted' && partial.trim() !== '';
    const isKept = s.transcript.some((item) => item.kind === 'reply' && item.cut && item.turn === turn);
    return cut && !isKept ? { events: [failed] } : NOTHING;
  }
  return current ? { events: [failed] } : NOTHING;
}

/** Lines that can be taken swap the view; anything else leaves it as it is, and says why. */
function compacted({ call, came }: Extract<Performed, { do: 'compact' }>, s: State): Facts {
  const { items, attempt } = call;
  const { compacting } = s.context;
  if (compacting?.items !== items || compacting.attempt !== attempt) return NOTHING;
  const failed = (code: string, message: string, charge: Charge['charge']): Facts => ({
    events: [{ kind: 'compaction.failed', items, attempt, code, message, charge }],
  });
  if ('exhausted' in came) return failed(came.exhausted.code, exhaustionInWords(came.exhausted), null);
  const { reply, cost, ms } = came;
  if (reply instanceof ModelError) {
    return reply.code === 'aborted' ? NOTHING : failed(reply.code, reply.message, null);
  }
  const charge = { usage: reply.usage, cost, ms };
  if (reply.finish !== 'stop') return failed('compaction.cut', `it ended with ${reply.finish}`, charge);
  const lines = readLines(textOf(reply.parts));
  const body = swap(s, { items, lines, by: 'model', why: 'cost', charge });
  const wrong = fault(s, body);
  return wrong === null ? { events: [body] } : failed('compaction.refused', wrong, charge);
}

/** Calls get our ids; the bytes of files go into blobs of the same commit. */
function partsOf(
  reply: ModelReply,
  s: State,
  by: Performer,
): { parts: readonly Part[]; blobs: readonly Blob[] } {
  let calls = 0;
  const blobs: Blob[] = [];
  const parts = reply.parts.map((part): Part => {
    if (part.type === 'tool-call') {
      const call: CallId = mint.call(s.counters, calls++);
      return { ...part, call };
    }
    if (part.type !== 'file') return part;
    const { ref, blob } = sealFile(lineageOf(s, by.session), part, by.ports.sealer);
    blobs.push(blob);
    return { type: 'file', ...ref, ...(part.meta === undefined ? {} : { meta: part.meta }) };
  });
  return { parts, blobs };
}

/** A settlement and what the call has done to the files stand in one commit. */
function called(performed: Extract<Performed, { do: 'call' }>, s: State): Facts {
  return touched(performed, settled(performed, s), s);
}

function stopped({ files }: Extract<Performed, { do: 'release' }>, s: State): Facts {
  const end: EventBody = { kind: 'session.stopped', unknown: s.effects.open.map((effect) => effect.id) };
  return joined(committedFiles(files, 'stopped', s), { events: [end] });
}

/** Of a result that its parent has, and of how the session stood when that was told. */
function reported({ call }: Extract<Performed, { do: 'report' }>, s: State): Facts {
  const { told, due } = s.family;
  const isDue = due[0]?.seq === call.result;
  if (!isDue && (call.result !== 0 || call.standing === told.standing)) return NOTHING;
  const result = Math.max(call.result, told.result);
  return { events: [{ kind: 'parent.told', result, standing: call.standing }] };
}

/** V1 of the conversation. Of tasks that stand as they stood nothing is written again. */
function looked({ call, tasks, slots }: Extract<Performed, { do: 'look' }>, s: State): Facts {
  const { turn, step } = call;
  const isCurrent =
    s.turn?.number === turn && s.turn.step.phase === 'generating' && s.turn.step.number === step;
  if (!isCurrent || !mustLook(s, turn, step)) return NOTHING;
  const { seen } = s.conversation;
  const news = tasks.filter((one) => JSON.stringify(seen[one.task]) !== JSON.stringify(one));
  return { events: [{ kind: 'tasks.seen', turn, step, tasks: news, slots }] };
}

function relayed({ call }: Extract<Performed, { do: 'relay' }>, s: State): Facts {
  const { effect, status } = call;
  const child = s.family.children.find((one) => one.effect === effect);
  const isKnown = child ? child.relayed === status : s.family.barred.includes(effect);
  return isKnown ? NOTHING : { events: [{ kind: 'child.relayed', effect, status }] };
}

function settled({ call, outcome }: Extract<Performed, { do: 'call' }>, s: State): Facts {
  const { effect, attempt } = call;
  const open = s.effects.open.find((candidate) => candidate.id === effect);
  const waits = open && open.attempts === attempt && open.status !== 'intended';
  if (!waits || (open.status === 'unknown' && (outcome.status === 'unknown' || open.answer))) return NOTHING;
  if (outcome.status === 'absent') {
    const note = 'the lease ended before the request left';
    return { events: [{ kind: 'effect.reconciled', effect, finding: outcome, evidence: 'unsent', note }] };
  }
  return { events: [{ kind: 'effect.settled', effect, attempt, outcome }] };
}

function found({ call, finding }: Extract<Performed, { do: 'query' }>, s: State): Facts {
  const open = s.effects.open.find((candidate) => candidate.id === call.effect);
  if (!open || open.queries + 1 !== call.n || open.status === 'intended') return NOTHING;
  const note =
    finding.status === 'unclear'
      ? `the service could not be asked: ${finding.reason}`
      : finding.status === 'absent'
        ? 'the service was asked by our reference: nothing arrived'
        : 'the service was asked by our reference and has it';
  return {
    events: [{ kind: 'effect.reconciled', effect: call.effect, finding, evidence: 'queried', note }],
  };
}

function audited({ call, audit }: Extract<Performed, { do: 'audit' }>, s: State): Facts {
  const open = s.effects.open.find((candidate) => candidate.id === call.effect);
  if (!open || open.queries + 1 !== call.n || open.doubtSince === null) return NOTHING;
  // What was answered and is there no more was undone by somebody, or refused: to send it again would go against them.
  const answer = open.answer ?? (open.late?.status === 'absent' ? null : open.late);
  const isGone = audit.finding.status === 'absent' && answer !== null;
  const finding = isGone ? answer : audit.finding;
  const note = isGone
    ? 'it was sent again and so answered, and the service has none of it by now'
    : noteOf(audit);
  return {
    events: [{ kind: 'effect.reconciled', effect: call.effect, finding, evidence: 'audited', note }],
  };
}

function noteOf({ finding, undone }: Audit): string {
  if (finding.status === 'unclear')
    return `it was sent again, and the service could not be looked at: ${finding.reason}`;
  if (finding.status === 'absent') return 'it was sent again, and the service has none of it';
  if (undone === 0) return 'it was sent again, and the service has it once';
  const extras = undone === 1 ? 'One extra' : `${undone} extras`;
  return `it was sent again. ${extras} stood there for a while and ${undone === 1 ? 'was' : 'were'} undone`;
}

function opened({ opened: o }: Extract<Performed, { do: 'open' }>, s: State, epoch: number): Facts {
  if (s.heap.opened === epoch) return NOTHING;
  const { rung, note, lost, image, blobs } = o;
  return { events: [{ kind: 'heap.restored', epoch, rung, note, lost, image }], blobs };
}

function movedHeap({ call, step }: Extract<Performed, { do: 'move' }>, s: State, by: Performer): Facts {
  const awaited =
    call.do === 'run'
      ? s.heap.cell?.id === call.cell && !s.heap.cell.committed
      : nextDelivery(s.heap.pending)?.guestCall === call.guestCall;
  if (!awaited || s.heap.opened !== by.epoch) return NOTHING;
  // Whose call is delivered; code of another cell may run then, and is none of its doing.
  const { cell } = call;
  if (step.kind === 'aborted') {
    const { reason, message, output } = step;
    // Ended by a holder that lets go: the heap is as it was, and the next holder makes the move.
    if (reason === 'interrupted') return NOTHING;
    return { events: [{ kind: 'cell.aborted', cell, reason, message, output }] };
  }
  return committed(s, call, cell, step, by.heaps, by);
}

function committed(
  s: State,
  call: Extract<Performed, { do: 'move' }>['call'],
  cell: typeof call.cell,
  step: Extract<HeapStep, { kind: 'rest' }>,
  heaps: Heaps,
  by: Performer,
): Facts {
  const { image, blob } = heaps.store(lineageOf(s, by.session), step.image);
  const event: EventBody = {
    kind: 'cell.committed',
    cell,
    moved: call.do === 'run' ? { by: 'run' } : { by: 'delivery', guestCall: call.guestCall },
    image,
    output: step.output,
    ended: step.ended.map((ended) => ({ cell: ended.cell as typeof cell, end: ended.end })),
    live: difference(s.heap.live, step.live),
    fuel: step.fuel,
  };
  // The calls are planned on the state after the move: their ids and due times come from it.
  const at = Math.max(by.ports.clock.now(), s.at);
  const after = evolve(s, { ...event, seq: s.head + 1, at });
  const may = mayAct(s, cell, nextDelivery(s.heap.pending)?.answer ?? null);
  const heard = may === 'unheard' ? [] : step.calls;
  const planned = planGuestCalls(after, cell, heard, by.ports, may === 'refused');
  return { events: [event, ...planned], blobs: [blob] };
}

/** A base of the very heap that stands; when it has moved on meanwhile, its own images stand. */
function based({ image, blob }: Based, s: State): Facts {
  const { chain } = s.heap;
  const stands = chain && chain.deltas.length > 0 && headImage(chain).digest === image.digest;
  return stands ? { events: [{ kind: 'heap.based', image }], blobs: [blob] } : NOTHING;
}

/** Something came in while the memory was given up: then the session works, and opens its heap again. */
function parked(
  { call, kernel, based: base, files, isKept }: Extract<Performed, { do: 'park' }>,
  s: State,
  { ports, epoch }: Performer,
): Facts {
  if (isKept) return NOTHING;
  const { events, blobs } = joined(base ? based(base, s) : NOTHING, committedFiles(files, 'parked', s));
  if (s.activeAt !== call.since) return { events, blobs };
  const isParked = s.heap.parked && s.workspace.parked;
  const rests: readonly EventBody[] = isParked ? [] : [{ kind: 'session.parked', since: call.since }];
  return { events: [...events, ...rests, ...kernelNoticed(kernel, s, epoch, ports.clock.now())], blobs };
}

/** Only the heap that was looked at is folded, and only while the session still rests. */
function archived({ call, archived: left }: Extract<Performed, { do: 'archive' }>, s: State): Facts {
  const { chain } = s.heap;
  const isSame = (chain && headImage(chain).digest) === left.of && s.activeAt === call.since;
  if (!isSame || s.residence.archivedSince === call.since) return NOTHING;
  const { events, blobs = [] } = left.based ? based(left.based, s) : NOTHING;
  const { bytes, sheds } = left;
  return {
    events: [...events, { kind: 'session.archived', since: call.since, images: sheds.length, bytes }],
    blobs,
    sheds,
  };
}

function difference(
  before: readonly LiveObject[],
  now: readonly LiveObject[],
): { set: readonly LiveObject[]; gone: readonly string[] } {
  const known = new Map(before.map((object) => [object.name, object]));
  const names = new Set(now.map((object) => object.name));
  return {
    set: now.filter((object) => {
      const old = known.get(object.name);
      return !old || old.type !== object.type || old.size !== object.size;
    }),
    gone: before.filter((object) => !names.has(object.name)).map((object) => object.name),
  };
}
