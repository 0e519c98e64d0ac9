/**
 * The stand-in when no model is there: a planner that follows a script. It knows how to report on a month's invoices,
 * in `delegation/` how to have children do that for several accounts, in `repair/` how to make the tests of a small
 * repository pass, and nothing else; everything it says about the
 * world it has read in the request's results.
 *
 * B1  A pure function of the request: no memory, no clock, no randomness. A call that was killed and is made again gets
 *     the same reply.
 * B2  It gets what a model gets (M1). It calls no service, and learns how one is used from what that service says.
 * B3  What it does not understand it refuses, and says that it is no model. It sees no image, and says so.
 */

import type { ModelRequest } from '../../core/message.ts';
import { type Model, ModelError, type ModelReply } from '../port.ts';
import { aside } from './aside.ts';
import { decide } from './decide.ts';
import { delegationReply } from './delegation/delegation.ts';
import { metaOf, observe, RUNTIME } from './observations.ts';
import { repairReply } from './repair/repair.ts';
import { summary } from './summary.ts';
import { talkReply } from './talk.ts';

const NAME = 'scripted planner, no model';

/**
 * The planner as a model; sessions run with it when no key is set.
 *
 * @example
 * ```ts
 * const model = chooseModel(process.env) === null ? scriptedPlanner() : providerModel(…);
 * ```
 */
export function scriptedPlanner(): Model {
  return {
    name: NAME,
    scripted: true,
    async generate(request, { signal, onText }) {
      const reply = plan(request);
      let shown = '';
      for (const chunk of chunks(textOf(reply))) {
        if (signal.aborted) break;
        onText?.(chunk);
        shown += chunk;
      }
      if (signal.aborted)
        throw new ModelError('aborted', `${NAME} was interrupted`, { retry: false, partial: shown });
      return reply;
    },
  };
}

/** The reply to a request: a line and a cell, or the answer (B1). */
export function plan(request: ModelRequest): ModelReply {
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
  if (request.isAside) return { parts: [{ type: 'text', text: aside(request) }], finish: 'stop', usage };
  const scripted = talkReply(request) ?? repairReply(request) ?? delegationReply(request);
  if (scripted !== null) return scripted;
  if (request.isCompaction)
    return { parts: [{ type: 'text', text: summary(request) }], finish: 'stop', usage };
  const decision = decide(observe(request));
  if (decision.kind === 'answer') {
    const text = hasImages(request) ? `${decision.text}\n\n${BLIND}` : decision.text;
    return { parts: [{ type: 'text', text }], finish: 'stop', usage };
  }
  const { say, source, note } = decision;
  return {
    parts: [
      { type: 'text', text: say },
      { type: 'tool-call', tool: 'code', input: { source }, meta: metaOf(note) },
    ],
    finish: 'tool-calls',
    usage,
  };
}

const BLIND = 'I did not look at the image: I am a scripted planner and no model, and see none.';

/** Whether the instruction that is answered came with images. */
function hasImages({ messages }: ModelRequest): boolean {
  const said = messages.findLast((m) => m.role === 'user' && !m.text.startsWith(RUNTIME));
  return said?.role === 'user' && (said.images ?? []).length > 0;
}

const textOf = ({ parts }: ModelReply): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** Whole words, some at a time. */
const chunks = (text: string): readonly string[] => text.match(/(?:\S+\s*){1,8}|\s+/g) ?? [];
