import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BlobRef, SessionId } from '../core/ids.ts';
import { EMPTY_TREE, entryAt, type Tree } from '../core/workspace/tree.ts';
import { sha256 } from '../lib/digest.ts';
import { unpacked } from '../lib/pack.ts';
import { directoryWorkspaces } from './directory.ts';
import type { Workspaces } from './port.ts';
import { handsIn, workspaceSuite } from './suite.ts';

const filesOf = (dir: string, session: string): string => join(dir, 'workspaces', session, 'files');

const newDir = (): string => mkdtempSync(join(tmpdir(), 'outlast-files-'));

workspaceSuite({
  name: 'directory',
  async open() {
    const dir = newDir();
    return {
      workspaces: directoryWorkspaces(join(dir, 'workspaces')),
      hands: handsIn((session) => filesOf(dir, session)),
      again: () => directoryWorkspaces(join(dir, 'workspaces')),
      place: (name) => join(dir, name),
      dispose: () => rmSync(dir, { recursive: true, force: true }),
    };
  },
});

describe('folders on a disk', () => {
  const one = 'ses_00000000000000000001' as SessionId;
  let dir: string;
  let files: string;
  let workspaces: Workspaces;
  let kept: Map<BlobRef, Uint8Array>;

  beforeEach(async () => {
    dir = newDir();
    files = filesOf(dir, one);
    mkdirSync(files, { recursive: true });
    workspaces = directoryWorkspaces(join(dir, 'workspaces'));
    kept = new Map();
    await workspaces.enter(one, 1);
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const keep = async (data: Uint8Array): Promise<BlobRef> => {
    const ref = sha256(data) as BlobRef;
    kept.set(ref, data);
    return ref;
  };
  const open = async (ref: BlobRef): Promise<Uint8Array> => unpacked(kept.get(ref) as Uint8Array);
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', files, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      encoding: 'utf8',
    });

  async function look(known: Tree = EMPTY_TREE) {
    const seen = await workspaces.snapshot(one, known, keep);
    if (!seen) throw new Error('there is no folder');
    return seen;
  }

  it('V2 names what cannot be kept, and keeps the rest', async () => {
    writeFileSync(join(files, 'a'), 'x');
    execFileSync('mkfifo', [join(files, 'pipe')]);
    const socket = createServer().listen(join(files, 'socket'));
    await new Promise((resolve) => socket.once('listening', resolve));
    writeFileSync(Buffer.concat([Buffer.from(`${files}/`), Buffer.from([0x66, 0xff])]), 'no text');
    const { tree, left } = await look();
    expect(tree.map(({ path }) => path)).toEqual(['a']);
    expect(left).toEqual([
      { path: 'fÿ', why: 'its name is no text' },
      { path: 'pipe', why: 'a pipe cannot be kept' },
      { path: 'socket', why: 'a socket cannot be kept' },
    ]);
    expect(await workspaces.find(one, 'pipe')).toEqual({ kind: 'other', path: 'pipe' });
    socket.close();
  });

  it('V3 a git repository inside goes on as one', async () => {
    git('init', '-q', '-b', 'main');
    writeFileSync(join(files, 'a.txt'), 'one\n');
    mkdirSync(join(files, 'empty'));
    git('add', '.');
    git('commit', '-q', '-m', 'first');
    writeFileSync(join(files, 'a.txt'), 'two\n');
    git('commit', '-q', '-a', '-m', 'second');
    writeFileSync(join(files, 'b.txt'), 'not added\n');
    const { tree } = await look();
    rmSync(join(dir, 'workspaces', one), { recursive: true });
    await workspaces.restore(one, 1, tree, open);
    expect(git('status', '--porcelain')).toBe('?? b.txt\n');
    expect(git('log', '--format=%s')).toBe('second\nfirst\n');
    git('fsck', '--strict');
    git('checkout', '-q', '-b', 'branch');
    git('add', '.');
    git('commit', '-q', '-m', 'third');
    expect((await look(tree)).tree).not.toEqual(tree);
  });

  it('V3 modes of folders come back, also of one that may not be written', async () => {
    mkdirSync(join(files, 'shut/in'), { recursive: true });
    writeFileSync(join(files, 'shut/in/a'), 'x', { mode: 0o444 });
    chmodSync(join(files, 'shut/in'), 0o555);
    chmodSync(join(files, 'shut'), 0o500);
    const { tree } = await look();
    const again = 'ses_00000000000000000009' as SessionId;
    await workspaces.restore(again, 1, tree, open);
    const at = filesOf(dir, again);
    expect(lstatSync(join(at, 'shut')).mode & 0o7777).toBe(0o500);
    expect(lstatSync(join(at, 'shut/in')).mode & 0o7777).toBe(0o555);
    expect(lstatSync(join(at, 'shut/in/a')).mode & 0o7777).toBe(0o444);
    for (const path of [join(files, 'shut'), join(files, 'shut/in'), join(at, 'shut'), join(at, 'shut/in')])
      chmodSync(path, 0o755);
  });

  it('a change within the same tick, of the same size and with the old times, is seen', async () => {
    const at = join(files, 'a');
    writeFileSync(at, 'one');
    const { tree } = await look();
    const { atime, mtime } = lstatSync(at);
    writeFileSync(at, 'two');
    utimesSync(at, atime, mtime);
    expect(entryAt((await look(tree)).tree, 'a')).toMatchObject({ digest: sha256('two') });
  });

  it('D1 nothing of ours stands among the files, and a half-written file is none of them', async () => {
    await workspaces.write(one, 1, 'a', new Uint8Array([1]));
    await workspaces.remember(one, 1, 'notes', 1);
    await look();
    expect(readdirSync(files)).toEqual(['a']);
    expect(readdirSync(join(dir, 'workspaces', one)).sort()).toEqual([
      'aside',
      'cache.json',
      'fence.json',
      'files',
      'notes.json',
    ]);
    expect(readdirSync(join(dir, 'workspaces', one, 'aside'))).toEqual([]);
    writeFileSync(join(dir, 'workspaces', one, 'aside', 'left'), 'by a crash');
    await workspaces.enter(one, 2);
    expect(existsSync(join(dir, 'workspaces', one, 'aside'))).toBe(false);
  });

  it('V1 B078 a folder that is exchanged for a link while it is read leads nowhere', async () => {
    const outside = join(dir, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'a'), 'secret');
    mkdirSync(join(files, 'in'));
    writeFileSync(join(files, 'in/a'), 'mine');
    let isStopped = false;
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const swapping = (async () => {
      while (!isStopped) {
        renameSync(join(files, 'in'), join(files, 'was'));
        symlinkSync(outside, join(files, 'in'));
        await turn();
        rmSync(join(files, 'in'));
        renameSync(join(files, 'was'), join(files, 'in'));
        await turn();
      }
    })();
    let reads = 0;
    for (let i = 0; i < 100; i++) {
      const bytes = await workspaces.read(one, 'in/a', 0, 100).catch(() => null);
      if (bytes) reads++;
      if (bytes) expect.soft(new TextDecoder().decode(bytes)).toBe('mine');
      for (const entry of (await look()).tree)
        if (entry.kind === 'file') expect.soft(entry.digest).not.toBe(sha256('secret'));
    }
    isStopped = true;
    await swapping;
    expect(reads).toBeGreaterThan(0);
  });

  it('takes from a git remote with its history, and gives on a branch of its own', async () => {
    git('init', '-q', '-b', 'main');
    writeFileSync(join(files, 'a.txt'), 'one\n');
    git('add', '.');
    git('commit', '-q', '-m', 'first');
    const bare = join(dir, 'remote.git');
    execFileSync('git', ['clone', '-q', '--bare', files, bare]);
    const { tree } = await workspaces.take(`file://${bare}`, keep);
    expect(entryAt(tree, 'a.txt')).toMatchObject({ digest: sha256('one\n') });
    expect(entryAt(tree, '.git/HEAD')).toBeDefined();
    await workspaces.restore(one, 1, tree, open);
    writeFileSync(join(files, 'b.txt'), 'two\n');
    const now = (await look(tree)).tree;
    const { at } = await workspaces.give(`file://${bare}`, now, open);
    expect(at).toBe(`file://${bare} outlast-1`);
    const show = (what: string) => execFileSync('git', ['-C', bare, 'show', what], { encoding: 'utf8' });
    expect(show('outlast-1:b.txt')).toBe('two\n');
    expect(show('outlast-1:a.txt')).toBe('one\n');
    expect(() => show('main:b.txt')).toThrow();
    expect((await workspaces.give(`file://${bare}`, now, open)).at).toMatch(/outlast-2$/);
    await expect(workspaces.take(`file://${dir}/none.git`, keep)).rejects.toThrow('git could not do it');
  });

  it('gives into no folder that has anything in it', async () => {
    writeFileSync(join(files, 'a'), 'x');
    const { tree } = await look();
    const there = join(dir, 'there');
    mkdirSync(there);
    writeFileSync(join(there, 'a'), 'somebody else');
    await expect(workspaces.give(there, tree, open)).rejects.toThrow('not empty');
    expect(readFileSync(join(there, 'a'), 'utf8')).toBe('somebody else');
  });

  it('a folder for processes is real, and goes with a passing adapter', async () => {
    expect(await workspaces.folder(one)).toBe(files);
    const passing = newDir();
    const own = directoryWorkspaces(passing, { isPassing: true });
    await own.folder(one);
    await own.close();
    expect(existsSync(passing)).toBe(false);
  });
});
