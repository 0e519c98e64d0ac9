/**
 * What stands outside, as the ledger knows it when something is told to a person. It goes out beside the text, so that
 * a person reads "done (receipt …)" or "unknown" whatever the prose says. Pure.
 *
 * K1  A claim is rendered from a settlement and from nothing else; no word of a model enters it.
 * K2  A write that can be seen outside is named with its first settled status once, again when late evidence corrects it,
 *     and for as long as it is open each time: nothing that a person has been told ends in silence.
 */

import { isRecord, type Json } from '../lib/json.ts';
import { oneLine } from '../lib/text.ts';
import { writes } from './capability.ts';
import type { Child } from './family/state.ts';
import type { EffectId, SessionId } from './ids.ts';
import { type Effect, type EffectStatus, isUnknown, type State } from './state.ts';

export interface Claim {
  readonly effect: EffectId;
  readonly tool: string;
  readonly target: string;
  /** `dispatched`: it has left, and its answer is still waited for. `withdrawn`: it was never sent, and will not be.
   *  `left`: what becomes of it is known to the original of this fork. */
  readonly status: EffectStatus;
  /** What the service answered, in one line; of what failed or is unknown, why. Null where there is nothing to say. */
  readonly receipt: string | null;
  /** The child that did it, or one below that; not there for what the session did itself. */
  readonly session?: SessionId;
}

/** Of more, the newest are named; the ledger has them all. */
const MOST = 100;

/** Every write that is open, or has come to its end since a person was last told. */
export function claims(s: State): readonly Claim[] {
  const isNews = (effect: Effect): boolean =>
    effect.outcomeSeq !== null && effect.outcomeSeq > s.toldSeq && !isInside(effect);
  const own = [...s.effects.closed.filter(isNews), ...s.effects.open.filter(({ family }) => !family)]
    .filter(({ capability }) => writes(capability))
    .map((effect) => claim(effect, s.lifetime.epoch));
  return [...s.family.children.flatMap((child) => ofChild(child, s.toldSeq)), ...own].slice(-MOST);
}

/** What a child has told of since, and what nobody knows of it: that is its parent's too, each time. */
function ofChild({ id, last, lastSeq, standing }: Child, toldSeq: number): readonly Claim[] {
  const isKnown = ({ status }: Claim): boolean => status !== 'unknown' && status !== 'dispatched';
  const news = last !== null && lastSeq > toldSeq ? last.claims.filter(isKnown) : [];
  return [
    ...news.map((one): Claim => ({ ...one, session: one.session ?? id })),
    ...(standing?.unknown ?? []).map(({ session, effect, tool, target }): Claim => {
      return { effect, tool, target, status: 'unknown', receipt: null, session };
    }),
  ];
}

/**
 * Done in the session's own files, behind its own walls: nothing stands outside that somebody would have to be told of,
 * and the commits of the files say what has changed. What can reach further is `blind`.
 */
const isInside = ({ files, family, capability, evidence }: Effect): boolean =>
  family !== undefined || (files !== undefined && capability.kind !== 'blind' && evidence === null);

function claim(effect: Effect, epoch: number): Claim {
  const { id, tool, target } = effect;
  const status = isUnknown(effect, epoch) ? 'unknown' : effect.status;
  return { effect: id, tool, target, status, receipt: receiptOf(effect) };
}

/** Long enough for a receipt number and its amount. */
const RECEIPT_CHARS = 160;

function receiptOf({ outcome, unknownReason, evidence }: Effect): string | null {
  const how = evidence === null ? '' : ` (${evidence.note})`;
  if (outcome?.status === 'done') return oneLine(shown(outcome.result) + how, RECEIPT_CHARS);
  if (outcome?.status === 'failed') return oneLine(outcome.message + how, RECEIPT_CHARS);
  return unknownReason === null ? null : oneLine(unknownReason, RECEIPT_CHARS);
}

/** Of an HTTP answer the status and the body; its headers say nothing to a person. */
function shown(result: Json): string {
  const isAnswer = isRecord(result) && typeof result.status === 'number' && typeof result.body === 'string';
  return isAnswer ? `${result.status} ${result.body}`.trim() : JSON.stringify(result);
}
