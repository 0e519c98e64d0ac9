// Owns: the model and the tool of a session that goes through a made-up history: for each request of a person the call, its
// result and the response that the history has. The model says what it is to say by the number in the request, so a call
// that was killed and is made again says the same.

import { defineTool } from '../../dist/index.js';
import { summary } from '../kit/summary.mjs';

const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
const CALL = 'look';

/** How a person says turn `n`: its number stands before the words, so that the script knows it. */
export const worded = (turns, n) => `(${n}) ${turns[n].message}`;

/** A result of the generated history is some hundred tokens; in real work it is ten times that, and more. */
const WIDER = 20;
export const wider = (turn) => ({ ...turn, row: { ...turn.row, text: `${turn.response} `.repeat(WIDER) } });

/** `seen` is called with each request. `holds` may hold a summary up, so that it can be killed meanwhile. */
export function script(turns, { seen = () => {}, holds = async () => {} } = {}) {
  return {
    name: 'scripted/history',
    scripted: true,
    async generate(request) {
      seen(request);
      if (request.isCompaction) {
        await holds();
        return summary(request);
      }
      const at = request.messages.findLastIndex(isSaid);
      const n = Number(/^\((\d+)\) /.exec(request.messages[at].text)[1]);
      const isDone = request.messages.slice(at).some(({ role }) => role === 'tool');
      return isDone ? say(turns[n].response) : call(turns[n].call, n);
    },
  };
}

const isSaid = ({ role, text }) => role === 'user' && /^\(\d+\) /.test(text);
const say = (text) => ({ parts: [{ type: 'text', text }], finish: 'stop', usage });
const call = (input, n) => ({
  parts: [{ type: 'tool-call', tool: CALL, input: { ...input, n } }],
  finish: 'tool-calls',
  usage,
});

export const lookIn = (turns) =>
  defineTool({
    name: CALL,
    description: 'Looks something up.',
    input: { type: 'object', properties: { source: { type: 'string' }, n: { type: 'integer' } } },
    capability: 'read',
    run: ({ n }) => turns[n].row,
  });
