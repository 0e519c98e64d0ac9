/** What scripted models say, and what they know. */

import type { ModelRequest, RequestMessage } from '../../core/message.ts';
import type { Json } from '../../lib/json.ts';
import type { ModelReply, ReplyPart } from '../../models/port.ts';

type Asked = readonly [tool: string, input: Json];

const USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

export const say = (text: string): ModelReply => ({
  parts: [{ type: 'text', text }],
  finish: 'stop',
  usage: USAGE,
});

export const calls = (...asked: readonly Asked[]): ModelReply => ({
  parts: asked.map(([tool, input]): ReplyPart => ({ type: 'tool-call', tool, input })),
  finish: 'tool-calls',
  usage: USAGE,
});

export const cell = (source: string): ModelReply => calls(['code', { source }]);

/** A message that asks for nothing: what is sent at every boundary to see that it is read once. */
export const NOTE = 'note:';

/** What the model knows: the instructions so far, and the results since the last of them. */
export function read(request: ModelRequest): {
  readonly instructions: readonly string[];
  readonly results: readonly { readonly tool: string; readonly status: string; readonly text: string }[];
} {
  const isInstruction = (message: RequestMessage): boolean =>
    message.role === 'user' && !message.text.startsWith('[outlast]') && !message.text.startsWith(NOTE);
  const instructions = request.messages.flatMap((m) =>
    m.role === 'user' && isInstruction(m) ? [m.text] : [],
  );
  const last = request.messages.findLastIndex(isInstruction);
  const results = request.messages.slice(last + 1).flatMap((m) => (m.role === 'tool' ? m.results : []));
  return { instructions, results };
}

/** Of each reply of a model that costs something: micro-dollars, one for each token. */
export const ONE_CALL = 3_000;
const COSTLY = { inputTokens: 2_000, outputTokens: ONE_CALL - 2_000, cachedTokens: 0 };
export const costly = (reply: ModelReply): ModelReply => ({ ...reply, usage: COSTLY });

export const chargeOf = ({ inputTokens, outputTokens }: ModelReply['usage']): number =>
  inputTokens + outputTokens;

export const report = (results: ReturnType<typeof read>['results']): string =>
  results.map((result) => `${result.tool}: ${result.status}`).join('\n');

/** Asks for these at once, and then says what became of them. */
export const doing =
  (...asked: readonly Asked[]) =>
  (request: ModelRequest): ModelReply => {
    const { results } = read(request);
    return results.length === 0 ? calls(...asked) : say(report(results));
  };

/** What the model is told of a cell that was suspended, once that has ended. */
export const endOfCell = ({ messages }: ModelRequest): string | null =>
  messages
    .flatMap((message) =>
      message.role === 'user' && message.text.includes('which was suspended, has ended')
        ? [message.text]
        : [],
    )
    .at(-1) ?? null;

export const allResults = ({ messages }: ModelRequest): ReturnType<typeof read>['results'] =>
  messages.flatMap((message) => (message.role === 'tool' ? message.results : []));

/** For each message the cells that it takes, one after the other; then the last result is what is said. */
export const cells =
  (work: readonly (readonly string[])[]) =>
  (request: ModelRequest): ModelReply => {
    const { instructions, results } = read(request);
    const source = work[instructions.length - 1]?.[results.length];
    return source === undefined ? say(results.at(-1)?.text ?? '') : cell(source);
  };
