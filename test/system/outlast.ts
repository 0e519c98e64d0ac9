/** An Outlast in this process from the built program, over real threads and a real disk, with a model given as a function. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelRequest, RequestMessage } from '../../src/core/message.ts';
import type * as Program from '../../src/index.ts';
import type { Model, ModelReply, ReplyPart } from '../../src/models/port.ts';

/** Built, because threads cannot be started from sources. */
export const { createOutlast, defineTool } = (await import(
  new URL('../../dist/index.js', import.meta.url).href
)) as typeof Program;

const USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

export const say = (text: string): ModelReply => ({
  parts: [{ type: 'text', text }],
  finish: 'stop',
  usage: USAGE,
});

export const call = (tool: string, input: object): ModelReply => ({
  parts: [{ type: 'tool-call', tool, input } as ReplyPart],
  finish: 'tool-calls',
  usage: USAGE,
});

export const cell = (source: string): ModelReply => call('code', { source });

/** A model that answers each instruction with cells, one after the other, and then repeats what the last one gave. */
export function cellByCell(script: Readonly<Record<string, readonly string[]>>): Model {
  return {
    name: 'scripted/test',
    scripted: true,
    generate: async (request) => {
      const { instruction, results } = since(request);
      const source = (script[instruction] ?? [])[results.length];
      return source === undefined ? say(results.at(-1) ?? 'nothing to do') : cell(source);
    },
  };
}

/** The last instruction of the person, and the results since. */
export function since(request: ModelRequest): { instruction: string; results: readonly string[] } {
  const isSaid = (message: RequestMessage): boolean =>
    message.role === 'user' && !message.text.startsWith('[outlast]');
  const last = request.messages.findLastIndex(isSaid);
  const said = request.messages[last];
  const results = request.messages
    .slice(last)
    .flatMap((message) => (message.role === 'tool' ? message.results.map((result) => result.text) : []));
  return { instruction: said?.role === 'user' ? said.text : '', results };
}

export async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'outlast-test-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
