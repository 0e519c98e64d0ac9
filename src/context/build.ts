/**
 * State → model request. Pure: whoever folds the same log builds the same bytes.
 *
 * C1  Stable first: system and tools never change with the work; the transcript only grows; what is volatile
 *     (live objects, unknown effects, open decisions, the time) stands in the last message and nowhere else.
 * C2  Every call is followed by exactly one result. Results come from settlements, never from prose.
 * C3  No empty message or block, no half character reaches a provider.
 * C4  An item is rendered once, however many requests it stands in: a step costs the same late as early, but for a copy
 *     of references. The memory of it is by item, and changes nothing but the time that it takes.
 */

import type { ModelRequest, Part, RequestMessage, ToolSpec } from '../core/message.ts';
import type { Item, State } from '../core/state.ts';
import { clip } from '../lib/text.ts';
import { systemPrompt } from './prompt/system.ts';
import { present } from './tail.ts';

export interface Surroundings {
  readonly tools: readonly ToolSpec[];
  /** What the host tells about the services that are granted; stable for the life of the session. */
  readonly briefing: string;
}

export function buildRequest(s: State, around: Surroundings): ModelRequest {
  return {
    system: systemPrompt(around.briefing),
    tools: around.tools,
    messages: [...past(s), { role: 'user', text: present(s) }],
  };
}

interface Rendered {
  readonly outputChars: number;
  /** Of all items up to this one. Grows with the transcript, so it is never handed out. */
  readonly messages: RequestMessage[];
}

/**
 * By the last item that was rendered. A transcript only grows (F2 of the state) and each item is made for one place in
 * one transcript: whoever has this item has all that is before it.
 */
const rendered = new WeakMap<Item, Rendered>();

function past({ transcript, contract }: State): readonly RequestMessage[] {
  const { outputChars } = contract.limits;
  const last = transcript.findLastIndex((item) => rendered.get(item)?.outputChars === outputChars);
  const before = transcript[last];
  const known = before && rendered.get(before);
  if (before) rendered.delete(before);
  const messages = known ? known.messages : [];
  for (const item of transcript.slice(last + 1)) messages.push(...render(item, outputChars));
  const newest = transcript.at(-1);
  if (newest) rendered.set(newest, { outputChars, messages });
  return messages;
}

function render(item: Item, outputChars: number): readonly RequestMessage[] {
  switch (item.kind) {
    case 'message':
      return [
        {
          role: 'user',
          text: item.message.from === 'person' ? item.message.text : mark(item.message.text, outputChars),
        },
      ];
    case 'note':
      return [{ role: 'user', text: mark(item.text, outputChars) }];
    case 'reply': {
      if (item.cut) {
        const text = item.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
        return [
          { role: 'assistant', parts: [{ type: 'text', text }] },
          { role: 'user', text: mark('The text above was cut off; the person saw it so far.', outputChars) },
        ];
      }
      const parts = item.parts.filter(isSaid);
      if (parts.length === 0) return [];
      const results = item.results.map((result) => ({
        ...result,
        text: clip(result.text === '' ? '(no output)' : result.text, outputChars),
      }));
      return results.length === 0
        ? [{ role: 'assistant', parts }]
        : [
            { role: 'assistant', parts },
            { role: 'tool', results },
          ];
    }
  }
}

/** What the runtime says, so that a model never takes it for a person. It can hold a result that came late. */
const mark = (text: string, max: number): string => `[outlast] ${clip(text, max)}`;

/** Reasoning goes back whole or not at all, even when its text is empty: its signature is what counts. */
function isSaid(part: Part): boolean {
  return part.type !== 'text' || part.text.trim() !== '';
}
