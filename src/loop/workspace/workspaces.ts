/**
 * Folders of sessions: opened down a ladder (attached, restored, drifted, lost), looked at, and kept as trees in blobs.
 *
 * R1  What is kept stands in the store under its session, sealed for its lineage; a fork has its own (tree-blobs.ts).
 * R2  A blob is in the store no later than the commit that names it. Those of a big tree go ahead, `AHEAD_BYTES` at a
 *     time; without the commit nobody knows of them.
 * R3  Nothing here is needed after a crash: what the folder holds is looked at, and what the log says is read.
 */

import type { BlobRef, SessionId } from '../../core/ids.ts';
import type { State } from '../../core/state.ts';
import type { FileNote, FilesChanged, FilesRung } from '../../core/workspace/event.ts';
import { isInFiles } from '../../core/workspace/evolve.ts';
import {
  changesBetween,
  digestOfTree,
  EMPTY_TREE,
  overlay,
  sizeOfTree,
  type Tree,
  type TreeRef,
} from '../../core/workspace/tree.ts';
import { sha256 } from '../../lib/digest.ts';
import { packed } from '../../lib/pack.ts';
import type { Blob } from '../../store/port.ts';
import type { Snapshot } from '../../workspace/port.ts';
import type { Ports } from '../ports.ts';
import { isBlobLoss } from '../read.ts';
import { AHEAD_BYTES, aboutFiles, adopt, opener, type Place, placeOf } from './tree-blobs.ts';
import { type Pages, read, write } from './tree-pages.ts';

/** A tree that is ready for the commit that names it. */
export interface KeptTree {
  readonly tree: TreeRef;
  readonly changed: FilesChanged;
  readonly left: readonly FileNote[];
  readonly blobs: readonly Blob[];
  readonly stored: number;
  /** Where the tree stood that it was compared with. */
  readonly base: number;
}

export interface CheckedOut {
  readonly rung: FilesRung;
  readonly note: string;
  readonly lost: readonly FileNote[];
  /** What stands there, when it is not what the log says. */
  readonly found: KeptTree | null;
  /** What somebody wanted to stand there, and what that changed. */
  readonly set: { readonly seq: number; readonly kept: KeptTree } | null;
}

export type FilePorts = Pick<Ports, 'workspaces' | 'store' | 'sealer'>;

const SHOWN_PATHS = 40;
const KNOWN_TREES = 16;

interface Known {
  readonly tree: Tree;
  readonly pages: Pages;
}

const NONE: Known = { tree: EMPTY_TREE, pages: new Map() };

export class Workspaces {
  private readonly ports: FilePorts;
  /** Trees that were read or written last, by their roots. */
  private readonly known = new Map<BlobRef, Known>();

  constructor(ports: FilePorts) {
    this.ports = ports;
  }

  /** Down the ladder, and to what is wanted. */
  async checkout(session: SessionId, s: State, epoch: number): Promise<CheckedOut> {
    await this.ports.workspaces.enter(session, epoch);
    const opened = await this.open(session, s, epoch);
    const { wanted } = s.workspace;
    if (wanted === null) return { ...opened, set: null };
    const place = placeOf(s, session);
    const standing = opened.found?.tree ?? s.workspace.tree;
    const before = (standing ? await this.load(place, standing).catch(lostTree) : null) ?? NONE;
    // An older state of a fork may be made of what is its original's alone.
    if (place.lineage !== session) await adopt(session, wanted.tree, place, this.ports);
    const asked = await this.tree(place, wanted.tree);
    // What is imported comes on top of what is there; what is restored takes its place.
    const after = wanted.why === 'imported' ? overlay(before.tree, asked) : asked;
    await this.ports.workspaces.restore(session, epoch, after, this.opener(place));
    const keeping = new Keeping(place, this.ports);
    const kept = await this.kept({ tree: after, left: s.workspace.left }, before, keeping, s.workspace.seq);
    return { ...opened, set: { seq: wanted.seq, kept } };
  }

  /** What stands in the folder, when it is not what the log says; null when it is, or there is no folder. */
  async look(
    session: SessionId,
    s: State,
    standing: TreeRef | null = s.workspace.tree,
  ): Promise<KeptTree | null> {
    const place = placeOf(s, session);
    const known = standing ? await this.load(place, standing).catch(lostTree) : NONE;
    const keeping = new Keeping(place, this.ports);
    const seen = await this.ports.workspaces.snapshot(session, known?.tree ?? EMPTY_TREE, keeping.keep);
    if (seen === null || isAs(seen, standing)) return null;
    return this.kept(seen, known ?? NONE, keeping, s.workspace.seq);
  }

  /** The tree behind a reference. Throws when a page of it is lost. */
  async tree(place: Place, ref: TreeRef): Promise<Tree> {
    return (await this.load(place, ref)).tree;
  }

  /** The bytes of a piece, out of the store. */
  opener(place: Place): (blob: BlobRef) => Promise<Uint8Array> {
    return opener(place, this.ports);
  }

  /** A folder of this machine, or a git remote, as a tree for the commit that names it. */
  async take(place: Place, source: string): Promise<KeptTree> {
    const keeping = new Keeping(place, this.ports);
    return this.kept(await this.ports.workspaces.take(source, keeping.keep), NONE, keeping, 0);
  }

