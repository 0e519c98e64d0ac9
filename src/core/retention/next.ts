/**
 * How long a session is kept that nobody comes back to: a part of `next`, pure. By default for ever.
 *
 * R1  Nothing is deleted but by an order, or by a policy of the session's own and after a notice about this very rest that
 *     has stood for its whole grace time. That it is over is a choice, on the very head: what stands before it has
 *     prevented it.
 * R2  Only what is settled goes: no effect, question, timer or result may be open, here or below.
 * R3  A tree goes from its top, and its top goes last: of what has a parent the policy of the parent decides.
 */

import { isAtWork } from '../family/state.ts';
import { call, type Next, REST, wake } from '../flight.ts';
import { openDecisions, pendingTimers, type State } from '../state.ts';
import { standingRetention } from './state.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Of the time that it is kept, so much is grace. */
const GRACE_SHARE = 1 / 4;
const GRACE_MS = { least: HOUR, most: 7 * DAY };
/** What runs on unseen is looked at again after as much. */
const LOOK_MS = { least: HOUR, most: DAY };

/** How long a notice stands: a quarter of the time, within an hour and a week, and never more than all of it. */
export const graceMs = (keptMs: number): number =>
  Math.min(keptMs, Math.round(Math.min(GRACE_MS.most, Math.max(GRACE_MS.least, keptMs * GRACE_SHARE))));

export const lookAgainMs = (keptMs: number): number =>
  Math.min(LOOK_MS.most, Math.max(LOOK_MS.least, keptMs * GRACE_SHARE));

export function retention(s: State, now: number): Next {
  const { retentionMs } = s.contract.limits;
  if (retentionMs === 0 || !mayGo(s)) return REST;
  const notice = standingRetention(s);
  const due = notice?.until ?? Math.max(s.activeAt + retentionMs - graceMs(retentionMs), deferredTo(s));
  if (now < due) return wake(due);
  return call({ do: 'survey', since: s.activeAt, until: notice?.until ?? null });
}

const deferredTo = ({ retention: { deferred }, activeAt }: State): number =>
  deferred?.since === activeAt ? deferred.until : 0;

/** Whether the policy may take it, as far as its log knows. */
const mayGo = (s: State): boolean =>
  s.foreign.length === 0 && s.family.parent === null && isOver(s) && whyNotSettled(s) === null;

/** Stopped, or at rest with its last turn done: nothing is begun and nothing unread. */
function isOver({ lifetime, turn, inbox, heap, budget }: State): boolean {
  if (lifetime.status === 'stopped') return true;
  const rests = turn === null && inbox.unread.length === 0 && heap.cell === null && budget.exhausted === null;
  return lifetime.status === 'open' && lifetime.quarantine === null && rests;
}

/** R2: what is open, and what a person can do about it; null when nothing is. */
export function whyNotSettled(s: State): { readonly what: string; readonly next: string } | null {
  const [effect] = s.effects.open;
  const decision = openDecisions(s)[0];
  if (decision) {
    const about = decision.effect === null ? 'is a question' : `is about ${decision.effect}`;
    return {
      what: `${decision.id} ${about} that nobody has answered`,
      next: `answer it: outlast decide ID ${decision.id} …`,
    };
  }
  if (effect) {
    const isSent = effect.dispatch !== null;
    return {
      what: `what became of ${effect.id} (${effect.tool}) is not settled`,
      next: isSent
        ? 'reopen it, and say what became of it when it asks: outlast reopen ID'
        : 'wait until it has ended',
    };
  }
  if (pendingTimers(s).length > 0) return { what: 'a timer of it is set', next: 'stop it: outlast stop ID' };
  const child = s.family.children.find((one) => isAtWork(one) && one.standing?.status !== 'stopped');
  if (child) return { what: `its child ${child.id} is at work`, next: 'stop it: outlast stop ID' };
  const asking = s.family.children.flatMap(({ standing }) => [
    ...(standing?.questions ?? []).map(({ session, decision: id }) => ({ session, what: id })),
    ...(standing?.unknown ?? []).map(({ session, effect: id }) => ({ session, what: id })),
  ])[0];
  if (asking) {
    return { what: `${asking.what} of ${asking.session}, below it, is open`, next: 'settle that first' };
  }
  if (s.family.due.length > 0) return { what: 'its parent has not heard its last result', next: 'wait' };
  return null;
}
