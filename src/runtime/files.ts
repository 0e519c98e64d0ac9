/**
 * The files of a session for people: what stood in a commit, what differs between two, and what is to stand there.
 *
 * Reading needs no lease: commits and their pieces stand in the store. What is to stand there is an input like any other;
 * the holder makes it so (`next`), after it has kept what it finds.
 */

import * as decide from '../core/decide.ts';
import { OutlastError } from '../core/error.ts';
import type { EventBody } from '../core/event.ts';
import { fold } from '../core/evolve.ts';
import type { SessionId } from '../core/ids.ts';
import type { Phase } from '../core/phase.ts';
import type { State } from '../core/state.ts';
import { filePath } from '../core/workspace/path.ts';
import { EMPTY_TREE, type Entry, entryAt, type Tree } from '../core/workspace/tree.ts';
import { noSuchEvent } from '../loop/fork.ts';
import type { Ports } from '../loop/ports.ts';
import { readEvents } from '../loop/read.ts';
import { differences } from '../loop/workspace/differences.ts';
import { contentOf } from '../loop/workspace/hand.ts';
import { placeOf } from '../loop/workspace/tree-blobs.ts';
import type { Workspaces } from '../loop/workspace/workspaces.ts';
import type { Blob } from '../store/port.ts';

export interface FilesPage {
  readonly session: SessionId;
  /** The event at which these files stood. */
  readonly at: number;
  readonly files: number;
  readonly bytes: number;
  readonly entries: readonly {
    readonly path: string;
    readonly kind: Entry['kind'];
    readonly size: number;
    /** Of links: where they lead. */
    readonly target: string | null;
    readonly mode: number | null;
    readonly digest: string | null;
  }[];
  /** The last path of this page when more follow; null at the end. */
  readonly after: string | null;
}

/** A piece of a file. */
export interface FilePiece {
  readonly path: string;
  readonly size: number;
  readonly digest: string;
  readonly from: number;
  readonly data: Uint8Array;
}

export interface FilesDiff {
  readonly session: SessionId;
  readonly from: number;
  readonly to: number;
  readonly shown: readonly string[];
  /** Paths that differ too, and for which there was no room. */
  readonly left: number;
}

export interface Placed {
  readonly session: SessionId;
  readonly phase: Phase;
  readonly files: number;
  readonly bytes: number;
  /** What could not be kept. */
  readonly left: readonly { readonly path: string; readonly why: string }[];
}

export interface Exported {
  readonly session: SessionId;
  readonly at: string;
  readonly files: number;
  readonly lost: readonly { readonly path: string; readonly why: string }[];
}

/** The calls on the files of the sessions of one owner. */
export interface FileCalls {
  /** As they stood at an event; by default at the newest. */
  files(session: string, query?: { at?: number; after?: string; limit?: number }): Promise<FilesPage>;
  file(session: string, path: string, query?: { at?: number; from?: number }): Promise<FilePiece>;
  /** Between two events; by default since the beginning of the last turn. */
  diffFiles(session: string, query?: { from?: number; to?: number; path?: string }): Promise<FilesDiff>;
  /** From a folder of the machine on which the runtime runs, or a git remote, on top of what is there. */
  importFiles(session: string, from: string): Promise<Placed>;
  /** To a folder of that machine that is not there or empty, or to a branch of its own of a git remote. */
  exportFiles(session: string, to: string, query?: { at?: number }): Promise<Exported>;
  /** As they stood at an event, in place of what is there, which is kept as a commit. */
  restoreFiles(session: string, at: number): Promise<Placed>;
}

interface Given {
  readonly ports: Pick<Ports, 'store' | 'workspaces'>;
  readonly workspaces: Workspaces;
  readonly own: (id: string) => Promise<SessionId>;
  readonly stateOf: (session: SessionId) => Promise<State>;
  readonly input: (
    id: string,
    command: (s: State) => readonly EventBody[],
    blobs?: readonly Blob[],
  ) => Promise<Phase>;
  readonly by: string;
  /** Whether this owner may name folders of the machine. */
  readonly mayNameFolders: boolean;
}

const PAGE = 1_000;
const PIECE = 1024 * 1024;

