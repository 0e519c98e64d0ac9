/** Conversations as a worker drives them: their rules, their tools, and the bounds of the tasks that they start. */

import { DEFAULT_LIMITS, type Limits } from '../core/limits.ts';
import type { ConversationOffer } from '../loop/tools/offer.ts';
import { registry } from '../loop/tools/registry.ts';
import type { Tool } from '../tools/port.ts';
import { CONVERSATION_PROMPT } from './prompt.ts';
import { CONVERSATION_TOOLS } from './tools.ts';
import { CONVERSATION_VERBS } from './verbs.ts';

export interface ConversationOptions {
  /** Its rules, whole, in place of those in `conversation/prompt`. */
  readonly prompt?: string | undefined;
  /** Of tasks. */
  readonly limits?: Partial<Limits> | undefined;
  /** What the simulator puts around each tool. */
  readonly around?: (tool: Tool) => Tool;
}

/**
 * @example
 * ```ts
 * const conversation = conversationOffer({ prompt: 'You talk with one person …' });
 * ```
 */
export function conversationOffer({
  prompt = CONVERSATION_PROMPT,
  limits = {},
  around = (tool) => tool,
}: ConversationOptions = {}): ConversationOffer {
  return {
    prompt,
    tools: registry(CONVERSATION_TOOLS.map(around), { hasCode: false, verbs: CONVERSATION_VERBS }),
    taskLimits: { ...DEFAULT_LIMITS, ...limits },
  };
}
