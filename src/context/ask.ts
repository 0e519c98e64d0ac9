/**
 * A question about the work, for the model that does it: the request that it would get now, and the question behind it.
 * The same prefix, so that a provider's cache still hits. Nothing of it enters the transcript.
 */

import type { View } from '../core/message.ts';
import { phase } from '../core/phase.ts';
import type { State } from '../core/state.ts';
import { buildRequest, type Surroundings } from './build.ts';

export function askRequest(s: State, question: string, around: Surroundings): View {
  const request = buildRequest(s, around);
  const text =
    `[outlast] A question about this work, from somebody who looks in. The work is ${phase(s)}. Answer it in words, from ` +
    'what you know, and call no tool. It changes nothing of your task, and you will not remember it.';
  return {
    ...request,
    messages: [...request.messages, { role: 'user', text: `${text}\n\n${question}` }],
    isAside: true,
  };
}
