/** The event kinds between a session and the children that it has spawned. */

import type { Spent } from '../budget/budget.ts';
import type { Claim } from '../claims.ts';
import type { DecisionAnswer, DecisionSubject } from '../event.ts';
import type { DecisionId, EffectId, MessageId, SessionId } from '../ids.ts';
import type { Announced } from '../residency/notice.ts';

/** Whose child a session is; fixed when it starts. */
export interface Parent {
  readonly session: SessionId;
  /** The effect that spawned it: the child's id follows from it. */
  readonly effect: EffectId;
  /** 1 for a child of a session that is nobody's; 0 for a task of a conversation, which is the top of its own tree. */
  readonly depth: number;
  /** The session at the top of the tree, which counts all below it. */
  readonly root: SessionId;
}

/** What a call does with children, where it does anything. */
export type FamilyUse = 'spawns' | 'instructs' | 'stops' | 'decides';

/** How an instruction of a child came to its end. All but the first cut it off. */
export type ResultEnd = 'surfaced' | 'failed' | 'interrupted' | 'stopped' | 'quarantined' | 'budget';

/** What came of instructions. */
export interface ChildResult {
  /** The event of the child's log that says it. Results are told in this order, each once. */
  readonly seq: number;
  readonly turn: number;
  readonly end: ResultEnd;
  readonly text: string;
  readonly answers: readonly MessageId[];
  /** What it did outside, as its ledger knew it then. */
  readonly claims: readonly Claim[];
  /** Titles of its own children that were cut off in this turn. */
  readonly partial: readonly string[];
  /** Of a stop: that its parent had ordered it. */
  readonly ordered?: true;
}

/** How a child and all below it stand, as far as its parent has to know. */
export interface Standing {
  /** The newest event of its log at that moment: a later one is truer. */
  readonly asOf: number;
  readonly status: 'open' | 'paused' | 'stopped';
  readonly questions: readonly ChildQuestion[];
  readonly unknown: readonly ChildUnknown[];
  /** What of them is to be given up unless somebody speaks; not there when nothing is. */
  readonly notices?: readonly ChildNotice[];
  /** Of each of them, what is gone after such a notice: of the last one. */
  readonly gone?: readonly ChildNotice[];
  /** By it and all below it. */
  readonly spent: Spent;
}

export interface ChildNotice extends Announced {
  readonly session: SessionId;
}

export interface ChildQuestion {
  readonly session: SessionId;
  readonly decision: DecisionId;
  readonly about: DecisionSubject;
  readonly question: string;
  /** What can be answered; of a question of the work with `choices`, one of these. */
  readonly options: readonly DecisionAnswer[];
  readonly choices: readonly string[];
  /** Of an approval: the action that it is about. */
  readonly digest?: string;
}

export interface ChildUnknown {
  readonly session: SessionId;
  readonly effect: EffectId;
  readonly tool: string;
  readonly target: string;
  readonly identity: string | null;
}

/** How a parent wants its children to be. */
export type Wanted = 'open' | 'paused' | 'stopped';

export type FamilyEvent =
  /** A child stands, and has its first instruction. */
  | {
      readonly kind: 'child.spawned';
      readonly effect: EffectId;
      readonly child: SessionId;
      readonly message: MessageId;
      readonly title: string;
      /** Whether the call waits for what comes of it. */
      readonly waits: boolean;
    }
  /** A child has got another instruction. */
  | {
      readonly kind: 'child.instructed';
      readonly effect: EffectId;
      readonly child: SessionId;
      readonly message: MessageId;
      readonly waits: boolean;
    }
  /** A child tells what came of an instruction, or how it stands by now. */
  | {
      readonly kind: 'child.reported';
      readonly child: SessionId;
      readonly result: ChildResult | null;
      readonly standing: Standing;
    }
  /** A stop, a pause or its end was passed on to the child of this effect. */
  | { readonly kind: 'child.relayed'; readonly effect: EffectId; readonly status: Wanted }
  /** A session further down the tree is about to be; the root counts it. */
  | { readonly kind: 'descendant.counted'; readonly child: SessionId }
  /** In the log of a child: its parent has it in its own. */
  | {
      readonly kind: 'parent.told';
      /** The last result that it has. */
      readonly result: number;
      /** How it stands, as the parent knows it now (`standingKey`). */
      readonly standing: string;
    };
