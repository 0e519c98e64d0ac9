/**
 * The suite that proves an adapter of workspaces: `workspaceSuite` in its test file, and the port's statements are its
 * tests. What only a real disk can get wrong is left to the adapter's own tests.
 */

import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutlastError } from '../core/error.ts';
import type { BlobRef, SessionId } from '../core/ids.ts';
import {
  CHUNK_BYTES,
  changesBetween,
  digestOfTree,
  EMPTY_TREE,
  entryAt,
  type Tree,
} from '../core/workspace/tree.ts';
import { sha256 } from '../lib/digest.ts';
import { unpacked } from '../lib/pack.ts';
import type { Keep, Open, Workspaces } from './port.ts';

/** What somebody does at the machine, past the port. */
export interface Hands {
  put(session: SessionId, path: string, text: string, mode?: number): void | Promise<void>;
  link(session: SessionId, path: string, target: string): void | Promise<void>;
  folder(session: SessionId, path: string): void | Promise<void>;
  remove(session: SessionId, path: string): void | Promise<void>;
  lose(session: SessionId): void | Promise<void>;
  text(session: SessionId, path: string): string | null | Promise<string | null>;
}

/** Hands on a disk, where an adapter keeps the files of a session in this folder. */
export function handsIn(filesOf: (session: SessionId) => string): Hands {
  const real = (session: SessionId, path: string): string => {
    const at = join(filesOf(session), path);
    mkdirSync(dirname(at), { recursive: true });
    return at;
  };
  return {
    put(session, path, text, mode) {
      const at = real(session, path);
      writeFileSync(at, text);
      if (mode !== undefined) chmodSync(at, mode);
    },
    link: (session, path, target) => symlinkSync(target, real(session, path)),
    folder: (session, path) => void mkdirSync(real(session, path), { recursive: true }),
    remove: (session, path) => rmSync(real(session, path), { recursive: true }),
    lose: (session) => rmSync(dirname(filesOf(session)), { recursive: true, force: true }),
    text(session, path) {
      const at = join(filesOf(session), path);
      return existsSync(at) ? readFileSync(at, 'utf8') : null;
    },
  };
}

export interface OpenWorkspaces {
  readonly workspaces: Workspaces;
  readonly hands: Hands;
  /** The same folders, by an adapter that has nothing in memory. */
  again(): Workspaces;
  /** A place of the machine that `take` and `give` know by this name, not there yet. */
  place(name: string): string;
  dispose(): void | Promise<void>;
}

export interface WorkspaceSubject {
  readonly name: string;
  open(): Promise<OpenWorkspaces>;
}

const one = 'ses_00000000000000000001' as SessionId;
const other = 'ses_00000000000000000002' as SessionId;

/** A store of pieces that counts. */
function shelf() {
  const kept = new Map<BlobRef, Uint8Array>();
  let puts = 0;
  const keep: Keep = async (data) => {
    puts++;
    const ref = `blob-${sha256(data)}` as BlobRef;
    kept.set(ref, data);
    return ref;
  };
  const open: Open = async (ref) => {
    const data = kept.get(ref);
    if (!data) throw new OutlastError('blob.missing', `there is no ${ref}`);
    return unpacked(data);
  };
  return { kept, keep, open, puts: () => puts };
}

