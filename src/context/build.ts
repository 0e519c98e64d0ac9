/**
 * State → model request. Pure: whoever folds the same log builds the same bytes.
 *
 * C1  Stable first: system and tools never change with the work; what stands for the compacted past changes with a
 *     compaction and at no other time; the transcript only grows; what is volatile (live objects, unknown effects, open
 *     decisions, the time) stands in the last message and nowhere else.
 * C2  Every call is followed by exactly one result. Results come from settlements, never from prose.
 * C3  No empty message or block, no half character reaches a provider.
 * C4  Files stand in the view as references; whoever performs the call reads their bytes. What is not shown is named.
 * C5  An item is rendered once, however many requests it stands in: a step costs the same late as early, but for a copy
 *     of references. The memory of it is by item, and changes nothing but the time that it takes.
 */

import { messageChars, resultChars } from '../core/context/size.ts';
import type { Past } from '../core/context/state.ts';
import { nameOf } from '../core/file.ts';
import type { Limits } from '../core/limits.ts';
import type { Message, Part, ToolSpec, View, ViewMessage, Whole } from '../core/message.ts';
import type { Item, State } from '../core/state.ts';
import { clip } from '../lib/text.ts';
import { renderPast } from './past.ts';
import { systemPrompt } from './prompt/system.ts';
import { EMPTY, firstShown, type Window, widened } from './shown.ts';
import { present } from './tail.ts';

export interface Surroundings {
  readonly tools: readonly ToolSpec[];
  /** What the host tells about the services that are granted; stable for the life of the session. */
  readonly briefing: string;
  /** The whole of the rules, where they are not those of a task. */
  readonly system?: string;
}

export function buildRequest(s: State, around: Surroundings): View {
  const { messages, filesFrom } = past(s);
  return {
    system: around.system ?? systemPrompt(around.briefing),
    tools: around.tools,
    // Not spread: of a long transcript that is a hundred times slower.
    messages: messages.concat({ role: 'user', text: present(s) }),
    stable: messages.length,
    filesFrom,
  };
}

/** Why files are only named. */
const CROWDED = 'not shown here: newer files take its place';
const REFUSED = 'not shown: the provider refused a request that held it';

interface Rendered {
  readonly limits: Limits;
  readonly past: Past | null;
  readonly withheld: State['withheld'];
  readonly plainTo: number;
  readonly window: Window;
  /** Where the messages of the first item with files that are shown begin. */
  readonly filesFrom: number | null;
  /** Of all items up to this one. Grows with the transcript, so it is never handed out. */
  readonly messages: ViewMessage[];
}

/**
 * By the last item that was rendered. A transcript only grows (F2 of the state) and each item is made for one place in
 * one transcript: whoever has this item has all that is before it.
 */
const rendered = new WeakMap<Item, Rendered>();

function past(s: State): Rendered {
  const { transcript, contract, withheld } = s;
  const { limits } = contract;
  const { past: behind, plainTo } = s.context;
  const isWithheld = (item: Item): boolean => item.kind !== 'note' && withheld.includes(item.turn);
  const last = transcript.findLastIndex((item) => rendered.has(item));
  const before = transcript[last];
  const known = before && rendered.get(before);
  if (before) rendered.delete(before);
  const fits =
    known?.limits === limits &&
    known.withheld === withheld &&
    known.past === behind &&
    known.plainTo === plainTo;
  let window = fits ? known.window : EMPTY;
  for (let at = fits ? last + 1 : 0; at < transcript.length; at++) {
    const item = transcript[at] as Item;
    if (!isWithheld(item)) window = widened(window, at, item);
  }
  const from = firstShown(window);
  // The window has moved: what is only named now stands in the middle, so all is rendered again, once in a long while.
  const isKept = fits && firstShown(known.window) === from;
  const messages = isKept ? known.messages : behind ? [renderPast(s, behind)] : [];
  let filesFrom = isKept ? known.filesFrom : null;
  for (let at = isKept ? last + 1 : 0; at < transcript.length; at++) {
    const item = transcript[at] as Item;
    const hidden = isWithheld(item) ? REFUSED : at < from ? CROWDED : null;
    if (window.length > 0 && at === from) filesFrom = messages.length;
    messages.push(...render(item, limits, hidden, plainTo));
  }
  const newest = transcript.at(-1);
  const now: Rendered = { limits, past: behind, withheld, plainTo, window, filesFrom, messages };
  if (newest) rendered.set(newest, now);
  return now;
}

function render(item: Item, limits: Limits, hidden: string | null, plainTo: number): readonly ViewMessage[] {
  const { outputChars } = limits;
  switch (item.kind) {
    case 'message':
      return item.message.from === 'person'
        ? said(item.message, limits, hidden)
        : [{ role: 'user', text: mark(item.message.text, outputChars, item.message.whole) }];
    case 'note':
      return [{ role: 'user', text: mark(item.text, outputChars, item.whole) }];
    case 'reply': {
      if (item.cut) {
        const text = item.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
        return [
          { role: 'assistant', parts: [{ type: 'text', text }] },
          { role: 'user', text: mark('The text above was cut off; the person saw it so far.', outputChars) },
        ];
      }
      const whole = item.turn <= plainTo ? item.parts.flatMap(plain) : item.parts;
      const parts = whole.filter(isSaid).map((part) => (hidden === null ? part : named(part, hidden)));
      if (parts.length === 0) return [];
      const most = resultChars(limits, item.results.length);
      const results = item.results.map(({ whole, ...result }) => ({
        ...result,
        text: cut(result.text === '' ? '(no output)' : result.text, most, whole),
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

function said(message: Message, limits: Limits, hidden: string | null): readonly ViewMessage[] {
  const { id, seq, images } = message;
  const text = cut(message.text, messageChars(limits), { seq, from: 0 });
  if (images.length === 0) return [{ role: 'user', text }];
  const called = images.map((image, at) => ({ ...image, name: nameOf(image, `${id}.${at + 1}`) }));
  if (hidden === null) return [{ role: 'user', text, images: called }];
  return [
    { role: 'user', text },
    { role: 'user', text: mark(called.map(({ name }) => `[${name}: ${hidden}]`).join('\n'), Infinity) },
  ];
}

const named = (part: Part, hidden: string): Part =>
  part.type === 'file' ? { type: 'text', text: `[${nameOf(part)}: ${hidden}]` } : part;

/** Without reasoning and without what its provider attached: what any provider takes. */
function plain(part: Part): readonly Part[] {
  if (part.type === 'reasoning') return [];
  const { meta: _, ...bare } = part;
  return [bare as Part];
}

/** What the runtime says, so that a model never takes it for a person. It can hold a result that came late. */
const mark = (text: string, max: number, whole?: Whole): string => `[outlast] ${cut(text, max, whole)}`;

/** In the view only: what is left out stands in the log, and the line in its place says how to read it. */
const cut = (text: string, max: number, whole: Whole | undefined): string =>
  clip(text, max, (at) =>
    whole ? `; recall #${whole.seq} from offset ${Math.max(0, at - whole.from)} shows them` : '',
  );

/** Reasoning goes back whole or not at all, even when its text is empty: its signature is what counts. */
function isSaid(part: Part): boolean {
  return part.type !== 'text' || part.text.trim() !== '';
}
