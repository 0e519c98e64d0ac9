// Owns: a scripted model that answers at once and can be held between two steps, so that a benchmark decides when a
// session moves and measures it from inside. One model drives any number of sessions; each is known by the first words
// of its objective.
//
// P1. A step is a model call and one effect. Its time runs from one model call's arrival to the next one's, so it holds
//     everything that the runtime does for it, the building of the request included.
// P2. While a session is held its model call is simply not answered: the runtime waits as it would for a slow model.

import { summary } from './summary.mjs';

const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

export const WORK = 'look';
const CALL = {
  parts: [
    { type: 'text', text: 'I look at the next one and then decide how to go on.' },
    { type: 'tool-call', tool: WORK, input: { about: 'the next one', page: 1 } },
  ],
  finish: 'tool-calls',
  usage,
};
const DONE = { parts: [{ type: 'text', text: 'That was all of it.' }], finish: 'stop', usage };

/** As the first message, or where it stands in the compacted past. */
const OBJECTIVE = /([\w ]+): look at everything/;

export function pace() {
  /** Session name → what is known of it: the call that is held, and who waits for one. */
  const held = new Map();
  const arrivals = new Map();

  return {
    model: { name: 'scripted/pace', scripted: true, generate },
    objective: (name) => `${name}: look at everything`,
    arrive,
    run,
    /** Answers the held call without a further tool call: the turn ends. */
    async finish(name) {
      const call = await arrive(name);
      held.delete(name);
      call.answer(DONE);
    },
  };

  function generate(request, { signal }) {
    if (request.isCompaction) return Promise.resolve(summary(request));
    const name = OBJECTIVE.exec(request.messages[0].text)[1].trim();
    const at = performance.now();
    return new Promise((resolve, reject) => {
      const call = { at, answer: resolve };
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
      const waiting = arrivals.get(name);
      arrivals.delete(name);
      if (waiting) waiting(call);
      else held.set(name, call);
    });
  }

  /** The model call that `name` waits in, now or when it comes. */
  function arrive(name) {
    const call = held.get(name);
    if (call) return Promise.resolve(call);
    return new Promise((resolve) => {
      arrivals.set(name, (arrived) => {
        held.set(name, arrived);
        resolve(arrived);
      });
    });
  }

  /** Lets `count` steps pass and holds the session again; gives the milliseconds of each. */
  async function run(name, count) {
    const times = [];
    let call = await arrive(name);
    for (let step = 0; step < count; step++) {
      held.delete(name);
      const startedAt = performance.now();
      call.answer(CALL);
      call = await arrive(name);
      times.push(call.at - startedAt);
    }
    return times;
  }
}
