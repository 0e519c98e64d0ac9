/**
 * The model of the contract: a pure function of what it is told, so that a call which is made again gives the same reply.
 * An instruction says what to do: `do[name] keyed a; ask Which one?; say All is well`. Each result moves it on by one.
 */

import type { Reply, Told, Wanted } from './port.ts';

const INSTRUCTION = /do\[(\w+)\] (.*)/s;

export interface Position {
  /** Of the instruction that is followed. */
  readonly name: string;
  /** Moves that are behind it. */
  readonly at: number;
  readonly reply: Reply;
}

export function follow(conversation: readonly Told[]): Position {
  const last = conversation.findLastIndex((told) => told.role === 'user' && INSTRUCTION.test(told.text));
  const told = conversation[last];
  const [, name = 'none', text = ''] = (told?.role === 'user' && INSTRUCTION.exec(told.text)) || [];
  const at = conversation.slice(last + 1).filter(({ role }) => role === 'result').length;
  return { name, at, reply: replyOf(text.split('; ')[at] ?? 'say There is nothing more to do.') };
}

function replyOf(move: string): Reply {
  const [verb = '', ...rest] = move.trim().split(' ');
  const what = rest.join(' ');
  return verb === 'say' ? { say: what } : { call: { tool: verb as Wanted['tool'], what } };
}
