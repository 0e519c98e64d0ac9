/**
 * Work in a repository, by script: make its tests pass, and add a flag that was spoken of. It stands in for a model as the
 * rest of the planner does, under the same rules (B1 to B3), and is asked when somebody has ordered one of the two.
 */

import type { ModelRequest } from '../../../core/message.ts';
import type { ModelReply } from '../../port.ts';
import { decideRepair } from './decide.ts';
import { repairSummary } from './summary.ts';
import { metaOf, viewOf } from './view.ts';

const USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

/** Null when nobody has ordered what is done here. */
export function repairReply(request: ModelRequest): ModelReply | null {
  const view = viewOf(request);
  if (view.order === null) return null;
  if (request.isCompaction) return said(repairSummary(request));
  const step = decideRepair(view);
  if (step.kind === 'answer') return said(step.text);
  const { say, tool, input, why } = step.ask;
  return {
    parts: [
      { type: 'text', text: say },
      { type: 'tool-call', tool, input, ...(why === undefined ? {} : { meta: metaOf(why) }) },
    ],
    finish: 'tool-calls',
    usage: USAGE,
  };
}

const said = (text: string): ModelReply => ({
  parts: [{ type: 'text', text }],
  finish: 'stop',
  usage: USAGE,
});
