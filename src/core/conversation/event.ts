/** The event kinds of a conversation: how it looks at its tasks, and how its turns end beside with words of its own. */

import type { CallId, SessionId } from '../ids.ts';

/** What a session is that is no task: a conversation only talks, and has tasks that work. */
export type Profile = 'conversation';

/** A result of a task, by its place in the log of that task. */
export interface Relayed {
  readonly task: SessionId;
  readonly seq: number;
}

/** How a task stood when the conversation looked. */
export interface TaskSeen {
  readonly task: SessionId;
  readonly phase: string;
  readonly residency: string;
  /** What it waits for, in words; null while it works, or is over. */
  readonly waitsFor: string | null;
  /** Milliseconds since the epoch: since when it stands so. */
  readonly since: number;
  /** By it and all below it; null where nothing was ever counted. */
  readonly spent: { readonly microUsd: number; readonly tokens: number } | null;
  /** In the queue for a slot, 1 for the next; not there while it waits for none. */
  readonly place?: number;
}

/** How the slots of the owner stood then; the conversation itself had one of those that were used. */
export interface SlotsSeen {
  readonly used: number;
  readonly free: number;
  readonly waiting: number;
}

export type ConversationEvent =
  /** The conversation has looked at its tasks before this step. Those are named that stand otherwise than before. */
  | {
      readonly kind: 'tasks.seen';
      readonly turn: number;
      readonly step: number;
      readonly tasks: readonly TaskSeen[];
      /** Not there in older events. */
      readonly slots?: SlotsSeen;
    }
  /** With this call the turn is to end: with what a task has said, or, with none, without a word. */
  | { readonly kind: 'ending.chosen'; readonly call: CallId; readonly relay: Relayed | null }
  /** The turn has ended without a word: nobody is told anything. */
  | { readonly kind: 'turn.passed'; readonly turn: number };
