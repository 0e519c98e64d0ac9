/** A conversation in the fold: what it has seen of its tasks, and how its turns end. */

import type { EventOf } from '../event.ts';
import { progressed } from '../lifetime.ts';
import type { State } from '../state.ts';
import { answerCall, closeTurn } from '../turn.ts';
import type { Relayed } from './event.ts';
import { questionKey } from './mandate.ts';
import type { Conversation } from './state.ts';

export function seen(s: State, e: EventOf<'tasks.seen'>): State {
  const { turn, step, tasks, slots } = e;
  const now = Object.fromEntries(tasks.map((one) => [one.task, one]));
  return having(s, {
    seen: { ...s.conversation.seen, ...now },
    lookedAt: { turn, step },
    slots: slots ?? null,
  });
}

export function endingChosen(s: State, { call, relay }: EventOf<'ending.chosen'>): State {
  const ending = having(s, { endings: [...s.conversation.endings, { call, relay }] });
  const text = relay === null ? 'It is let pass.' : 'The person gets it, word for word.';
  return answerCall(ending, call, { status: 'done', text });
}

export const passed = (s: State, e: EventOf<'turn.passed'>): State =>
  ended(closeTurn(progressed(s), 'passed', '', e));

/** Which questions of tasks the person has been told of: their ids stand in it. */
export function spoken(s: State, e: EventOf<'response.surfaced'>): State {
  const open = s.family.children.flatMap(({ standing }) => standing?.questions ?? []);
  const news = open.filter(
    (one) =>
      s.conversation.shown[questionKey(one)] === undefined &&
      new RegExp(`\\b${one.decision}\\b`).test(e.text),
  );
  const shown = Object.fromEntries(news.map((one) => [questionKey(one), e.seq]));
  const told = news.length === 0 ? s : having(s, { shown: { ...s.conversation.shown, ...shown } });
  return ended(told, e.relayed);
}

/** The end of a turn, however it came: what its calls have chosen is over with it. */
export function ended(s: State, relayed: readonly Relayed[] = []): State {
  if (s.conversation.endings.length === 0 && relayed.length === 0) return s;
  const now = Object.fromEntries(relayed.map(({ task, seq }) => [task, seq]));
  return having(s, { endings: [], relayed: { ...s.conversation.relayed, ...now } });
}

const having = (s: State, change: Partial<Conversation>): State => ({
  ...s,
  conversation: { ...s.conversation, ...change },
});
