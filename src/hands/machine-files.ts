/**
 * The files of the environments of this machine, as a brain elsewhere asks for them. Pieces travel one at a time and by
 * their digests: a look sets aside those that the brain does not have, and a restore is given those that are missing.
 *
 * F1  What was set aside is what its digest is of, whatever became of the file since. What is put is held against its
 *     digest.
 * F2  Set aside is beside the folder, and gone with the next look, the next holder, and what it was put for.
 */

import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OutlastError } from '../core/error.ts';
import type { BlobRef, SessionId } from '../core/ids.ts';
import {
  changesBetween,
  digestOfTree,
  EMPTY_TREE,
  entryAt,
  type FileEntry,
  type Tree,
} from '../core/workspace/tree.ts';
import { sha256 } from '../lib/digest.ts';
import { unpacked } from '../lib/pack.ts';
import { directoryWorkspaces } from '../workspace/directory.ts';
import type { Open, Workspaces } from '../workspace/port.ts';
import { NO_BYTES } from './frame.ts';
import type { At, FileCall, Looked } from './port.ts';
import { changedEntries, DIGEST_BYTES, named } from './trees.ts';

export interface MachineFiles {
  /** For the processes of the session. */
  folder(session: string): Promise<string>;
  /** Nothing of the session is left here. */
  erase(session: string, epoch: number): Promise<void>;
  answer(at: At, asked: FileCall, bytes: Uint8Array): Promise<Answered>;
}

export interface Answered {
  readonly answer: unknown;
  readonly bytes: Uint8Array;
}

/** Trees that were seen last are remembered for as many sessions: a look says only what is other since then. */
const REMEMBERED = 256;

export function machineFiles(dir: string): MachineFiles {
  const workspaces: Workspaces = directoryWorkspaces(join(dir, 'workspaces'));
  const seen = new Map<string, Tree>();

  const aside = (session: string, digest = ''): string => join(dir, 'pieces', session, digest);
  const clear = (session: string): Promise<void> => rm(aside(session), { recursive: true, force: true });

  async function setAside(session: string, digest: string, packed: Uint8Array): Promise<void> {
    await mkdir(aside(session), { recursive: true, mode: 0o700 });
    // Two files with the same piece are read side by side.
    const made = aside(session, `${digest}.${randomBytes(4).toString('hex')}`);
    await writeFile(made, packed, { mode: 0o600 });
    await rename(made, aside(session, digest));
  }

  function remember(session: string, tree: Tree): void {
    seen.delete(session);
    seen.set(session, tree);
    const [oldest] = seen.keys();
    if (seen.size > REMEMBERED && oldest !== undefined) seen.delete(oldest);
  }

  async function look(session: SessionId, base: Tree, known: Tree): Promise<Looked> {
    await clear(session);
    const found = await workspaces.snapshot(session, known, async (packed) => {
      const digest = sha256(unpacked(packed));
      await setAside(session, digest, packed);
      return digest as BlobRef;
    });
    if (found === null) return { status: 'none' };
    remember(session, found.tree);
    return { status: 'seen', ...changedEntries(base, found.tree), left: found.left };
  }

  async function wanted(session: SessionId, tree: Tree): Promise<readonly string[]> {
    const now = await workspaces.snapshot(session, seen.get(session) ?? EMPTY_TREE, NOT_KEPT);
    const changes = changesBetween(now?.tree ?? EMPTY_TREE, tree);
    const digests = changes.flatMap(({ path }) => {
      const entry = entryAt(tree, path);
      return entry?.kind === 'file' ? entry.chunks.map(({ digest }) => digest) : [];
    });
    return [...new Set(digests)];
  }

  async function restore(
    { session, epoch }: At,
    tree: Tree,
    lost: Readonly<Record<string, string>>,
  ): Promise<unknown> {
    const open: Open = async (blob) => {
      const why = lost[blob];
      if (why !== undefined) throw new OutlastError('blob.missing', why);
      return unpacked(await readPiece(aside(session, checked(blob))));
    };
    const restored = await workspaces.restore(session as SessionId, epoch, named(tree), open);
    await clear(session);
    return restored;
  }

  async function respond(at: At, asked: FileCall, bytes: Uint8Array): Promise<unknown> {
    const { epoch } = at;
    const session = at.session as SessionId;
    switch (asked.op) {
      case 'enter':
        await clear(session);
        return workspaces.enter(session, epoch);
      case 'look': {
        const base = baseOf(asked.known, seen.get(session));
        return base ? look(session, base, base) : ({ status: 'ask anew' } satisfies Looked);
      }
      case 'lookAnew':
        return look(session, EMPTY_TREE, [holding(bytes)]);
      case 'want':
        return wanted(session, named(asked.tree));
      case 'put':
        if (sha256(unpacked(bytes)) !== asked.digest)
          throw new OutlastError('request.invalid', 'A piece is not what its digest says.');
        return setAside(session, asked.digest, bytes);
      case 'restore':
        return restore(at, asked.tree, asked.lost);
      case 'find':
        return workspaces.find(session, asked.path);
      case 'list':
        return workspaces.list(session, asked.path);
      case 'write':
        return workspaces.write(session, epoch, asked.path, bytes);
      case 'remember':
        return workspaces.remember(session, epoch, asked.name, asked.value);
      case 'recall':
        return workspaces.recall(session, asked.name);
      default:
        throw new OutlastError('request.invalid', 'There is no such call for files.');
    }
  }

  return {
    async folder(session) {
      const folder = await workspaces.folder(session as SessionId);
      if (folder === null) throw new OutlastError('internal', 'A machine keeps its files in folders.');
      return folder;
    },
    async erase(session, epoch) {
      seen.delete(session);
      await clear(session);
      await workspaces.erase(session as SessionId, epoch);
    },
    async answer(at, asked, bytes) {
      if (asked.op === 'take') {
        return { answer: null, bytes: await readPiece(aside(at.session, checked(asked.digest))) };
      }
      if (asked.op === 'read') {
        const { path, from, length } = asked;
        return { answer: null, bytes: await workspaces.read(at.session as SessionId, path, from, length) };
      }
      return { answer: (await respond(at, asked, bytes)) ?? null, bytes: NO_BYTES };
    },
  };
}

/** The tree that the brain means; null when it is not the one that was seen last. */
function baseOf(known: string, seen: Tree | undefined): Tree | null {
  if (known === digestOfTree(EMPTY_TREE)) return EMPTY_TREE;
  return seen && digestOfTree(seen) === known ? seen : null;
}

/** A file that no tree has, of all pieces that are known. */
function holding(bytes: Uint8Array): FileEntry {
  const chunks = [];
  for (let at = 0; at < bytes.length; at += DIGEST_BYTES) {
    const digest = Buffer.from(bytes.subarray(at, at + DIGEST_BYTES)).toString('hex');
    chunks.push({ digest, blob: digest as BlobRef });
  }
  return { kind: 'file', path: '', mode: 0, size: 0, digest: '', chunks };
}

const NOT_KEPT = async (): Promise<BlobRef> => '' as BlobRef;

/** A digest is the name of a file here: it must be nothing but one. */
function checked(digest: string): string {
  if (/^[0-9a-f]{64}$/.test(digest)) return digest;
  throw new OutlastError('request.invalid', 'That is no digest.');
}

async function readPiece(path: string): Promise<Uint8Array> {
  return readFile(path).catch((cause: unknown) => {
    throw new OutlastError('files.failed', 'A piece is not there any more: look again.', { cause });
  });
}
