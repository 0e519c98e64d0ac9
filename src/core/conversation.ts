/**
 * A conversation: a session that talks to a person, and has tasks that work. Its tasks are its children, and all that
 * holds for children holds for them; here is what a conversation has beside that. Pure.
 *
 * V1  Before each step it looks how its tasks stand, and the look is in the log: whoever builds the request again has it.
 * V2  A result is announced once: what was relayed is relayed no more. What nobody said a word about was let pass.
 * V3  A turn that a person's words stand in ends with an answer. Any other one may end without a word.
 */

import { claims } from './claims.ts';
import type { Relayed, SlotsSeen, TaskSeen } from './conversation-event.ts';
import type { EventBody } from './event.ts';
import { type Child, isAtWork } from './family.ts';
import type { CallId, SessionId } from './ids.ts';
import type { State, Step } from './state.ts';

export interface Conversation {
  /** How its tasks stood at the last look. */
  readonly seen: Readonly<Record<SessionId, TaskSeen>>;
  readonly lookedAt: { readonly turn: number; readonly step: number } | null;
  /** The slots of its owner at the last look; null where that did not say. */
  readonly slots: SlotsSeen | null;
  /** Calls of the open turn with which it is to end. */
  readonly endings: readonly { readonly call: CallId; readonly relay: Relayed | null }[];
  /** Questions of tasks whose id stands in a response, and the first such response. */
  readonly shown: Readonly<Record<string, number>>;
  /** Of each task the last result that was relayed. */
  readonly relayed: Readonly<Record<SessionId, number>>;
}

export const NO_CONVERSATION: Conversation = {
  seen: {},
  lookedAt: null,
  slots: null,
  endings: [],
  shown: {},
  relayed: {},
};

export const isConversation = ({ contract }: Pick<State, 'contract'>): boolean =>
  contract.profile === 'conversation';

/** What its children are called: by whoever reads of them. */
export const nounOf = (s: Pick<State, 'contract'>): 'Task' | 'Child' =>
  isConversation(s) ? 'Task' : 'Child';

/** V1. */
export function mustLook(s: State, turn: number, step: number): boolean {
  const { lookedAt } = s.conversation;
  if (!isConversation(s) || s.family.children.length === 0) return false;
  return lookedAt?.turn !== turn || lookedAt.step !== step;
}

/** Of tasks at rest the newest are shown; all that work or wait for somebody are. */
const SHOWN = 40;

/** The tasks that it sees, in the order in which they were started. */
export function shownTasks({ family }: State): readonly Child[] {
  const isLive = (child: Child): boolean => {
    const { questions = [], unknown = [], notices = [] } = child.standing ?? {};
    return isAtWork(child) || questions.length + unknown.length + notices.length > 0;
  };
  const { children } = family;
  const live = new Set(children.filter(isLive));
  const newest = children.filter((child) => !live.has(child)).sort(byNews);
  const shown = new Set([...live, ...newest.slice(0, Math.max(0, SHOWN - live.size))]);
  return children.filter((child) => shown.has(child));
}

const byNews = (a: Child, b: Child): number => newsOf(b) - newsOf(a);
const newsOf = ({ lastSeq, spawnedSeq }: Child): number => Math.max(lastSeq, spawnedSeq);

/** How the turn ends when its calls have chosen that, and nothing else has to be read first; null when it goes on. */
export function chosenEnd(
  s: State,
  turn: number,
  { calls }: Extract<Step, { phase: 'acting' }>,
): EventBody | null {
  const endings = s.conversation.endings.filter(({ call }) => calls.some(({ part }) => part.call === call));
  const isHeard = calls.every((call) => call.state === 'answered' && call.result.status === 'done');
  if (endings.length === 0 || !isHeard) return null;
  const relayed = endings.flatMap(({ relay }) => (relay === null ? [] : [relay]));
  return relayed.length === 0 ? { kind: 'turn.passed', turn } : relaying(s, turn, relayed);
}

/** What tasks have said, word for word, with what they have done. */
function relaying(s: State, turn: number, relayed: readonly Relayed[]): EventBody {
  const results = relayed.flatMap(({ task }) => {
    const child = s.family.children.find(({ id }) => id === task);
    return child?.last ? [{ ...child, last: child.last }] : [];
  });
  const own = claims(s);
  const isNew = (id: SessionId, effect: string): boolean =>
    !own.some((claim) => claim.effect === effect && claim.session === id);
  const theirs = results.flatMap(({ id, last }) =>
    last.claims
      .map((claim) => ({ ...claim, session: claim.session ?? id }))
      .filter(({ session, effect }) => isNew(session, effect)),
  );
  return {
    kind: 'response.surfaced',
    turn,
    text: results
      .map(({ title, last }) => (results.length === 1 ? last.text : `${title}:\n${last.text}`))
      .join('\n\n'),
    answers: s.turn?.answers ?? [],
    complete: true,
    claims: [...theirs, ...own],
    relayed,
  };
}

/** V3. A reply without a word in such a turn lets pass what has come. */
export const mayLetPass = (s: State): boolean => isConversation(s) && s.turn?.answers.length === 0;
