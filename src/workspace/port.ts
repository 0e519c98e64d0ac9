/**
 * The port to the files of sessions: a folder for each, looked at, kept and brought back. One suite (`suite.ts`) proves
 * each adapter.
 *
 * V1  A path names something inside the folder of its session. What leads out, through links either, throws
 *     `path.outside`, and nothing outside is touched.
 * V2  `snapshot` keeps the very bytes that its digests are of. It follows no link, leaves out what is ignored, and names
 *     what it could not keep.
 * V3  `restore` ends with a folder whose snapshot has the same digest, or says of which files the bytes are lost.
 *     Where there was no folder it is there whole or not at all, whatever happens on the way.
 * V4  `write` is there whole or not at all; the mode of a file that was there stays.
 * V5  What is remembered stands beside the files and never among them. It may be lost; then it was never said.
 * V6  What is to be changed under an older epoch than the newest that has entered is not: `lease.lost`.
 * V7  `erase` leaves nothing of a session, no file and nothing that was remembered. A fence may stay, so that V6 holds
 *     for whoever comes late. Erased again, nothing happens.
 */

import type { BlobRef, SessionId } from '../core/ids.ts';
import type { Tree, TreeChange } from '../core/workspace/tree.ts';
import type { Json } from '../lib/json.ts';

/** Keeps a piece of a file, packed (`lib/pack`), and says in which blob. Called once for each piece not known yet. */
export type Keep = (packed: Uint8Array) => Promise<BlobRef>;

/** The piece again; throws `blob.missing` or `blob.forged` when it is gone. */
export type Open = (blob: BlobRef) => Promise<Uint8Array>;

export interface Snapshot {
  readonly tree: Tree;
  /** What stands there and could not be kept: sockets, devices, names that are no text, what may not be read. */
  readonly left: readonly { readonly path: string; readonly why: string }[];
}

/** Files whose bytes could not be brought back. */
export interface Restored {
  readonly lost: readonly { readonly path: string; readonly why: string }[];
}

/** What stands at a path, links followed inside the folder; its digest is that of its bytes right now. */
export type Found =
  | { readonly kind: 'file'; readonly path: string; readonly size: number; readonly digest: string }
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'none'; readonly path: string }
  /** Neither file nor folder: it is not opened. */
  | { readonly kind: 'other'; readonly path: string };

/** One name in a folder; a link is not followed. */
export interface Listed {
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly size: number;
}

export interface Workspaces {
  /** The folder for processes on this machine, made when it is not there; null where files are not kept in one. */
  folder(session: SessionId): Promise<string | null>;
  /** V6: from here on only this epoch, and newer ones, may change anything. */
  enter(session: SessionId, epoch: number): Promise<void>;
  /** Null when there is no folder. `known` is the tree kept last: pieces that it names are not kept again. */
  snapshot(session: SessionId, known: Tree, keep: Keep): Promise<Snapshot | null>;
  restore(session: SessionId, epoch: number, tree: Tree, open: Open): Promise<Restored>;
  find(session: SessionId, path: string): Promise<Found>;
  read(session: SessionId, path: string, from: number, length: number): Promise<Uint8Array>;
  write(session: SessionId, epoch: number, path: string, bytes: Uint8Array): Promise<void>;
  /** What is in a folder, by name. */
  list(session: SessionId, path: string): Promise<readonly Listed[]>;
  /** V5. */
  remember(session: SessionId, epoch: number, name: string, value: Json): Promise<void>;
  recall(session: SessionId, name: string): Promise<Json>;
  /** V7. Under the epoch that has entered last, or a newer one. */
  erase(session: SessionId, epoch: number): Promise<void>;
  /** Of any folder of this machine, or a git remote: what `snapshot` says of it. */
  take(source: string, keep: Keep): Promise<Snapshot>;
  /** Makes any folder of this machine as the tree says, or adds it to a git remote; says where it is now. */
  give(target: string, tree: Tree, open: Open): Promise<Restored & { readonly at: string }>;
  close(): Promise<void>;
}

/** Commits of the workspace, as its session knows them: the last, that of the beginning of the turn, or as of an event. */
export type Which = 'last' | 'turn' | number;

/** The files of one session, for a tool while it runs. Its calls are those of the port. */
export interface Workspace {
  /** For processes; null where files are not kept in a folder (the simulator). */
  folder(): Promise<string | null>;
  find(path: string): Promise<Found>;
  read(path: string, from: number, length: number): Promise<Uint8Array>;
  write(path: string, bytes: Uint8Array): Promise<void>;
  list(path: string): Promise<readonly Listed[]>;
  remember(name: string, value: Json): Promise<void>;
  recall(name: string): Promise<Json>;
  /** What stands in a commit; the empty tree where there is none yet. */
  tree(which: Which): Promise<Tree>;
  /** What is otherwise now than in a commit, path by path, as far as there is room; and how many paths are left out. */
  diff(since: Which, only: string): Promise<{ readonly shown: readonly string[]; readonly left: number }>;
  /** What somebody else has changed and the model has not read of yet. */
  untold(): Promise<readonly TreeChange[]>;
}