export function workspaceSuite({ name, open }: WorkspaceSubject): void {
  describe(`workspaces: ${name}`, () => {
    let at: OpenWorkspaces;
    let blobs: ReturnType<typeof shelf>;

    beforeEach(async () => {
      at = await open();
      blobs = shelf();
      await at.workspaces.enter(one, 1);
    });
    afterEach(() => at.dispose());

    async function snapshot(known: Tree = EMPTY_TREE, session = one): Promise<Tree> {
      const seen = await at.workspaces.snapshot(session, known, blobs.keep);
      expect(seen).not.toBeNull();
      return seen?.tree ?? EMPTY_TREE;
    }

    const write = (path: string, text: string, epoch = 1): Promise<void> =>
      at.workspaces.write(one, epoch, path, new TextEncoder().encode(text));

    const text = async (path: string): Promise<string> =>
      new TextDecoder().decode(await at.workspaces.read(one, path, 0, 1_000_000));

    const code = async (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => 'nothing was thrown',
        (error: unknown) => (error instanceof OutlastError ? error.code : error),
      );

    async function everything(): Promise<void> {
      await write('readme.md', '# hello\n');
      await write('src/deep/er/a.ts', 'export const a = 1;\n');
      await write('empty.txt', '');
      await at.hands.put(one, 'bin/run', '#!/bin/sh\n', 0o755);
      await at.hands.put(one, 'secret', 'x', 0o600);
      await at.hands.folder(one, 'nothing/in/here');
      await at.hands.link(one, 'link', 'src/deep');
      await at.hands.link(one, 'dangling', 'no/where');
      await at.hands.link(one, 'away', '/etc');
      await at.workspaces.write(one, 1, 'big.bin', big());
    }

    /** More than two pieces, and no text. */
    const big = (): Uint8Array =>
      Uint8Array.from({ length: 2 * CHUNK_BYTES + 17 }, (_, i) => (i * 31 + (i >> 20)) & 255);

    it('a session has no folder until something is put there', async () => {
      expect(await at.workspaces.snapshot(one, EMPTY_TREE, blobs.keep)).toBeNull();
      expect(await at.workspaces.list(one, '')).toEqual([]);
      expect(await at.workspaces.find(one, 'a')).toEqual({ kind: 'none', path: 'a' });
      await write('a', 'x');
      expect((await snapshot()).map(({ path }) => path)).toEqual(['a']);
    });

    it('V2 names every entry in order, with folders, modes, sizes and digests', async () => {
      await everything();
      const tree = await snapshot();
      expect(tree.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
        'link away',
        'file big.bin',
        'folder bin',
        'file bin/run',
        'link dangling',
        'file empty.txt',
        'link link',
        'folder nothing',
        'folder nothing/in',
        'folder nothing/in/here',
        'file readme.md',
        'file secret',
        'folder src',
        'folder src/deep',
        'folder src/deep/er',
        'file src/deep/er/a.ts',
      ]);
      expect(entryAt(tree, 'bin/run')).toMatchObject({ mode: 0o755, size: 10 });
      expect(entryAt(tree, 'secret')).toMatchObject({ mode: 0o600, digest: sha256('x') });
      expect(entryAt(tree, 'away')).toEqual({ kind: 'link', path: 'away', target: '/etc' });
      expect(entryAt(tree, 'empty.txt')).toMatchObject({ size: 0, chunks: [] });
      const file = entryAt(tree, 'big.bin');
      expect(file).toMatchObject({ size: big().length, digest: sha256(big()) });
      expect(file?.kind === 'file' && file.chunks).toHaveLength(3);
    });

    it('V2 keeps a piece once, and nothing of what is known', async () => {
      await everything();
      await write('copy.md', '# hello\n');
      const tree = await snapshot();
      expect(blobs.puts()).toBe(7);
      expect(digestOfTree(await snapshot(tree))).toBe(digestOfTree(tree));
      expect(blobs.puts()).toBe(7);
      const more = new Uint8Array(big().length + 5);
      more.set(big());
      await at.workspaces.write(one, 1, 'big.bin', more);
      await write('readme.md', 'changed');
      const after = await snapshot(tree);
      // The last piece of the big file, and the small one.
      expect(blobs.puts()).toBe(9);
      expect(changesBetween(tree, after)).toEqual([
        { path: 'big.bin', change: 'changed' },
        { path: 'readme.md', change: 'changed' },
      ]);
    });

    it('V2 an adapter that has nothing in memory sees the same', async () => {
      await everything();
      const tree = await snapshot();
      const seen = await at.again().snapshot(one, tree, blobs.keep);
      expect(seen?.tree).toEqual(tree);
      expect(blobs.puts()).toBe(7);
    });

    it('V3 restores byte for byte where there was nothing, in another session too', async () => {
      await everything();
      const tree = await snapshot();
      await at.hands.lose(one);
      expect(await at.workspaces.restore(one, 1, tree, blobs.open)).toEqual({ lost: [] });
      expect(await snapshot(tree)).toEqual(tree);
      expect(await at.workspaces.restore(other, 1, tree, blobs.open)).toEqual({ lost: [] });
      expect(await snapshot(tree, other)).toEqual(tree);
      await write('readme.md', 'mine');
      expect(await at.hands.text(other, 'readme.md')).toBe('# hello\n');
    });

    it('V3 restores over what stands there: what is more goes, what is other becomes as it was', async () => {
      await everything();
      const tree = await snapshot();
      await write('more/of/it.txt', 'x');
      await at.hands.remove(one, 'src');
      await at.hands.put(one, 'bin/run', 'changed', 0o644);
      await at.hands.remove(one, 'link');
      await write('link/is/a/folder', 'y');
      await at.hands.remove(one, 'readme.md');
      await at.hands.link(one, 'readme.md', 'secret');
      await at.hands.remove(one, 'nothing');
      await at.hands.put(one, 'nothing', 'a file');
      expect(await at.workspaces.restore(one, 1, tree, blobs.open)).toEqual({ lost: [] });
      expect(await snapshot(tree)).toEqual(tree);
      expect(await at.hands.text(one, 'secret')).toBe('x');
    });

    it('V3 names the files whose bytes are lost, and brings back the others', async () => {
      await everything();
      const tree = await snapshot();
      const entry = entryAt(tree, 'readme.md');
      if (entry?.kind === 'file') for (const { blob } of entry.chunks) blobs.kept.delete(blob);
      await at.hands.lose(one);
      const { lost } = await at.workspaces.restore(one, 1, tree, blobs.open);
      expect(lost.map(({ path }) => path)).toEqual(['readme.md']);
      const after = await snapshot(tree);
      expect(changesBetween(tree, after)).toEqual([{ path: 'readme.md', change: 'removed' }]);
    });

    it('V3 a store that fails for the moment is no loss: nothing is called lost', async () => {
      await write('a', 'x');
      const tree = await snapshot();
      await at.hands.lose(one);
      const fails: Open = async () => {
        throw new OutlastError('store.busy', 'busy');
      };
      expect(await code(at.workspaces.restore(one, 1, tree, fails))).toBe('store.busy');
      // B1: whole or not at all.
      expect(await at.workspaces.snapshot(one, EMPTY_TREE, blobs.keep)).toBeNull();
    });

    it('V4 a file that is written keeps its mode, and the folders above it are made', async () => {
      await at.hands.put(one, 'run', 'a', 0o755);
      await write('run', 'b');
      await write('x/y/z', 'c');
      const tree = await snapshot();
      expect(entryAt(tree, 'run')).toMatchObject({ mode: 0o755, digest: sha256('b') });
      expect(entryAt(tree, 'x/y/z')).toMatchObject({ mode: 0o644 });
      expect(tree).toHaveLength(4);
    });

    it('V1 B078 no path leads out: not up, not from the root, not through a link', async () => {
      await write('a', 'x');
      await at.hands.link(one, 'out', '/etc');
      await at.hands.link(one, 'up', '../../..');
      await at.hands.link(one, 'loop', 'loop');
      for (const path of [
        '../a',
        'x/../../a',
        '/etc/passwd',
        'C:\\x',
        'a\0b',
        'out/passwd',
        'up/x',
        'out',
        'loop/x',
      ]) {
        expect(await code(at.workspaces.find(one, path)), path).toBe('path.outside');
        expect(await code(at.workspaces.read(one, path, 0, 10)), path).toBe('path.outside');
        expect(await code(write(path, 'y')), path).toBe('path.outside');
      }
      expect(await code(at.workspaces.list(one, 'out'))).toBe('path.outside');
      expect((await snapshot()).map(({ path }) => path)).toEqual(['a', 'loop', 'out', 'up']);
    });

    it('V1 a link that stays inside is followed, for reading and for writing', async () => {
      await write('real/file', 'x');
      await at.hands.link(one, 'short', 'real');
      await at.hands.link(one, 'deep/back', '../real/file');
      expect(await text('short/file')).toBe('x');
      await write('deep/back', 'y');
      expect(await text('real/file')).toBe('y');
      expect(await at.workspaces.find(one, 'deep/back')).toMatchObject({
        path: 'real/file',
        digest: sha256('y'),
      });
      expect(entryAt(await snapshot(), 'deep/back')).toMatchObject({ kind: 'link' });
    });

    it('finds, reads in part and lists', async () => {
      await everything();
      expect(await at.workspaces.find(one, './src//deep')).toEqual({ kind: 'folder', path: 'src/deep' });
      expect(await at.workspaces.find(one, '')).toEqual({ kind: 'folder', path: '' });
      expect(await at.workspaces.find(one, 'readme.md/x')).toMatchObject({ kind: 'none' });
      expect(await at.workspaces.find(one, 'readme.md')).toEqual({
        kind: 'file',
        path: 'readme.md',
        size: 8,
        digest: sha256('# hello\n'),
      });
      expect(await at.workspaces.read(one, 'big.bin', CHUNK_BYTES - 2, 5)).toEqual(
        big().slice(CHUNK_BYTES - 2, CHUNK_BYTES + 3),
      );
      expect(await at.workspaces.read(one, 'readme.md', 6, 100)).toHaveLength(2);
      expect(await at.workspaces.list(one, 'src/deep')).toEqual([
        { path: 'src/deep/er', kind: 'folder', size: 0 },
      ]);
      expect(await at.workspaces.list(one, 'bin')).toEqual([{ path: 'bin/run', kind: 'file', size: 10 }]);
      expect(await code(at.workspaces.read(one, 'no', 0, 1))).toBe('files.none');
      expect(await code(at.workspaces.read(one, 'src', 0, 1))).toBe('files.none');
      expect(await code(write('src', 'x'))).toBe('files.none');
      expect(await code(at.workspaces.list(one, 'no'))).toBe('files.none');
    });

    it('V2 leaves out what .outlastignore says, in any folder, and a restore leaves it alone', async () => {
      await write('.outlastignore', 'node_modules/\n*.log\n!keep.log\n');
      await write('a.log', 'x');
      await write('keep.log', 'x');
      await write('node_modules/lib/index.js', 'x');
      await write('src/.outlastignore', '/build\n');
      await write('src/build/out.js', 'x');
      await write('src/deep/build/in.js', 'x');
      const tree = await snapshot();
      const paths = tree.filter(({ kind }) => kind === 'file').map(({ path }) => path);
      expect(paths).toEqual(['.outlastignore', 'keep.log', 'src/.outlastignore', 'src/deep/build/in.js']);
      await write('keep.log', 'y');
      await at.workspaces.restore(one, 1, tree, blobs.open);
      expect(await at.hands.text(one, 'node_modules/lib/index.js')).toBe('x');
      expect(await at.hands.text(one, 'keep.log')).toBe('x');
    });

    it('V5 remembers beside the files', async () => {
      expect(await at.workspaces.recall(one, 'notes')).toBeNull();
      await at.workspaces.remember(one, 1, 'notes', { a: [1, 'x'] });
      await write('a', 'x');
      expect(await at.again().recall(one, 'notes')).toEqual({ a: [1, 'x'] });
      expect(await snapshot()).toHaveLength(1);
      expect(await at.workspaces.recall(other, 'notes')).toBeNull();
    });

    it('V6 who has been replaced changes nothing', async () => {
      await write('a', 'x');
      const tree = await snapshot();
      await at.workspaces.enter(one, 3);
      expect(await code(write('a', 'y', 2))).toBe('lease.lost');
      expect(await code(at.workspaces.restore(one, 2, EMPTY_TREE, blobs.open))).toBe('lease.lost');
      expect(await code(at.workspaces.remember(one, 2, 'notes', 1))).toBe('lease.lost');
      expect(await text('a')).toBe('x');
      await write('a', 'z', 3);
      expect(await text('a')).toBe('z');
      expect(await snapshot(tree)).not.toEqual(tree);
    });

    it('V7 erased, nothing of it is left, and of another everything; who comes late brings nothing back', async () => {
      await everything();
      await at.workspaces.remember(one, 1, 'notes', { a: 1 });
      await at.workspaces.enter(other, 1);
      await at.workspaces.write(other, 1, 'kept', new TextEncoder().encode('kept'));
      await at.workspaces.enter(one, 3);
      expect(await code(at.workspaces.erase(one, 2))).toBe('lease.lost');
      expect(await at.workspaces.recall(one, 'notes')).toEqual({ a: 1 });
      for (const _ of ['once', 'again']) {
        await at.workspaces.erase(one, 3);
        expect(await at.workspaces.snapshot(one, EMPTY_TREE, blobs.keep)).toBeNull();
        expect(await at.workspaces.recall(one, 'notes')).toBeNull();
      }
      expect(await at.again().snapshot(one, EMPTY_TREE, blobs.keep)).toBeNull();
      expect(await at.workspaces.find(other, 'kept')).toMatchObject({ kind: 'file' });
    });

    it('takes a folder of the machine, and gives one', async () => {
      await everything();
      const tree = await snapshot();
      const given = await at.workspaces.give(at.place('there'), tree, blobs.open);
      expect(given.lost).toEqual([]);
      const taken = await at.workspaces.take(given.at, blobs.keep);
      expect(taken.tree).toEqual(tree);
      expect(await code(at.workspaces.take(at.place('nowhere'), blobs.keep))).toBe('files.none');
    });
  });
}
