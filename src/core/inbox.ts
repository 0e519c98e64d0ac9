/**
 * The inbox: what was accepted and waits to be read.
 *
 * I1  Order of acceptance is order of reading, and nothing accepted is ever dropped.
 * I2  A key is accepted once; a repeat gets the first receipt. It is a repeat when text, images and rule are the same.
 */

import { given } from '../lib/given.ts';
import type { EventOf } from './event.ts';
import type { FileRef } from './file.ts';
import type { MessageId } from './ids.ts';
import type { Message, When, Whole } from './message.ts';
import type { State } from './state.ts';

export function accepted(s: State, e: EventOf<'message.accepted'>): State {
  const { text, images, when, at } = e;
  const message: Message = { id: e.message, seq: e.seq, text, images, from: 'person', when, at };
  const receipt = {
    message: e.message,
    seq: e.seq,
    rule: e.rule,
    digest: digestOf(e),
    ...given({ woke: e.woke }),
  };
  return {
    ...s,
    counters: { ...s.counters, message: s.counters.message + 1 },
    inbox: {
      unread: [...s.inbox.unread, message],
      receipts: e.key === null ? s.inbox.receipts : { ...s.inbox.receipts, [e.key]: receipt },
    },
  };
}

/** What must be the same for a repeat under the same key (I2). */
export function digestOf(sent: { text: string; images: readonly FileRef[]; when: When }): string {
  return JSON.stringify([sent.when, sent.text, ...sent.images.map(({ digest }) => digest)]);
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
      ...taken.map((message) => ({ kind: 'message' as const, seq: message.seq, message, turn: e.turn })),
    ],
  };
}

/** What the session reports to itself arrives like a message: the end of what was suspended. */
export function reportToSelf(
  s: State,
  /** What has come to its end. */
  of: string,
  text: string,
  at: number,
  whole?: Whole,
): State {
  const id = `end:${of}` as MessageId;
  const seq = s.head + 1;
  const message: Message = {
    id,
    seq,
    text,
    images: [],
    from: 'runtime',
    when: 'next',
    at,
    ...given({ whole }),
  };
  return { ...s, inbox: { ...s.inbox, unread: [...s.inbox.unread, message] } };
}
