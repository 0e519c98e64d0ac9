/**
 * The reference adapter: what the port means, in memory, without a machine. For the simulator and for tests.
 *
 * M1  Deterministic: no timer, no clock, nothing resolves later than a microtask.
 * M2  It outlives its holders, like a disk: a simulated machine dies and the next one finds the same folders.
 */

import { OutlastError } from '../core/error.ts';
import type { BlobRef, SessionId } from '../core/ids.ts';
import { filePath, folderOf, foldersAbove, outside } from '../core/workspace/path.ts';
import { CHUNK_BYTES, type Chunk, type Entry, inOrder, type Tree } from '../core/workspace/tree.ts';
import { sha256 } from '../lib/digest.ts';
import type { Json } from '../lib/json.ts';
import { packed } from '../lib/pack.ts';
import { ignored } from './ignore.ts';
import { isFolder, none, piecesOf, whyLost } from './pieces.ts';
import type { Found, Keep, Listed, Open, Restored, Snapshot, Workspaces } from './port.ts';

type Node =
  | { readonly kind: 'file'; readonly mode: number; readonly bytes: Uint8Array }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder'; readonly mode: number };

interface Home {
  /** By path; null when there is no folder. */
  files: Map<string, Node> | null;
  readonly beside: Map<string, string>;
  epoch: number;
}

export interface MemoryWorkspaces extends Workspaces {
  /** What somebody does at the machine, past the port. */
  readonly hands: {
    put(session: SessionId, path: string, text: string, mode?: number): void;
    link(session: SessionId, path: string, target: string): void;
    folder(session: SessionId, path: string): void;
    remove(session: SessionId, path: string): void;
    /** The whole folder is gone, and what stood beside it. */
    lose(session: SessionId): void;
    text(session: SessionId, path: string): string | null;
    /** Everything as it stands, without a look through the port. */
    tree(session: SessionId): Tree;
  };
  /** Folders of the machine that `take` and `give` know. */
  readonly elsewhere: Map<string, Map<string, Node>>;
}

const FILE = 0o644;
const FOLDER = 0o755;

export function memoryWorkspaces(): MemoryWorkspaces {
  const homes = new Map<SessionId, Home>();
  const elsewhere = new Map<string, Map<string, Node>>();

  function home(session: SessionId): Home {
    const known = homes.get(session) ?? { files: null, beside: new Map(), epoch: 0 };
    homes.set(session, known);
    return known;
  }

  const files = (session: SessionId): Map<string, Node> => {
    const at = home(session);
    at.files ??= new Map();
    return at.files;
  };

  function fenced(session: SessionId, epoch: number): void {
    if (epoch >= home(session).epoch) return;
    throw new OutlastError('lease.lost', 'Another holder has the files of this session.');
  }

  return {
    elsewhere,
    hands: {
      put: (session, path, text, mode) => put(files(session), path, new TextEncoder().encode(text), mode),
      link(session, path, target) {
        makeFolders(files(session), path);
        files(session).set(path, { kind: 'link', target });
      },
      folder(session, path) {
        makeFolders(files(session), `${path}/x`);
      },
      remove: (session, path) => remove(files(session), path),
      lose: (session) => void homes.delete(session),
      tree(session) {
        const at = [...(home(session).files ?? [])].map(([path, node]): Entry => {
          if (node.kind !== 'file') return { path, ...node };
          const { mode, bytes } = node;
          return { kind: 'file', path, mode, size: bytes.length, digest: sha256(bytes), chunks: [] };
        });
        return inOrder(at);
      },
      text(session, path) {
        const node = home(session).files?.get(path);
        return node?.kind === 'file' ? new TextDecoder().decode(node.bytes) : null;
      },
    },

    folder: async () => null,

    async enter(session, epoch) {
      home(session).epoch = Math.max(home(session).epoch, epoch);
    },

    async snapshot(session, known, keep) {
      const at = home(session).files;
      return at && snapshot(at, known, keep);
    },

    async restore(session, epoch, tree, open) {
      fenced(session, epoch);
      const { files: made, lost } = await restored(home(session).files ?? new Map(), tree, open);
      fenced(session, epoch);
      home(session).files = made;
      return { lost };
    },

    async find(session, path): Promise<Found> {
      const at = home(session).files ?? new Map<string, Node>();
      const real = resolve(at, filePath(path));
      const node = real === '' ? ({ kind: 'folder', mode: FOLDER } as const) : at.get(real);
      if (node?.kind === 'file') {
        return { kind: 'file', path: real, size: node.bytes.length, digest: sha256(node.bytes) };
      }
      return { kind: node?.kind === 'folder' ? 'folder' : 'none', path: real };
    },

    async read(session, path, from, length) {
      const at = home(session).files ?? new Map<string, Node>();
      const node = at.get(resolve(at, filePath(path)));
      if (node?.kind !== 'file') throw none(path);
      return node.bytes.slice(from, from + length);
    },

    async write(session, epoch, path, bytes) {
      fenced(session, epoch);
      const at = files(session);
      const real = resolve(at, filePath(path));
      if (real === '' || at.get(real)?.kind === 'folder') throw isFolder(path);
      put(at, real, bytes.slice());
    },

    async list(session, path) {
      const at = home(session).files ?? new Map<string, Node>();
      const real = resolve(at, filePath(path));
      if (real !== '' && at.get(real)?.kind !== 'folder') throw none(path);
      return [...at]
        .filter(([one]) => folderOf(one) === real && one !== '')
        .map(([one, node]): Listed => ({ path: one, kind: node.kind, size: sizeOf(node) }))
        .sort((a, b) => (a.path < b.path ? -1 : 1));
    },

    async remember(session, epoch, name, value) {
      fenced(session, epoch);
      home(session).beside.set(name, JSON.stringify(value));
    },

    async recall(session, name) {
      const text = home(session).beside.get(name);
      return text === undefined ? null : (JSON.parse(text) as Json);
    },

    async erase(session, epoch) {
      fenced(session, epoch);
      homes.set(session, { files: null, beside: new Map(), epoch });
    },

    async take(source, keep) {
      const at = elsewhere.get(source);
      if (!at) throw none(source);
      return snapshot(at, [], keep);
    },

    async give(target, tree, open) {
      const { files: made, lost } = await restored(new Map(), tree, open);
      elsewhere.set(target, made);
      return { lost, at: target };
    },

    async close() {},
  };
}

