/** The real SQLite store on a recorded disk. */

import type { Clock } from '../../lib/clock.ts';
import type { Files } from '../../store/files.ts';
import { handClock } from '../../store/sample.ts';
import type { Database } from '../../store/sqlite/driver.ts';
import { type SqliteStore, sqliteStore } from '../../store/sqlite/open.ts';
import type { Disk, Mount } from './disk.ts';
import { diskFiles } from './files.ts';
import { sqlite } from './vfs.ts';

/** A store, and the process it runs in. */
export interface Life {
  readonly store: SqliteStore;
  /** Ends the process: what it wrote stays, as far as the machine stays. */
  kill(): void;
}

/** What a planted bug changes between the store and its disk (mutants.ts). */
export interface Change {
  readonly mount?: (mount: Mount) => Mount;
  readonly files?: (files: Files) => Files;
  readonly database?: (db: Database) => Database;
}

export interface LifeOptions {
  readonly clock?: Clock;
  readonly change?: Change | undefined;
  /** Pages in the write-ahead log that bring a checkpoint. */
  readonly checkpointAt?: number;
}

export async function startLife(disk: Disk, options: LifeOptions = {}): Promise<Life> {
  const { clock = handClock(), change = {}, checkpointAt = 1000 } = options;
  const process = disk.mount();
  const mount = change.mount?.(process) ?? process;
  const files = diskFiles(mount);
  const engine = await sqlite();
  const databases: Database[] = [];
  const store = await sqliteStore({
    dir: mount.dir,
    clock,
    files: change.files?.(files) ?? files,
    waitMs: 0,
    async driver(path) {
      const plain = engine.open(mount, path);
      const db = change.database?.(plain) ?? plain;
      databases.push(plain);
      db.exec(`PRAGMA wal_autocheckpoint = ${checkpointAt}`);
      return db;
    },
  });
  return {
    store,
    kill() {
      process.kill();
      for (const db of databases) db.close();
    },
  };
}
