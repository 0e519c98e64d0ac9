/**
 * Identifiers, branded and made in one place.
 *
 * A session's id is random. Every id inside a session is a counter of its own log (`e7` is its seventh effect), so
 * whoever folds the log mints the same ids, and no model or service can choose one.
 */

import { OutlastError } from './error.ts';

declare const brand: unique symbol;
type Id<Name extends string> = string & { readonly [brand]: Name };

export type SessionId = Id<'session'>;
export type Owner = Id<'owner'>;
export type MessageId = Id<'message'>;
export type CallId = Id<'call'>;
export type EffectId = Id<'effect'>;
export type CellId = Id<'cell'>;
export type DecisionId = Id<'decision'>;
export type TimerId = Id<'timer'>;
/** Names a blob of the store by the hash of its bytes. */
export type BlobRef = Id<'blob'>;

const SESSION = /^ses_[0-9a-z]{16,32}$/;
const OWNER = /^[a-z0-9][a-z0-9._-]{0,63}$/;

export const sessionId = (token: string): SessionId => `ses_${token}` as SessionId;

/** An id from outside. Anything but the exact form is refused, so an id can never be a path. */
export function parseSessionId(text: string): SessionId {
  if (SESSION.test(text)) return text as SessionId;
  throw new OutlastError('session.unknown', 'There is no session with this id.', {
    next: 'list your sessions',
  });
}

export function parseOwner(text: string): Owner {
  if (OWNER.test(text)) return text as Owner;
  throw new OutlastError('owner.invalid', 'An owner is 1 to 64 of a-z, 0-9, dot, dash and underscore.', {
    next: 'choose another owner name',
  });
}

/** How many ids of each kind a log has used; part of the folded state. */
export interface Counters {
  readonly message: number;
  readonly call: number;
  readonly effect: number;
  readonly cell: number;
  readonly decision: number;
  readonly timer: number;
}

export const noCounters: Counters = { message: 0, call: 0, effect: 0, cell: 0, decision: 0, timer: 0 };

export const mint = {
  message: (c: Counters, ahead = 0): MessageId => `m${c.message + 1 + ahead}` as MessageId,
  call: (c: Counters, ahead = 0): CallId => `call_${c.call + 1 + ahead}` as CallId,
  effect: (c: Counters, ahead = 0): EffectId => `e${c.effect + 1 + ahead}` as EffectId,
  cell: (c: Counters): CellId => `c${c.cell + 1}` as CellId,
  decision: (c: Counters, ahead = 0): DecisionId => `d${c.decision + 1 + ahead}` as DecisionId,
  timer: (c: Counters, ahead = 0): TimerId => `t${c.timer + 1 + ahead}` as TimerId,
} as const;
