/** A provider that streams what a test tells it, for what only a wire can get wrong. */

import type { FinishReason, LanguageModelLike } from '../../src/models/ai-sdk/interface.ts';

export interface Streamed {
  readonly text?: string;
  /** Stream parts, after the text. */
  readonly parts?: readonly { readonly type: string }[];
  /** Without one the stream ends without its end mark. */
  readonly finish?: FinishReason['unified'];
}

/** One stream for each call; past the end of the list, `done`. */
export function streaming(streams: readonly Streamed[]): LanguageModelLike {
  let n = 0;
  return {
    specificationVersion: 'v3',
    provider: 'test',
    modelId: 'test',
    async doStream() {
      const { text, parts = [], finish } = streams[n++] ?? { text: 'done', finish: 'stop' };
      const said = text === undefined ? [] : sentence(text);
      return { stream: ReadableStream.from([...said, ...parts, ...(finish ? [end(finish)] : [])]) };
    },
  };
}

const sentence = (text: string) => [
  { type: 'text-start', id: 't' },
  ...(text.match(/\S+\s*/g) ?? []).map((delta) => ({ type: 'text-delta', id: 't', delta })),
  { type: 'text-end', id: 't' },
];

const end = (unified: FinishReason['unified']) => ({
  type: 'finish',
  finishReason: { unified, raw: unified },
  usage: { inputTokens: { total: 1, cacheRead: 0 }, outputTokens: { total: 1 } },
});