const sizeOf = (node: Node): number => (node.kind === 'file' ? node.bytes.length : 0);

function makeFolders(at: Map<string, Node>, path: string): void {
  for (const folder of foldersAbove(path)) {
    if (at.get(folder)?.kind !== 'folder') at.set(folder, { kind: 'folder', mode: FOLDER });
  }
}

function put(at: Map<string, Node>, path: string, bytes: Uint8Array, mode?: number): void {
  makeFolders(at, path);
  const old = at.get(path);
  at.set(path, { kind: 'file', bytes, mode: mode ?? (old?.kind === 'file' ? old.mode : FILE) });
}

function remove(at: Map<string, Node>, path: string): void {
  for (const one of [...at.keys()]) if (one === path || one.startsWith(`${path}/`)) at.delete(one);
}

const MOST_LINKS = 40;

/** V1: the path with its links followed. */
function resolve(at: ReadonlyMap<string, Node>, path: string): string {
  let left = path.split('/').filter((name) => name !== '');
  let real: string[] = [];
  let links = 0;
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    if (name === '.') continue;
    if (name === '..') {
      if (real.length === 0) throw outside(`"${path}" leads out of the workspace.`);
      real = real.slice(0, -1);
      continue;
    }
    const node = at.get([...real, name].join('/'));
    if (node?.kind !== 'link') {
      real = [...real, name];
      continue;
    }
    if (node.target.startsWith('/') || ++links > MOST_LINKS)
      throw outside(`"${path}" leads out of the workspace, through a link.`);
    left = [...node.target.split('/').filter((part) => part !== ''), ...left];
  }
  return real.join('/');
}

async function snapshot(at: ReadonlyMap<string, Node>, known: Tree, keep: Keep): Promise<Snapshot> {
  const pieces = piecesOf(known);
  const isIgnored = ignored((path) => {
    const node = at.get(path);
    return node?.kind === 'file' ? new TextDecoder().decode(node.bytes) : null;
  });
  const entries: Entry[] = [];
  for (const [path, node] of [...at].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (isIgnored(path, node.kind === 'folder')) continue;
    if (node.kind !== 'file') entries.push({ path, ...node });
    else entries.push(await fileEntry(path, node, pieces, keep));
  }
  return { tree: entries, left: [] };
}

async function fileEntry(
  path: string,
  { mode, bytes }: Extract<Node, { kind: 'file' }>,
  pieces: Map<string, BlobRef>,
  keep: Keep,
): Promise<Entry> {
  const chunks: Chunk[] = [];
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
    const piece = bytes.subarray(from, from + CHUNK_BYTES);
    const digest = sha256(piece);
    const blob = pieces.get(digest) ?? (await keep(packed(piece)));
    pieces.set(digest, blob);
    chunks.push({ digest, blob });
  }
  return { kind: 'file', path, mode, size: bytes.length, digest: sha256(bytes), chunks };
}

/** What is ignored stays where it is: it was never kept, so nothing else could bring it back. */
async function restored(
  at: ReadonlyMap<string, Node>,
  tree: Tree,
  open: Open,
): Promise<Restored & { readonly files: Map<string, Node> }> {
  const made = new Map<string, Node>();
  const lost: { path: string; why: string }[] = [];
  const isIgnored = ignored((path) => {
    const node = at.get(path);
    return node?.kind === 'file' ? new TextDecoder().decode(node.bytes) : null;
  });
  for (const [path, node] of at) if (isIgnored(path, node.kind === 'folder')) made.set(path, node);
  for (const entry of tree) {
    if (entry.kind !== 'file') {
      const { path, ...node } = entry;
      made.set(path, node);
      continue;
    }
    try {
      const parts = [];
      for (const { blob } of entry.chunks) parts.push(await open(blob));
      made.set(entry.path, { kind: 'file', mode: entry.mode, bytes: joined(parts) });
    } catch (error) {
      lost.push({ path: entry.path, why: whyLost(error) });
    }
  }
  return { files: made, lost };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
