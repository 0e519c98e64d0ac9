// Owns: the scripted model and tools of the figures that need a server: what a session does is told by the first word of
// its objective.
//
//   steady   one step after the other without an end, each with a model call and a tool call of `BEAT_MS`
//   thinks   a model call of `LONG_MS`
//   acts     a tool call of `LONG_MS`
//
// A model that is interrupted ends at once, as every adapter does. Whoever has read a second message is done.

import { setTimeout as sleep } from 'node:timers/promises';
import { defineTool, ModelError } from '../../dist/index.js';
import { people } from './said.mjs';

export const LONG_MS = 1_500;
export const BEAT_MS = 5;

const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
const DONE = { parts: [{ type: 'text', text: 'Done.' }], finish: 'stop', usage };
const call = (tool) => ({
  parts: [{ type: 'tool-call', tool, input: {} }],
  finish: 'tool-calls',
  usage,
});

export const model = {
  name: 'scripted/bench',
  scripted: true,
  async generate({ messages }, { signal }) {
    const said = people(messages);
    if (said.length > 1) return DONE;
    switch (said[0].split(' ')[0]) {
      case 'steady':
        await pause(BEAT_MS, signal);
        return call('beat');
      case 'thinks':
        await pause(LONG_MS, signal);
        return DONE;
      default:
        return messages.some(({ role }) => role === 'tool') ? DONE : call('long');
    }
  },
};

async function pause(ms, signal) {
  try {
    await sleep(ms, undefined, { signal });
  } catch {
    throw new ModelError('aborted', 'interrupted', { retry: false });
  }
}

export const tools = [tool('beat', BEAT_MS), tool('long', LONG_MS)];

function tool(name, ms) {
  return defineTool({
    name,
    description: `Takes ${ms} ms.`,
    input: { type: 'object', properties: {} },
    capability: 'read',
    run: async () => {
      await sleep(ms);
      return 'ok';
    },
  });
}
