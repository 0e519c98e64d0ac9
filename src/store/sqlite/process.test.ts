/** The embedded store among real processes: killed in the middle, refused at the door, waiting for a stranger. */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { append, sampleId } from '../sample.ts';
import { type SqliteStore, sqliteStore } from './open.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const ROLES = `
  import { writeSync } from 'node:fs';
  const [role, dist, dir] = process.argv.slice(2);
  const { sqliteStore } = await import(dist + '/store/sqlite/open.js');
  const { openDatabase } = await import(dist + '/store/sqlite/driver.js');
  const { append, sampleId, sampleCommit } = await import(dist + '/store/sample.js');
  const say = (line) => writeSync(1, line + '\\n');
  const roles = {
    /** Commits on eight sessions without end, and says which commits were acknowledged. */
    async storm() {
      const store = await sqliteStore({ dir });
      await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(async (n) => {
        await append(store, sampleId(n));
        await store.acquire(sampleId(n), 'storm', 1e9);
        for (let head = 1; ; head++) {
          await store.commit(sampleCommit(sampleId(n), head, { epoch: 1 }));
          say(n + ' ' + (head + 1));
        }
      }));
    },
    /** Holds the directory until it is killed. */
    async hold() {
      await sqliteStore({ dir });
      say('open');
      setInterval(() => {}, 1000);
    },
    /** Another program with a lock on the file. */
    async foreign() {
      const db = await openDatabase(dir + '/outlast.db');
      db.exec('BEGIN EXCLUSIVE');
      say('locked');
      setTimeout(() => { say('lets go'); db.exec('COMMIT'); db.close(); }, 3000);
    },
    /** Wants to write to a file that is ours. */
    async intrude() {
      const db = await openDatabase(dir + '/outlast.db');
      try { db.exec('BEGIN IMMEDIATE'); say('in'); } catch (error) { say(error.code); }
    },
    async open() {
      try { await sqliteStore({ dir, waitMs: 50 }); say('opened'); }
      catch (error) { say(JSON.stringify({ code: error.code, message: error.message, next: error.next })); }
    },
  };
  await roles[role]();
`;

let script: string;
let dir: string;
beforeAll(() => {
  execFileSync(process.execPath, ['scripts/ensure.mjs'], { cwd: root, stdio: 'inherit' });
}, 300_000);
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'outlast-'));
  script = join(dir, 'role.mjs');
  writeFileSync(script, ROLES);
});
afterEach(() => rmSync(dir, { recursive: true }));

function start(role: string, data = join(dir, 'data')) {
  const child = spawn(process.execPath, [script, role, join(root, 'dist'), data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  const waiting = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    for (const look of waiting) look();
  });
  const ended = once(child, 'close');
  return {
    pid: child.pid as number,
    ended,
    lines: () => said.split('\n').slice(0, -1),
    /** Resolves when it has said `count` lines. */
    async says(count: number): Promise<void> {
      await new Promise<void>((resolve) => {
        const look = () => said.split('\n').length > count && resolve();
        waiting.add(look);
        look();
      });
    },
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function run(role: string, data?: string): Promise<string> {
  const process_ = start(role, data);
  await process_.ended;
  return process_.lines().join('\n');
}

function open(data = join(dir, 'data'), waitMs = 1000): Promise<SqliteStore> {
  return sqliteStore({ dir: data, waitMs });
}

const ids = [0, 1, 2].map(sampleId);

describe('kill', () => {
  it('S1 S3 what was acknowledged is there after SIGKILL, without a gap', async () => {
    const storm = start('storm');
    await storm.says(400);
    await storm.kill();
    const acknowledged = new Map<number, number>();
    for (const line of storm.lines()) {
      const [n = 0, seq = 0] = line.split(' ').map(Number);
      acknowledged.set(n, seq);
    }
    expect(acknowledged.size).toBe(8);
    const store = await open();
    expect(await store.health()).toEqual({ structure: null, sessions: [] });
    for (const [n, seq] of acknowledged) {
      const events = await store.read(sampleId(n), 0, 100_000);
      expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
      expect(events.length).toBeGreaterThanOrEqual(seq);
      expect(await store.row(sampleId(n))).toMatchObject({ head: events.length, epoch: 1 });
      expect(await store.acquire(sampleId(n), 'next', 1000)).toEqual({
        status: 'acquired',
        epoch: 2,
        clean: false,
      });
    }
    await store.close();
  });

  it('L1 L3 a second process is told who has the data; after SIGKILL the next is in at once', async () => {
    const holder = start('hold');
    await holder.says(1);
    const refused = JSON.parse(await run('open'));
    expect(refused.code).toBe('store.locked');
    expect(refused.message).toContain(`process ${holder.pid}`);
    expect(refused.next).toContain('OUTLAST_DATA');
    await expect(open(undefined, 0)).rejects.toMatchObject({ code: 'store.locked', action: 'wait' });
    await holder.kill();
    const store = await open(undefined, 0);
    await expect(open()).rejects.toMatchObject({
      message: expect.stringContaining(`process ${process.pid}`),
    });
    await store.close();
    expect(await run('open')).toBe('opened');
  });
});

describe('B008 busy', () => {
  it('B008 opening waits for a lock that another program holds for 3 s, and none of 8 sends that came meanwhile is lost', async () => {
    await (await open()).close();
    const other = start('foreign');
    await other.says(1);
    await expect(open(undefined, 0)).rejects.toMatchObject({
      code: 'store.locked',
      message: expect.stringContaining('another program'),
    });
    const opening = open(undefined, 20_000);
    // They arrive while the lock is held, so none of them can have been stored yet.
    const sends = Array.from({ length: 8 }, async (_, n) => append(await opening, sampleId(n % 3)));
    await other.says(2);
    const answers = await Promise.all(sends);
    expect(answers).toEqual(Array(8).fill({ status: 'committed' }));
    const store = await opening;
    const stored = await Promise.all(ids.map((id) => store.read(id, 0, 100)));
    expect(stored.map(({ length }) => length)).toEqual([3, 3, 2]);
    await store.close();
    await other.ended;
  });

  it('B008 L2 nobody can take the write lock while we are open', async () => {
    const store = await open();
    expect(await run('intrude')).toBe('store.busy');
    expect(await append(store, sampleId(0))).toEqual({ status: 'committed' });
    await store.close();
  });
});
