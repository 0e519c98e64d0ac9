/**
 * The recovery report: what became of each kind of state, and how that is known. Pure; the model reads it before its
 * next step, a person at any time.
 *
 * P1  A line says `survived` only of what is read from the log or a verified image, `re-observed` only where the outside
 *     was looked at or answered again, and `unknown` of whatever nobody has evidence for.
 * P2  Nothing that was lost is left out: a reply cut short, a cell that runs again, live objects by name.
 */

import { nounOf } from '../core/conversation/state.ts';
import type { ChildResult } from '../core/family/event.ts';
import { type Child, isAtWork } from '../core/family/state.ts';
import { endInWords, named } from '../core/family/words.ts';
import type { EffectId } from '../core/ids.ts';
import { type Effect, isUnknown, type Loss, openDecisions, type State } from '../core/state.ts';
import { unreachable } from '../lib/assert.ts';
import { isRecord } from '../lib/json.ts';
import { oneLine } from '../lib/text.ts';
import { changesInWords, driftInWords } from './files.ts';

export type Fate = 'survived' | 'rebuilt' | 're-observed' | 'unknown' | 'lost';

/** The kinds of state that a session has. */
export type StateKind =
  | 'contract'
  | 'inputs'
  | 'transcript'
  | 'position'
  | 'effects'
  | 'live objects'
  | 'files'
  | 'decisions'
  | 'children'
  | 'timers'
  | 'derived context'
  | 'answers';

export interface ReportLine {
  readonly kind: StateKind;
  readonly fate: Fate;
  /** What it is about, in words. */
  readonly what: string;
  /** How that is known. */
  readonly evidence: string;
}

export interface Report {
  /** How often something was lost so far: a worker, or live objects. */
  readonly losses: number;
  /** The last time: when it was taken over, and what stood in the log by then. Null while nothing ever was lost. */
  readonly last: { readonly at: number; readonly head: number; readonly lastAt: number } | null;
  readonly lines: readonly ReportLine[];
}

/** As of this state: asked again after more evidence has come in, it says more. */
export function report(s: State): Report {
  const { loss } = s;
  return {
    losses: loss?.count ?? 0,
    last: loss && { at: loss.at, head: loss.head, lastAt: loss.lastAt },
    lines: [
      line('contract', 'survived', 'objective, instructions and limits', 'read from the log, word for word'),
      inputs(s),
      ...transcript(s, loss),
      line('position', 'rebuilt', positionOf(s), `folded from ${s.head} events`),
      ...effects(s, loss),
      ...liveObjects(s, loss),
      ...kernelObjects(s, loss),
      ...files(s, loss),
      ...decisions(s),
      ...children(s, loss),
      ...s.timers.map(({ id, due }) =>
        line('timers', 'survived', `${id}, until ${new Date(due).toISOString()}`, 'an instant in the log'),
      ),
      ...derived(s, loss),
      ...answers(s),
    ],
  };
}

const line = (kind: StateKind, fate: Fate, what: string, evidence: string): ReportLine => ({
  kind,
  fate,
  what,
  evidence,
});

function inputs({ counters, inbox }: State): ReportLine {
  const unread = inbox.unread.filter(({ from }) => from === 'person').length;
  const waiting = unread === 0 ? 'all of them read' : `${unread} not read yet`;
  return line(
    'inputs',
    'survived',
    `${counted(counters.message, 'message')}, ${waiting}`,
    'read from the log',
  );
}

function transcript({ transcript: items }: State, loss: Loss | null): readonly ReportLine[] {
  const kept = line(
    'transcript',
    'survived',
    counted(items.length, 'item'),
    'read from the log, byte for byte',
  );
  if (loss === null || loss.step === null) return [kept];
  const what = `the reply of step ${loss.step}, which was being written`;
  return [kept, line('transcript', 'lost', what, 'no reply stands in the log; the model is asked again')];
}

function positionOf({ turn, turns, lifetime }: State): string {
  const where = turn ? `turn ${turn.number}, step ${turn.steps}` : `after turn ${turns}`;
  return `${where}, epoch ${lifetime.epoch}`;
}

function effects(s: State, loss: Loss | null): readonly ReportLine[] {
  const inFlight = new Set<EffectId>(loss?.effects ?? []);
  const looked = [...s.effects.closed.filter(({ id }) => inFlight.has(id)), ...s.effects.open];
  const settled = s.effects.closed.length - s.effects.closed.filter(({ id }) => inFlight.has(id)).length;
  const kept =
    settled === 0
      ? []
      : [
          line(
            'effects',
            'survived',
            counted(settled, 'settled effect'),
            'their settlements stand in the log',
          ),
        ];
  return [...kept, ...looked.map((effect) => effectLine(effect, s.lifetime.epoch, inFlight.has(effect.id)))];
}

