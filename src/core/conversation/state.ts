/** The slice of the state of a conversation: what it has seen of its tasks, and what of them it has said. */

import { type Child, isAtWork } from '../family/state.ts';
import type { CallId, SessionId } from '../ids.ts';
import type { State } from '../state.ts';
import type { Relayed, SlotsSeen, TaskSeen } from './event.ts';

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
