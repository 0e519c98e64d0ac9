/**
 * The inbox: what was accepted and waits to be read.
 *
 * I1  Order of acceptance is order of reading, and nothing accepted is ever dropped.
 * I2  A key is accepted once; a repeat gets the first receipt.
 */

import type { EventOf } from '../event.ts';
import type { CellId, DecisionId, EffectId, MessageId, TimerId } from '../ids.ts';
import type { Message } from '../message.ts';
import type { State } from '../state.ts';

export function accepted(s: State, e: EventOf<'message.accepted'>): State {
  const message: Message = { id: e.message, text: e.text, from: 'person', when: e.when, at: e.at };
  const receipt = { message: e.message, seq: e.seq, rule: e.rule, digest: `${e.when}:${e.text}` };
  return {
    ...s,
    counters: { ...s.counters, message: s.counters.message + 1 },
    inbox: {
      unread: [...s.inbox.unread, message],
      receipts: e.key === null ? s.inbox.receipts : { ...s.inbox.receipts, [e.key]: receipt },
    },
  };
}

export function read(s: State, e: EventOf<'message.read'>): State {
  const taken = s.inbox.unread.filter((message) => e.messages.includes(message.id));
  const turn = s.turn && {
    ...s.turn,
    answers: [...s.turn.answers, ...taken.filter((m) => m.from === 'person').map((m) => m.id)],
  };
  return {
    ...s,
    turn,
    inbox: { ...s.inbox, unread: s.inbox.unread.filter((message) => !e.messages.includes(message.id)) },
    transcript: [
      ...s.transcript,
      ...taken.map((message) => ({ kind: 'message' as const, message, turn: e.turn })),
    ],
  };
}

/** What the session reports to itself arrives like a message: the end of what was suspended. */
export function reportToSelf(
  s: State,
  of: CellId | EffectId | DecisionId | TimerId,
  text: string,
  at: number,
): State {
  const message: Message = { id: `end:${of}` as MessageId, text, from: 'runtime', when: 'next', at };
  return { ...s, inbox: { ...s.inbox, unread: [...s.inbox.unread, message] } };
}