function effectLine(effect: Effect, epoch: number, wasInFlight: boolean): ReportLine {
  const { id, target, evidence, attempts } = effect;
  const say = (fate: Fate, state: string, how: string): ReportLine =>
    line('effects', fate, `${id} (${target}) ${state}`, how);
  if (isUnknown(effect, epoch)) {
    const why = effect.unknownReason ?? 'it was sent, and no answer was saved before the worker was lost';
    return say('unknown', 'may have happened or not', why);
  }
  const again = `sent ${attempts === 1 ? 'once' : `${attempts} times`}`;
  switch (effect.status) {
    case 'intended':
      return attempts === 0
        ? say('survived', 'is not sent yet', 'no dispatch mark stands in the log, so it was never sent')
        : say('re-observed', 'did not happen, and is still to be sent', evidence?.note ?? again);
    case 'dispatched':
      return say('unknown', 'has left, and its answer is waited for', again);
    case 'unknown':
      return say('unknown', 'may have happened or not', effect.unknownReason ?? again);
    case 'withdrawn':
      return say('survived', 'was never sent and will not be', effect.outcome ? 'withdrawn' : again);
    case 'left':
      return say('unknown', 'was left with the original of this fork', 'what becomes of it is known there');
    case 'done':
    case 'failed':
      return say(
        wasInFlight ? 're-observed' : 'survived',
        effect.status === 'done' ? 'is done' : 'has failed',
        evidence?.note ?? `answered; ${again}`,
      );
    default:
      return unreachable(effect.status);
  }
}

function liveObjects({ heap, lifetime }: State, loss: Loss | null): readonly ReportLine[] {
  const { restored, live, chain, opened } = heap;
  const say = (fate: Fate, what: string, how: string): ReportLine => line('live objects', fate, what, how);
  const rerun =
    loss === null || loss.cell === null
      ? []
      : [
          say(
            'lost',
            `what ${loss.cell} had done so far inside the sandbox`,
            'it has no image; it runs again from its start',
          ),
        ];
  if (chain === null && (restored === null || restored.lost.length === 0)) return rerun;
  const names = live.map(({ name }) => name);
  const all = names.length === 0 ? 'the heap, without names' : listed(names);
  const since = loss !== null && restored !== null && restored.at >= loss.at;
  if (opened !== lifetime.epoch && !since) {
    return [say('survived', all, 'the image stands in the store; it is opened when it is needed'), ...rerun];
  }
  const lost = (restored?.lost ?? []).map(({ name, type, cell, why }) =>
    say('lost', `${name} (${type}, made by ${cell})`, why),
  );
  const how = restored?.note || 'the image that the log names, checked by its digest';
  const fate: Fate = restored?.rung === 'replayed' ? 'rebuilt' : 'survived';
  return [...(chain === null || restored?.rung === 'fresh' ? [] : [say(fate, all, how)]), ...lost, ...rerun];
}

/** By name, each with the code that made it, so that it can be made again. */
function kernelObjects({ kernel, effects: { closed } }: State, loss: Loss | null): readonly ReportLine[] {
  const say = (fate: Fate, what: string, how: string): ReportLine => line('live objects', fate, what, how);
  const codes = new Map(closed.map(({ id, args }) => [id, isRecord(args) ? args.code : undefined]));
  const isOfThis = loss !== null && kernel.lostAt >= loss.at;
  const lost = (isOfThis ? kernel.lost : []).map(({ name, type, effect, why }) => {
    const code = codes.get(effect);
    const made = typeof code === 'string' ? `; ${effect} was: ${oneLine(code, 300)}` : '';
    return say('lost', `${name} of Python (${type}, made by ${effect})${made}`, why);
  });
  if (kernel.live.length === 0) return lost;
  const names = listed(kernel.live.map(({ name }) => name));
  return [
    say('survived', `of Python: ${names}`, 'the kernel was asked, or its values are on the disk'),
    ...lost,
  ];
}

function files({ workspace, lifetime }: State, loss: Loss | null): readonly ReportLine[] {
  const { tree, opened, restored, drift } = workspace;
  if (tree === null) return [];
  const say = (fate: Fate, what: string, how: string): ReportLine => line('files', fate, what, how);
  const all = counted(tree.files, 'file');
  const since = loss !== null && restored !== null && restored.at >= loss.at ? restored : null;
  if (opened !== lifetime.epoch && since === null) {
    return [
      say('survived', all, 'their snapshot stands in the store; the folder is looked at when it is needed'),
    ];
  }
  const lost = (since?.lost ?? []).map(({ path, why }) => say('lost', path === '' ? 'the files' : path, why));
  const others =
    drift === null ? [] : [say('re-observed', changesInWords(drift.changed), driftInWords(drift))];
  const kept =
    since?.rung === 'restored' || since?.rung === 'lost'
      ? say('rebuilt', all, since.note)
      : say('survived', all, 'the folder was compared with its snapshot, file by file');
  return [kept, ...lost, ...others];
}