export function fileCalls({ ports, workspaces, own, stateOf, input, by, mayNameFolders }: Given): {
  readonly calls: FileCalls;
  /** Throws where this owner may name no folders of the machine. */
  checkPlace(): void;
} {
  async function stateAt(session: SessionId, at: number | undefined): Promise<State> {
    const now = await stateOf(session);
    if (at === undefined || at === now.head) return now;
    if (!Number.isInteger(at) || at < 1 || at > now.head) throw noSuchEvent(at, now.head);
    return fold(await readEvents(ports.store, session, at));
  }

  async function treeOf(session: SessionId, s: State): Promise<Tree> {
    const { tree } = s.workspace;
    return tree === null ? EMPTY_TREE : workspaces.tree(placeOf(s, session), tree);
  }

  function checkPlace(): void {
    if (mayNameFolders) return;
    throw new OutlastError(
      'owner.unauthorized',
      "Only this server's own owner may name folders of its machine.",
      {
        next: 'ask whoever runs the server',
      },
    );
  }

  const calls: FileCalls = {
    async files(id, { at, after = '', limit = PAGE } = {}) {
      const session = await own(id);
      const s = await stateAt(session, at);
      const tree = await treeOf(session, s);
      const from = after === '' ? 0 : tree.findIndex(({ path }) => path > after);
      const shown = from === -1 ? [] : tree.slice(from, from + Math.min(Math.max(1, limit), PAGE));
      const isMore = from !== -1 && from + shown.length < tree.length;
      const { files = 0, bytes = 0 } = s.workspace.tree ?? {};
      return {
        ...{ session, at: s.head, files, bytes, entries: shown.map(row) },
        after: isMore ? (shown.at(-1)?.path ?? null) : null,
      };
    },

    async file(id, path, { at, from = 0 } = {}) {
      const session = await own(id);
      const s = await stateAt(session, at);
      const entry = entryAt(await treeOf(session, s), filePath(path));
      if (entry?.kind !== 'file') {
        const what = entry === undefined ? `There is no file "${path}"` : `"${path}" is a ${entry.kind}`;
        throw new OutlastError('files.none', `${what} at event ${s.head}.`, { next: 'list the files' });
      }
      const open = workspaces.opener(placeOf(s, session));
      const index = Math.floor(from / PIECE);
      const chunk = entry.chunks[index];
      const data = chunk ? (await open(chunk.blob)).subarray(from - index * PIECE) : new Uint8Array();
      return { path: entry.path, size: entry.size, digest: entry.digest, from, data };
    },

    async diffFiles(id, { from, to, path = '' } = {}) {
      const session = await own(id);
      const after = await stateAt(session, to);
      const before =
        from === undefined
          ? { ...after, workspace: { ...after.workspace, tree: after.workspace.atTurn } }
          : await stateAt(session, from);
      const open = workspaces.opener(placeOf(after, session));
      const read = (entry: Parameters<typeof contentOf>[0]) => contentOf(entry, open);
      const found = await differences({
        before: await treeOf(session, before),
        after: await treeOf(session, after),
        old: read,
        now: read,
        only: filePath(path),
      });
      return { session, from: from ?? 0, to: after.head, ...found };
    },

    async importFiles(id, from) {
      const session = await own(id);
      checkPlace();
      const place = placeOf(await stateOf(session), session);
      const { tree, blobs, left } = await workspaces.take(place, from);
      const phase = await input(id, (s) => decide.setFiles(s, { why: 'imported', tree, from, by }), blobs);
      return { session, phase, files: tree.files, bytes: tree.bytes, left };
    },

    async exportFiles(id, to, { at } = {}) {
      const session = await own(id);
      checkPlace();
      const s = await stateAt(session, at);
      const tree = await treeOf(session, s);
      const { at: place, lost } = await ports.workspaces.give(
        to,
        tree,
        workspaces.opener(placeOf(s, session)),
      );
      return { session, at: place, files: s.workspace.tree?.files ?? 0, lost };
    },

    async restoreFiles(id, at) {
      const session = await own(id);
      const { tree } = (await stateAt(session, at)).workspace;
      if (tree === null) throw new OutlastError('files.none', `There were no files at event ${at}.`);
      const from = `event ${at}`;
      const phase = await input(id, (s) => decide.setFiles(s, { why: 'restored', tree, from, by }));
      return { session, phase, files: tree.files, bytes: tree.bytes, left: [] };
    },
  };
  return { calls, checkPlace };
}

const row = (entry: Entry): FilesPage['entries'][number] => ({
  path: entry.path,
  kind: entry.kind,
  size: entry.kind === 'file' ? entry.size : 0,
  target: entry.kind === 'link' ? entry.target : null,
  mode: entry.kind === 'link' ? null : entry.mode,
  digest: entry.kind === 'file' ? entry.digest : null,
});
