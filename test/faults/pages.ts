/** Work that reads pages until there are too many for the view, and words to read its requests with. */

import type { ModelRequest } from '../../src/core/message.ts';
import type { ModelReply } from '../../src/models/port.ts';
import { calls, type Harness, say, tool } from '../../src/testing/harness.ts';
import { results } from './kit.ts';

export const USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
/** Three thousand characters, so a thousand tokens. */
export const page = (n: number): string => `page ${n} `.repeat(430).slice(0, 3_000);
export const readPage = tool('read_page', { kind: 'read' }, async (args) => ({
  status: 'done',
  result: page((args as { n: number }).n),
}));
/** Small enough that some ten pages are too much. */
export const limits = { contextTokens: 10_000 };

/** The entries that a request for a compaction lists: number and text. */
export const entries = (request: ModelRequest): readonly (readonly [seq: string, text: string])[] => {
  const last = request.messages.at(-1);
  const text = last?.role === 'user' ? last.text : '';
  return [...text.matchAll(/^#(\d+) (.*)$/gm)].map(([, seq = '', line = '']) => [seq, line] as const);
};

/** Lines that can be used, of all entries that are listed. */
export const summed = (request: ModelRequest): ModelReply =>
  say(
    entries(request)
      .map(([seq, text]) => `fact: ${text.slice(0, 60)} [#${seq}]`)
      .join('\n'),
  );

/** Reads so many pages for each instruction, and answers. */
export const reading =
  (pages: number, compact: (request: ModelRequest) => ModelReply | Promise<ModelReply> = summed) =>
  async (request: ModelRequest): Promise<ModelReply> => {
    if (request.isCompaction) return compact(request);
    const last = request.messages.findLastIndex((m) => m.role === 'user' && !m.text.startsWith('[outlast]'));
    const done = request.messages
      .slice(Math.max(0, last))
      .flatMap((m) => (m.role === 'tool' ? m.results : []));
    const next =
      done.length === 0 ? 1 : 1 + Math.max(...done.map(({ text }) => Number(/page (\d+)/.exec(text)?.[1])));
    return next <= pages ? calls(['read_page', { n: next }]) : say(`read ${pages}`);
  };

export const compactions = (h: Harness): readonly ModelRequest[] => h.requests.filter((r) => r.isCompaction);
export const work = (h: Harness): readonly ModelRequest[] => h.requests.filter((r) => !r.isCompaction);
/** What was read, as far as it stands in the request. */
export const pages = (request: ModelRequest | undefined): readonly string[] =>
  results(request).map(({ text }) => text);
export const bytes = (request: ModelRequest | undefined): number => JSON.stringify(request?.messages).length;
export const pastOf = (request: ModelRequest | undefined): string => {
  const [first] = request?.messages ?? [];
  return first?.role === 'user' && first.text.startsWith('[outlast] What came before') ? first.text : '';
};
