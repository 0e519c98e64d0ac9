/** What the tests of this folder share: a harness that is judged when its test is over, and words to read it with. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import type { ModelRequest } from '../../src/core/message.ts';
import type { Json } from '../../src/lib/json.ts';
import {
  calls,
  gate,
  type Harness,
  type HarnessOptions,
  harness,
  say,
  tool,
} from '../../src/testing/harness.ts';
import { inlineSandbox } from '../../src/testing/inline-sandbox.ts';

const running: Harness[] = [];

/** A world with one worker. Whatever the test is about, logs and requests must be sound at its end. */
export function given(options: HarnessOptions = {}): Harness {
  const h = harness(options);
  running.push(h);
  return h;
}

afterEach(async () => {
  for (const h of running.splice(0)) {
    h.end();
    expect(await h.unsound()).toEqual([]);
  }
});

/** One engine for all tests of a file: compiling it is what takes time. */
export const sandbox = await inlineSandbox();

export const events = async <Kind extends Event['kind']>(h: Harness, session: string, kind: Kind) =>
  (await h.log(session)).filter((event): event is Extract<Event, { kind: Kind }> => event.kind === kind);

/** The texts of all surfaced responses. */
export const responses = async (h: Harness, session: string): Promise<readonly string[]> =>
  (await events(h, session, 'response.surfaced')).map((event) => event.text);

/** What people said, as the model reads it. */
export const instructions = (request: ModelRequest | undefined): readonly string[] =>
  (request?.messages ?? []).flatMap((message) =>
    message.role === 'user' && !message.text.startsWith('[outlast]') ? [message.text] : [],
  );

/** What the runtime told the model, but for the present. */
export const notes = (request: ModelRequest | undefined): readonly string[] =>
  (request?.messages ?? []).flatMap((message) =>
    message.role === 'user' &&
    message.text.startsWith('[outlast]') &&
    !message.text.startsWith('[outlast] The present')
      ? [message.text]
      : [],
  );

/** The tail of the request: the present. */
export const present = (request: ModelRequest | undefined): string => {
  const last = request?.messages.at(-1);
  return last?.role === 'user' ? last.text : '';
};

export const results = (request: ModelRequest | undefined) =>
  (request?.messages ?? []).flatMap((message) => (message.role === 'tool' ? message.results : []));

/** A model that makes these calls, and says what became of them. */
export const once =
  (...asked: readonly (readonly [tool: string, input: Json])[]) =>
  (request: ModelRequest) => {
    const got = results(request);
    return got.length === 0 ? calls(...asked) : say(got.map((r) => `${r.tool}: ${r.status}`).join(', '));
  };

/** A tool whose calls get no answer before the gate is opened. */
export const hanging = () => {
  const held = gate();
  return { held, hang: tool('hang', { kind: 'read' }, () => held.pass({ status: 'done', result: 1 })) };
};

export const books = (h: Harness): readonly string[] =>
  h.world.books.map(({ service, what }) => `${service}: ${what}`);

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** What this process holds on to: its heap, and bytes outside of it, without what nobody refers to any more. */
export function heldBytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
