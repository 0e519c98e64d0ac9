// Owns: which planner answers a request: the shipped one for the billing job, that of long.mjs for the long job. Both decide
// from the request alone. Where a task begins from a summary, they have read what stands in it, and nothing else.

import { scriptedPlanner } from '../../dist/models/scripted/planner.js';
import { isLong, long, longSummary } from './long.mjs';
import { billingSummary, fromSummary } from './summary.mjs';

const shipped = scriptedPlanner();
const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

export const planner = {
  name: 'scripted/followup',
  scripted: true,
  async generate(request, options) {
    if (request.isCompaction) return shipped.generate(request, options);
    if (request.isAside) return say(isLong(request) ? longSummary(request) : billingSummary(request));
    const decision = isLong(request) ? long(request) : fromSummary(request);
    if (decision === null) return shipped.generate(request, options);
    if (decision.kind === 'answer') return say(decision.text);
    return {
      parts: [
        { type: 'text', text: decision.say },
        {
          type: 'tool-call',
          tool: 'code',
          input: { source: decision.source },
          meta: { scripted: decision.note },
        },
      ],
      finish: 'tool-calls',
      usage,
    };
  },
};

const say = (text) => ({ parts: [{ type: 'text', text }], finish: 'stop', usage });
