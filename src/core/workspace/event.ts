/** The event kinds of the workspace: what stands in a session's folder, and since when. */

import type { EffectId } from '../ids.ts';
import type { TreeChange, TreeRef } from './tree.ts';

/** What became of the folder when a holder opened it: as the log says, brought back, changed by others, or not whole. */
export type FilesRung = 'attached' | 'restored' | 'drifted' | 'lost';

/** What a commit of the workspace changed: how much, and the first paths by name. */
export interface FilesChanged {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly paths: readonly TreeChange[];
}

/** A path of the workspace of which something has to be said. */
export interface FileNote {
  readonly path: string;
  readonly why: string;
}

/** What a tool does with the files of its session. */
export type FilesUse = 'reads' | 'changes';

export type WorkspaceEvent =
  /** A holder has looked at the folder. With a tree, that is what stands from here on. */
  | {
      readonly kind: 'workspace.opened';
      readonly epoch: number;
      readonly rung: FilesRung;
      readonly note: string;
      readonly tree: TreeRef | null;
      readonly changed: FilesChanged | null;
      readonly lost: readonly FileNote[];
    }
  | {
      readonly kind: 'workspace.committed';
      /** `drift`: somebody else did it, between two looks of the holder. */
      readonly why: 'call' | 'drift' | 'parked' | 'stopped' | 'imported' | 'restored';
      /** The call that did it. */
      readonly effect: EffectId | null;
      readonly tree: TreeRef;
      readonly changed: FilesChanged;
      /** Bytes that the store has more for it. */
      readonly stored: number;
      /** What stands there and cannot be kept, when that is not as before. */
      readonly left?: readonly FileNote[];
    }
  /** Somebody wants these files to stand there; the holder makes it so. */
  | {
      readonly kind: 'workspace.set';
      readonly why: 'imported' | 'restored';
      readonly tree: TreeRef;
      /** Where they come from, in words. */
      readonly from: string;
      readonly by: string;
    };
