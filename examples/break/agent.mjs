/**
 * One's own agent under `outlast break --with examples/break/agent.mjs`: the tool and the service of `orders.mjs`, with a
 * model, what it is told, and what its answers claim. Here ten lines stand in for the model; yours asks a provider.
 */

import orders from './orders.mjs';

export default {
  ...orders,
  name: 'orders by an agent of our own',
  open(run) {
    const { tools, calls, books } = orders.open(run);
    const message = `Please order one ${calls[0].args.article}.`;
    return { tools, calls, books, message, model, claims };
  },
};

/** After a replay it is told what is known already. */
const model = {
  name: 'scripted/clerk',
  scripted: true,
  async generate({ messages }) {
    const told = messages.flatMap(({ role, text }) => (role === 'user' ? [text] : [])).join('\n');
    const article = /Please order one (\S+)\./.exec(told)[1];
    const result = messages.flatMap((message) => (message.role === 'tool' ? message.results : [])).at(-1);
    const status = told.includes('"status":"done"') ? 'done' : result?.status;
    const calls = [{ type: 'tool-call', tool: 'order', input: { article } }];
    const says = [{ type: 'text', text: `${SAYINGS[status] ?? SAYINGS.unknown}: ${article}` }];
    const usage = { inputTokens: 50, outputTokens: 10, cachedTokens: 0 };
    return status ? { parts: says, finish: 'stop', usage } : { parts: calls, finish: 'tool-calls', usage };
  },
};

const SAYINGS = { done: 'Ordered', failed: 'Not ordered', unknown: 'Nobody knows whether this is ordered' };

/** What a person takes from an answer: how often a thing is done, and how often that is left open. */
function claims(text) {
  const [, saying, what] = /^(.+): (\S+)$/.exec(text) ?? [];
  if (!what) return [];
  return [{ what, done: saying === SAYINGS.done ? 1 : 0, unknown: saying === SAYINGS.unknown ? 1 : 0 }];
}
