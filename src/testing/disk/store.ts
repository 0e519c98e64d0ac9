/** The real SQLite store on a recorded disk. */

import type { Clock } from '../../lib/clock.ts';
import { handClock } from '../../store/sample.ts';
import type { Database } from '../../store/sqlite/driver.ts';
import type { Files } from '../../store/sqlite/files.ts';
import { type SqliteStore, sqliteStore } from '../../store/sqlite/open.ts';
import type { Disk, Mount } from './disk.ts';
import { diskFiles } from './files.ts';
import { type Sqlite, sqlite } from './vfs.ts';

/** A store, and the process it runs in. */
export interface Life {
  readonly store: SqliteStore;
  /** Ends the process: what it wrote stays, as far as the machine stays. */
  kill(): void;
}

/** What stands between the store and its disk; a planted bug changes it (mutants.ts). */
export interface Under {
  readonly mount: Mount;
  readonly files: Files;
  open(path: string): Database;
}
export type Change = (under: Under) => Under;

export interface LifeOptions {
  readonly clock?: Clock;
  readonly change?: Change;
  /** Pages in the write-ahead log that bring a checkpoint. */
  readonly checkpointAt?: number;
}

export async function startLife(disk: Disk, options: LifeOptions = {}): Promise<Life> {
  const { clock = handClock(), change = (under) => under, checkpointAt = 1000 } = options;
  const mount = disk.mount();
  const under = change(underneath(await sqlite(), mount));
  const databases: Database[] = [];
  const store = await sqliteStore({
    dir: mount.dir,
    clock,
    files: under.files,
    waitMs: 0,
    async driver(path) {
      const db = under.open(path);
      databases.push(db);
      db.exec(`PRAGMA wal_autocheckpoint = ${checkpointAt}`);
      return db;
    },
  });
  return {
    store,
    kill() {
      mount.kill();
      for (const db of databases) db.close();
    },
  };
}

function underneath(sqlite: Sqlite, mount: Mount): Under {
  return { mount, files: diskFiles(mount), open: (path) => sqlite.open(mount, path) };
}
