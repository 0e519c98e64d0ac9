/** The store's own suite on the recorded disk: what stands on it is real SQLite, and it forgets nothing by itself. */

import { expect, it } from 'vitest';
import { handClock } from '../../store/sample.ts';
import { storeSuite } from '../../store/suite.ts';
import { memoryDisk } from './disk.ts';
import { startLife } from './store.ts';
import { sqlite } from './vfs.ts';

storeSuite({
  name: 'sqlite on a recorded disk',
  async open() {
    const disk = memoryDisk();
    const clock = handClock();
    let life = await startLife(disk, { clock });
    return {
      store: life.store,
      advance: clock.advance,
      async reopen() {
        life.kill();
        life = await startLife(disk, { clock });
        return life.store;
      },
      dispose: () => life.store.close(),
    };
  },
});

it('keeps a write-ahead log with full sync, without shared memory', async () => {
  const mount = memoryDisk().mount();
  const db = (await sqlite()).open(mount, `${mount.dir}/a.db`);
  db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  const mode = db.prepare('SELECT CAST(journal_mode AS BLOB) AS mode FROM pragma_journal_mode').get()?.mode;
  expect(Buffer.from(mode as Uint8Array).toString()).toBe('wal');
  expect(db.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
  db.exec('CREATE TABLE t (n)');
  expect(mount.find('a.db-wal')).not.toBeNull();
  expect(mount.find('a.db-shm')).toBeNull();
  db.close();
  expect(mount.find('a.db-wal')).toBeNull();
});
