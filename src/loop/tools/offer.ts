/**
 * What a session is offered, by what it is: a task gets the tools of work, a conversation those of a conversation and no
 * other. One place, so that what is shown, what is planned and what is run are the same.
 */

import type { Surroundings } from '../../context/build.ts';
import { isConversation } from '../../core/conversation/state.ts';
import { OutlastError } from '../../core/error.ts';
import type { Limits } from '../../core/limits.ts';
import type { State } from '../../core/state.ts';
import type { Registry } from './registry.ts';

/** What conversations are here: their rules, their tools, and what a task of theirs may use. */
export interface ConversationOffer {
  readonly prompt: string;
  readonly tools: Registry;
  readonly taskLimits: Limits;
}

export interface Offers {
  readonly tools: Registry;
  /** Told to the model about the granted services; stable. */
  readonly briefing: string;
  /** Not there where no conversation is driven. */
  readonly conversation?: ConversationOffer | undefined;
}

export const toolsOf = (s: State, offers: Omit<Offers, 'briefing'>): Registry =>
  isConversation(s) ? conversationIn(offers).tools : offers.tools;

export function surroundingsOf(s: State, offers: Offers): Surroundings {
  const { briefing } = offers;
  const tools = toolsOf(s, offers).specs;
  return isConversation(s) ? { tools, briefing, system: conversationIn(offers).prompt } : { tools, briefing };
}

function conversationIn({ conversation }: Pick<Offers, 'conversation'>): ConversationOffer {
  if (conversation) return conversation;
  throw new OutlastError('internal', 'This worker drives no conversations.', {
    next: 'start one that does',
  });
}
