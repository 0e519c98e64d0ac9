// Owns: the figures of workspaces: a folder of 2,000 files and 50 MB, kept by the store's own path (pieces, pages, seal,
// SQLite) and by git on the same disk in the same run, step by step in turn.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NO_BUDGETS } from '../../dist/core/budget/budget.js';
import { start } from '../../dist/core/decide.js';
import { append, initialState } from '../../dist/core/evolve.js';
import { DEFAULT_LIMITS } from '../../dist/core/limits.js';
import { encode } from '../../dist/core/upcast.js';
import { openSeal } from '../../dist/lib/seal.js';
import { Workspaces } from '../../dist/loop/workspace/workspaces.js';
import { summarize } from '../../dist/projections/summary.js';
import { sqliteStore } from '../../dist/store/sqlite/open.js';
import { directoryWorkspaces } from '../../dist/workspace/directory.js';

export const names = [
  'filesFirstMs',
  'filesFirstBytes',
  'filesSameMs',
  'filesFiveMs',
  'filesFiveBytes',
  'filesRestoreMs',
  'gitFirstMs',
  'gitFirstBytes',
  'gitSameMs',
  'gitFiveMs',
  'gitFiveBytes',
  'gitRestoreMs',
];

const SESSION = 'ses_00000000000000000001';
const PLACE = { session: SESSION, lineage: SESSION };
const OTHER = 'ses_00000000000000000002';
const WORDS =
  'file the of a state and what stands there is kept once for each folder as it was written by'.split(' ');

