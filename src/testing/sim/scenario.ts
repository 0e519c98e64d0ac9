/**
 * A scenario: what a person says, what a scripted model answers, and what must stand in the books at the end. The model
 * is a function of its request, so a repeated model call gives the same reply.
 */

import type { Budget, BudgetChange } from '../../core/budget/budget.ts';
import type { Limits } from '../../core/limits.ts';
import type { ModelRequest, When } from '../../core/message.ts';
import type { Policy } from '../../core/policy.ts';
import type { Residency } from '../../core/residency/policy.ts';
import type { ModelReply, Prices } from '../../models/port.ts';
import type { Tool } from '../../tools/port.ts';
import type { Mode } from './modes.ts';
import type { World } from './world.ts';

export interface Act {
  /**
   * What the person does once the session rests from the act before; `rest` is to answer what is asked, `fork` to make a
   * fork and speak to that.
   */
  readonly do:
    | 'start'
    | 'send'
    | 'stop'
    | 'delete'
    | 'reopen'
    | 'interrupt'
    | 'pause'
    | 'resume'
    | 'rest'
    | 'wait'
    | 'fork'
    | 'raise'
    /** Somebody is at the machine: a file is changed, or the whole folder gone. */
    | 'edit'
    | 'lose';
  /** Leaves open what is asked, for now. */
  readonly leavesOpen?: true;
  readonly text?: string;
  readonly when?: When;
  /** Of `edit`. */
  readonly path?: string;
  readonly mode?: number;
  /** Of `wait`: how long nobody comes. */
  readonly ms?: number;
  /** Of `send`: from where the receipt must say that it woke. */
  readonly woke?: Residency;
  /** Of `start`: what the session may use. Of `raise`: what it, or its owner, may use from here on. */
  readonly budget?: BudgetChange;
  readonly whose?: 'session' | 'owner';
}

export interface Scenario {
  readonly name: string;
  /** Few enough boundaries for every pair of crashes on each push. */
  readonly isSmall?: true;
  readonly acts: readonly Act[];
  readonly reply: (request: ModelRequest) => ModelReply;
  /** `service: what` → how often it must stand in the books. */
  readonly wanted: Readonly<Record<string, number>>;
  /** On top of those of the world. */
  readonly tools?: readonly Tool[];
  /** What must stand in the folder at the end: by path, the mode and the text. */
  readonly files?: Readonly<Record<string, string>>;
  readonly prepare?: (world: World) => void;
  /** The disk gives out an image in place of another (`rot.ts`). */
  readonly rots?: true;
  /** It gives work to children: they are followed as well, and their questions answered. */
  readonly hasChildren?: true;
  /** There is Python, whose kernels live beside the machine. */
  readonly hasKernels?: true;
  /** It is a conversation, and its children are its tasks. */
  readonly isTalk?: true;
  /** What the owner may use, from the beginning. */
  readonly owner?: Budget;
  /** What the last response must contain, whatever happened on the way. */
  readonly says?: string;
  /** What a person is asked about before it is done; by default nothing. */
  readonly policy?: Policy;
  /** Whether the person wants this done, when they are asked before; by default they do. */
  readonly approves?: (what: string) => boolean;
  /** How often sweepers look, at the least: each look is a boundary, and hours have many. */
  readonly sweepMs?: number;
  /** The person takes up the newest question first. */
  readonly isBackward?: true;
  /** What the person answers to every question of the work. */
  readonly answer?: string;
  /** Of the session. */
  readonly limits?: Partial<Limits>;
  /** By default nothing has a price. */
  readonly prices?: Prices;
  /** Only what this can go through; by default everything. */
  readonly modes?: readonly Mode[];
  /** What would change its course. */
  readonly except?: readonly Mode[];
}
