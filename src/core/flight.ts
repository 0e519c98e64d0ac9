/**
 * What should be in flight: the answer of `next`, and of each of its parts. Pure.
 *
 * A part answers with choices, with calls, with an instant, or with `REST`; `join` puts the answers together.
 */

import type { EventBody } from './event.ts';
import type { Wanted } from './family/event.ts';
import type { CallId, CellId, EffectId } from './ids.ts';

export type PortCall =
  | { readonly do: 'generate'; readonly turn: number; readonly step: number; readonly attempt: number }
  /** Plan a call that the model asked for; pure, done by the runtime's registry. */
  | { readonly do: 'plan'; readonly call: CallId }
  | { readonly do: 'call'; readonly effect: EffectId; readonly attempt: number }
  | { readonly do: 'query'; readonly effect: EffectId; readonly n: number }
  | { readonly do: 'audit'; readonly effect: EffectId; readonly n: number }
  | { readonly do: 'open' }
  | { readonly do: 'run'; readonly cell: CellId }
  | { readonly do: 'deliver'; readonly guestCall: number; readonly cell: CellId }
  /** Open the folder of the session: down the ladder, and to what somebody wants to stand there (Y1). */
  | { readonly do: 'checkout'; readonly wanted: number }
  /** Look at what lives in the kernel. */
  | { readonly do: 'attend' }
  | { readonly do: 'release' }
  /** Look how the tasks of a conversation stand. */
  | { readonly do: 'look'; readonly turn: number; readonly step: number }
  /** Tell the parent what came of an instruction (0: nothing new), and how this session stands. */
  | { readonly do: 'report'; readonly result: number; readonly standing: string }
  /** Pass on to the child of this effect how it is to be. */
  | { readonly do: 'relay'; readonly effect: EffectId; readonly status: Wanted }
  /** Ask the model what is to be kept of the oldest items of its view. */
  | { readonly do: 'compact'; readonly items: number; readonly attempt: number }
  /** Take a new base of the heap with this digest. */
  | { readonly do: 'base'; readonly of: string }
  /** Give up the memory of a session that rests since then. */
  | { readonly do: 'park'; readonly since: number }
  | { readonly do: 'archive'; readonly since: number }
  /** Give up a kernel with what cannot be kept of it: its notice is over. */
  | { readonly do: 'giveUp'; readonly since: number }
  /** Look what still runs of a session that is to be deleted: before its notice, and once that is over at `until`. */
  | { readonly do: 'survey'; readonly since: number; readonly until: number | null }
  /** Take away all that it has outside of its log, with its children. */
  | { readonly do: 'erase' };

/** One line for each port call: equal keys are the same call. */
export const callKey = (call: PortCall): string => Object.values(call).join(':');

export interface Next {
  readonly choices: readonly EventBody[];
  readonly calls: readonly PortCall[];
  readonly wakeAt: number | null;
}

export const REST: Next = { choices: [], calls: [], wakeAt: null };

export const choose = (...choices: readonly EventBody[]): Next =>
  choices.length === 0 ? REST : { ...REST, choices };

export const call = (...calls: readonly PortCall[]): Next => (calls.length === 0 ? REST : { ...REST, calls });

export const wake = (wakeAt: number): Next => ({ ...REST, wakeAt });

/** Asked many times in a commit, and most parts are at rest: those are passed over by their identity. */
export function join(parts: readonly Next[]): Next {
  const [first = REST, ...more] = parts.filter((part) => part !== REST);
  if (more.length === 0) return first;
  const all = [first, ...more];
  const wakes = all.flatMap((part) => (part.wakeAt === null ? [] : [part.wakeAt]));
  return {
    choices: all.flatMap((part) => part.choices),
    calls: all.flatMap((part) => part.calls),
    wakeAt: wakes.length > 0 ? Math.min(...wakes) : null,
  };
}