export async function measure({ quick }) {
  const dir = mkdtempSync(join(tmpdir(), 'outlast-bench-'));
  const store = await sqliteStore({ dir: join(dir, 'data'), waitMs: 1_000 });
  try {
    return await rounds(dir, store, quick ? { files: 200, bytes: 5e6 } : { files: 2_000, bytes: 50e6 });
  } finally {
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function rounds(dir, store, size) {
  const port = directoryWorkspaces(join(dir, 'workspaces'));
  const workspaces = new Workspaces({
    workspaces: port,
    store,
    sealer: openSeal(new Uint8Array(32).fill(7)),
  });
  const root = await port.folder(SESSION);
  await port.enter(SESSION, 1);
  await port.enter(OTHER, 1);
  generate(root, size);
  await settle();
  const repository = join(dir, 'git');
  git(dir, 'init', '--quiet', '--bare', repository);
  git(repository, 'config', 'core.compression', '1');
  const inGit = (...args) => git(root, '--git-dir', repository, '--work-tree', root, ...args);

  let state = initialState;
  const commit = async (bodies, blobs) => {
    const now = Date.now();
    const { head } = state;
    const made = append(state, bodies, now);
    const summary = summarize(made.state, now);
    const events = made.events.map(encode);
    await store.commit({ session: SESSION, head, epoch: null, events, blobs, summary });
    state = made.state;
    return events.reduce((sum, { body }) => sum + body.length, 0);
  };
  const contract = {
    owner: 'local',
    persist: true,
    message: 'x',
    model: 'none',
    tools: [],
    limits: DEFAULT_LIMITS,
  };
  await commit(start({ ...contract, seed: 1, budget: NO_BUDGETS }), []);

  /** A look, and its commit where anything differs: what a call that may have changed files costs. */
  const keep = async () => {
    const from = performance.now();
    const kept = await workspaces.look(SESSION, state);
    if (kept === null) return { ms: performance.now() - from, bytes: 0 };
    const { tree, changed, stored, blobs } = kept;
    const event = { kind: 'workspace.committed', why: 'call', effect: null, tree, changed, stored };
    const body = await commit([event], blobs);
    return { ms: performance.now() - from, bytes: stored + body };
  };
  const keepInGit = () => {
    const before = sizeOf(repository);
    const from = performance.now();
    inGit('add', '--all');
    inGit('-c', 'user.name=b', '-c', 'user.email=b@b', 'commit', '--quiet', '--allow-empty', '-m', 'x');
    return { ms: performance.now() - from, bytes: sizeOf(repository) - before };
  };

  const first = await keep();
  const gitFirst = keepInGit();
  await settle();
  await keep();
  const same = await median(5, keep);
  const gitSame = await median(5, keepInGit);
  const fives = [];
  const gitFives = [];
  for (let round = 1; round <= 5; round++) {
    touch(root, round);
    await settle();
    fives.push(await keep());
    gitFives.push(keepInGit());
  }
  const from = performance.now();
  const { lost } = await port.restore(
    OTHER,
    1,
    await workspaces.tree(PLACE, state.workspace.tree),
    workspaces.opener(PLACE),
  );
  const restoreMs = performance.now() - from;
  if (lost.length > 0) throw new Error('something is lost');
  execFileSync('diff', ['-r', root, await port.folder(OTHER)]);
  const out = join(dir, 'out');
  mkdirSync(out);
  const fromGit = performance.now();
  inGit('checkout-index', '--all', `--prefix=${out}/`);
  const gitRestoreMs = performance.now() - fromGit;

  const five = middle(fives);
  const gitFive = middle(gitFives);
  return {
    figures: {
      filesFirstMs: rounded(first.ms),
      filesFirstBytes: first.bytes,
      filesSameMs: rounded(same.ms),
      filesFiveMs: rounded(five.ms),
      filesFiveBytes: five.bytes,
      filesRestoreMs: rounded(restoreMs),
      gitFirstMs: rounded(gitFirst.ms),
      gitFirstBytes: gitFirst.bytes,
      gitSameMs: rounded(gitSame.ms),
      gitFiveMs: rounded(gitFive.ms),
      gitFiveBytes: gitFive.bytes,
      gitRestoreMs: rounded(gitRestoreMs),
    },
    details: { ...size, fives, gitFives },
  };
}

/** Nine of ten are small, as in a project; the others make up the bytes, half of them no text. */
function generate(root, { files, bytes }) {
  const random = seeded(7);
  const big = Math.floor(files / 10);
  const small = 4_000;
  const bigBytes = Math.floor((bytes - (files - big) * small) / big);
  for (let i = 0; i < files; i++) {
    const folder = join(root, `part-${i % 40}`, `of-${i % 5}`);
    mkdirSync(folder, { recursive: true });
    const isBig = i < big;
    const content = isBig && i % 2 === 0 ? noise(random, bigBytes) : words(random, isBig ? bigBytes : small);
    writeFileSync(join(folder, `file-${i}.${isBig ? 'bin' : 'txt'}`), content);
  }
}

function touch(root, round) {
  for (let i = 0; i < 5; i++) {
    const n = (i * 397 + round * 31) % 1_000;
    const number = (n % 900) + 100;
    const at = join(root, `part-${number % 40}`, `of-${number % 5}`);
    mkdirSync(at, { recursive: true });
    writeFileSync(join(at, `file-${number}.txt`), words(seeded(round * 10 + i), 4_000));
  }
}

function words(random, length) {
  const parts = [];
  for (let size = 0; size < length; ) {
    const word =
      random() < 0.8 ? WORDS[Math.floor(random() * WORDS.length)] : random().toString(36).slice(2, 9);
    parts.push(word);
    size += word.length + 1;
  }
  return parts.join(' ');
}

function noise(random, length) {
  const data = Buffer.alloc(length);
  for (let i = 0; i + 4 <= length; i += 4) data.writeUInt32LE(Math.floor(random() * 2 ** 32), i);
  return data;
}

/** mulberry32: the same folder each time. */
function seeded(seed) {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function sizeOf(folder) {
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size;
  }
  return bytes;
}

const git = (cwd, ...args) => execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 });

/** What was written just now may change again within the same tick: it is read once more by whoever looks now. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 120));

async function median(times, work) {
  const all = [];
  for (let i = 0; i < times; i++) all.push(await work());
  return middle(all);
}

const middle = (all) => all.toSorted((a, b) => a.ms - b.ms)[Math.floor(all.length / 2)];
const rounded = (ms) => Math.round(ms * 10) / 10;