function decisions(s: State): readonly ReportLine[] {
  return openDecisions(s).map(({ id, effect }) => {
    const about = effect === null ? 'asked by the work' : `about ${effect}`;
    return line('decisions', 'survived', `${id}, ${about}, still to be decided`, 'read from the log');
  });
}

/**
 * Those at work, and those that have told since the loss what came of it, each by its id; the others are counted. And
 * what this session owes its own parent.
 */
function children(s: State, loss: Loss | null): readonly ReportLine[] {
  const { children: all, parent, due } = s.family;
  const say = (fate: Fate, what: string, how: string): ReportLine => line('children', fate, what, how);
  const isBack = (child: Child) => loss !== null && child.last !== null && child.lastSeq > loss.head;
  const atWork = all.filter(isAtWork);
  const back = all.filter((child) => !isAtWork(child) && isBack(child));
  const rest = all.length - atWork.length - back.length;
  const name = ({ id, title }: Child) => named({ noun: nounOf(s), id, title });
  return [
    ...some(atWork).map((child) =>
      say(
        'survived',
        `${name(child)} ${standingOf(child)}`,
        `${child.effect} fixes its id, so none is started twice; what comes of it is taken once, whenever it comes`,
      ),
    ),
    ...beyond(atWork, (n) => say('survived', `${n} more at work`, 'the same holds for them')),
    ...some(back).map((child) =>
      say(
        're-observed',
        `${name(child)} ${endInWords(child.last as ChildResult)}`,
        `it has told so itself (event ${child.lastSeq})`,
      ),
    ),
    ...beyond(back, (n) => say('re-observed', `${n} more have told what came of it`, 'by themselves')),
    ...(rest === 0 ? [] : [say('survived', `${rest} at rest`, 'what they have answered stands in the log')]),
    ...(parent === null || due.length === 0
      ? []
      : [
          say(
            'survived',
            `${counted(due.length, 'result')} for ${parent.session}, its parent`,
            'read from the log; told again until the parent has it',
          ),
        ]),
  ];
}

function standingOf({ asked, standing }: Child): string {
  const questions = standing?.questions.length ?? 0;
  const status = standing !== null && standing.status !== 'open' ? `is ${standing.status}` : 'is at work';
  const without = `${status}, ${counted(asked.length, 'order')} without a result`;
  return questions === 0 ? without : `${without}, ${counted(questions, 'question')} to a person`;
}

/** Summaries are kept, and stand for what is kept as well; an index is made again. None of it is an authority. */
function derived({ context: { past } }: State, loss: Loss | null): readonly ReportLine[] {
  const say = (fate: Fate, what: string, how: string): ReportLine => line('derived context', fate, what, how);
  const lines = past?.sections.reduce((sum, section) => sum + section.lines.length, 0) ?? 0;
  return [
    ...(past === null
      ? []
      : [
          say(
            'survived',
            `${counted(lines, 'compacted line')} for ${counted(past.items, 'item')}`,
            `read from the log (event ${past.seq}), where those stand too, byte for byte`,
          ),
        ]),
    ...(loss?.compacting
      ? [
          say(
            'lost',
            'the compaction that was under way',
            'none stands in the log; the view was as before it',
          ),
        ]
      : []),
    say('rebuilt', 'the index of words', 'what of it is missing the next search makes from the log'),
  ];
}

function answers({ lastTurn }: State): readonly ReportLine[] {
  if (lastTurn?.end !== 'surfaced') return [];
  return [
    line('answers', 'survived', `the response of turn ${lastTurn.number}`, 'readers go on from their offset'),
  ];
}

/** Of very many children the first ones: `inspect` has them all. */
const MOST_CHILDREN = 12;
const some = (children: readonly Child[]): readonly Child[] => children.slice(0, MOST_CHILDREN);
const beyond = (children: readonly Child[], say: (more: number) => ReportLine): readonly ReportLine[] =>
  children.length <= MOST_CHILDREN ? [] : [say(children.length - MOST_CHILDREN)];

const counted = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

/** Of very many names the first ones: `inspect` has them all. */
function listed(names: readonly string[]): string {
  const most = 40;
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return names.slice(0, most).join(', ') + more;
}