  private async open(session: SessionId, s: State, epoch: number): Promise<Omit<CheckedOut, 'set'>> {
    const place = placeOf(s, session);
    const standing = s.workspace.tree;
    const known = standing ? await this.load(place, standing).catch(lostTree) : NONE;
    const keeping = new Keeping(place, this.ports);
    const { workspaces } = this.ports;
    const seen = await workspaces.snapshot(session, known?.tree ?? EMPTY_TREE, keeping.keep);
    if (seen !== null && isAs(seen, standing)) {
      // Where the pages of the tree are lost, they are kept anew: the folder is all that is left of it.
      const found = known === null ? await this.kept(seen, NONE, keeping, s.workspace.seq) : null;
      return { rung: 'attached', note: '', lost: [], found };
    }
    if (seen !== null) {
      const found = await this.kept(seen, known ?? NONE, keeping, s.workspace.seq);
      return { rung: 'drifted', note: driftNote(s), lost: [], found };
    }
    if (standing === null) return { rung: 'attached', note: '', lost: [], found: null };
    const { lost } = known
      ? await workspaces.restore(session, epoch, known.tree, this.opener(place))
      : { lost: [{ path: '', why: 'the list of the files is lost' }] };
    if (lost.length === 0) {
      const note = `The folder was not there; ${standing.files} files were restored as they were committed.`;
      return { rung: 'restored', note, lost, found: null };
    }
    const rest = (await workspaces.snapshot(session, EMPTY_TREE, keeping.keep)) ?? {
      tree: EMPTY_TREE,
      left: [],
    };
    const note = `The folder was not there, and not all of it could be restored: ${lost.length} lost.`;
    const found = await this.kept(rest, known ?? NONE, keeping, s.workspace.seq);
    return { rung: 'lost', note, lost: lost.slice(0, SHOWN_PATHS), found };
  }

  private async kept(
    { tree, left }: Snapshot,
    known: Known,
    keeping: Keeping,
    base: number,
  ): Promise<KeptTree> {
    const { root, pages } = await write(tree, known.pages, (bytes) => keeping.keep(packed(bytes)));
    this.remember(root, { tree, pages });
    const { blobs, stored } = keeping.end();
    return {
      tree: { root, digest: digestOfTree(tree), ...sizeOfTree(tree) },
      changed: changed(known.tree, tree),
      left: left.slice(0, SHOWN_PATHS),
      blobs,
      stored,
      base,
    };
  }

  private async load(place: Place, { root }: TreeRef): Promise<Known> {
    const known = this.known.get(root) ?? (await read(root, this.opener(place)));
    this.remember(root, known);
    return known;
  }

  private remember(root: BlobRef, known: Known): void {
    this.known.delete(root);
    this.known.set(root, known);
    const [oldest] = this.known.keys();
    if (this.known.size > KNOWN_TREES && oldest) this.known.delete(oldest);
  }
}

/** R1, R2. */
class Keeping {
  private readonly place: Place;
  private readonly ports: FilePorts;
  private blobs: Blob[] = [];
  private waiting = 0;
  private stored = 0;

  constructor(place: Place, ports: FilePorts) {
    this.place = place;
    this.ports = ports;
  }

  readonly keep = async (data: Uint8Array): Promise<BlobRef> => {
    const bytes = this.ports.sealer.seal(data, aboutFiles(this.place.lineage));
    const ref = sha256(bytes) as BlobRef;
    this.blobs.push({ ref, bytes });
    this.waiting += bytes.length;
    this.stored += bytes.length;
    if (this.waiting > AHEAD_BYTES) await this.ahead();
    return ref;
  };

  /** What is left for the commit itself. */
  end(): { readonly blobs: readonly Blob[]; readonly stored: number } {
    return { blobs: this.blobs, stored: this.stored };
  }

  private async ahead(): Promise<void> {
    const { blobs } = this;
    this.blobs = [];
    this.waiting = 0;
    if (blobs.length > 0) await this.ports.store.put(this.place.session, blobs);
  }
}

const isAs = ({ tree }: Snapshot, standing: TreeRef | null): boolean =>
  standing === null ? tree.length === 0 : digestOfTree(tree) === standing.digest;

function changed(before: Tree, after: Tree): FilesChanged {
  const changes = changesBetween(before, after);
  const count = (what: string): number => changes.filter(({ change }) => change === what).length;
  return {
    added: count('added'),
    changed: count('changed'),
    removed: count('removed'),
    paths: changes.slice(0, SHOWN_PATHS),
  };
}

/** What nobody committed is somebody else's, or a call's that came to no end: which of the two, nobody can say. */
function driftNote(s: State): string {
  const under = s.effects.open.filter(isInFiles).map(({ id, tool }) => `${id} (${tool})`);
  return under.length === 0
    ? 'The files differ from the last commit: somebody else has changed them. They are kept as they were found.'
    : `The files differ from the last commit. ${under.join(', ')} was under way, so the differences may be its; they are kept as they were found.`;
}

function lostTree(error: unknown): null {
  if (isBlobLoss(error)) return null;
  throw error;
}
