/** The event kinds of the end of a session's life: the notice before it, the order, and the tombstone that stays. */

import type { Spent } from '../budget/budget.ts';
import type { Profile } from '../conversation/event.ts';
import type { Parent } from '../family/event.ts';
import type { Owner, SessionId } from '../ids.ts';

export type RetentionEvent =
  | RetentionNoticed
  | RetentionDeferred
  | RetentionOver
  | SessionDeleting
  | SessionDeleted;

/** By its owner's policy the session is deleted at `until`, unless something comes in before. */
export interface RetentionNoticed {
  readonly kind: 'retention.noticed';
  /** Since when the session rests: the notice is about this rest. */
  readonly since: number;
  readonly until: number;
}

/** Something of it still runs that its log does not show: it is looked at again then. A notice holds no more. */
export interface RetentionDeferred {
  readonly kind: 'retention.deferred';
  readonly since: number;
  readonly until: number;
  readonly why: string;
}

/** The notice of this rest is over and nothing has come in: from here on it is being deleted. */
export interface RetentionOver {
  readonly kind: 'retention.over';
  readonly since: number;
}

/** Somebody has ordered it: from here on it is being deleted. */
export interface SessionDeleting {
  readonly kind: 'session.deleting';
  readonly by: string;
}

/** The tombstone: the commit that brings it takes all events before it, and everything that hung on them. */
export interface SessionDeleted {
  readonly kind: 'session.deleted';
  /** The lease under which it was done. */
  readonly epoch: number;
  readonly cause: DeletionCause;
  /** What it was: never what it said. */
  readonly was: {
    readonly owner: Owner;
    readonly title: string;
    readonly persist: boolean;
    readonly startedAt: number;
    readonly profile?: Profile;
    readonly parent?: Parent;
    readonly forkedFrom?: SessionId;
  };
  readonly had: Estate;
}

/** Who wanted it: a person, or the policy after a notice that stood from `noticedAt` to `until`. */
export type DeletionCause =
  | { readonly by: 'order'; readonly who: string; readonly at: number }
  | {
      readonly by: 'policy';
      readonly since: number;
      readonly noticedAt: number;
      readonly until: number;
    };

/** What went, counted. */
export interface Estate {
  readonly events: number;
  readonly turns: number;
  /** Images of the heap, pictures and other files of messages, and snapshots of the workspace. */
  readonly images: number;
  readonly attachments: number;
  readonly snapshots: number;
  /** Of all of them, and of the log. */
  readonly bytes: number;
  /** The ledger's totals: how many effects ended how. */
  readonly effects: Readonly<Record<string, number>>;
  /** By it alone; in the ledger of its owner it stays. */
  readonly spent: Spent;
}
