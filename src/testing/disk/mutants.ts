/**
 * Planted bugs between the store and its disk. The torn-disk loop must find each of them, or it is not trusted. They
 * stand here and never as flags in the product.
 */

import type { Files } from '../../store/files.ts';
import type { Database, Statement } from '../../store/sqlite/driver.ts';
import type { Mount } from './disk.ts';
import type { Change } from './store.ts';

export interface Mutant {
  readonly name: string;
  /** Made anew for each life of a store. */
  readonly change: () => Change;
  /** At least, where it shows only in a longer record. */
  readonly rounds?: number;
}

const DATABASE = 'outlast.db';
const LOG = 'outlast.db-wal';

export const MUTANTS: readonly Mutant[] = [
  { name: 'lying disk: nothing is ever flushed', change: () => ({ mount: unflushed(() => true) }) },
  {
    name: 'synchronous off: the write-ahead log is not flushed',
    change: () => ({ mount: unflushed((mount, file) => mount.find(LOG) === file) }),
  },
  {
    name: 'careless checkpoint: the database file is not flushed before its log begins anew',
    change: () => ({ mount: unflushed((mount, file) => mount.find(DATABASE) === file) }),
  },
  {
    name: 'header not flushed: a log begins anew in one flush with its frames',
    change: () => headerLate(),
    rounds: 5,
  },
  {
    name: 'names not flushed: a journal is written and cannot be found',
    change: () => ({ mount: (mount) => ({ ...mount, syncNames() {} }) }),
  },
  {
    name: 'acknowledged first: the commit of a group follows its answers',
    change: () => ({ database: (db) => deferring(db, () => true).db }),
  },
  {
    name: 'epoch in memory: a lease is given before its epoch is on the disk',
    change: () => ({
      database: (db) => deferring(db, (sql) => /UPDATE sessions SET epoch/.test(sql)).db,
    }),
  },
  {
    name: 'books in memory: a call is reserved or settled before that is on the disk',
    change: () => ({
      database: (db) => deferring(db, (sql) => /INTO budgets/.test(sql)).db,
    }),
  },
  {
    name: 'index in memory: a batch of words is kept before it is on the disk',
    change: () => ({
      database: (db) => deferring(db, (sql) => /FROM words/.test(sql)).db,
    }),
  },
  { name: 'witness first: a line is written before the commit that it vouches for', change: witnessFirst },
  {
    name: 'blobs apart: they are written after the commit that names them',
    change: () => late(/INSERT INTO blobs/),
  },
  {
    name: 'erased apart: blobs go after the tombstone that says so',
    change: () => late(/DELETE FROM blobs WHERE session = \?$/),
    rounds: 5,
  },
];

function unflushed(which: (mount: Mount, file: number) => boolean): (mount: Mount) => Mount {
  return (mount) => ({
    ...mount,
    sync(file) {
      if (!which(mount, file)) mount.sync(file);
    },
    syncNames() {
      if (!which(mount, -1)) mount.syncNames();
    },
  });
}

function headerLate(): Change {
  let isHeader = false;
  return {
    mount: (mount) => ({
      ...mount,
      write(file, at, bytes) {
        isHeader = mount.find(LOG) === file && at === 0;
        mount.write(file, at, bytes);
      },
      sync(file) {
        if (!isHeader) mount.sync(file);
        isHeader = false;
      },
    }),
  };
}

/** Leaves the COMMIT of such transactions open until the next thing is done, or until `settle`. */
function deferring(
  real: Database,
  which: (sql: string) => boolean,
): { readonly db: Database; settle(): void } {
  let isOpen = false;
  let isSuch = false;
  const settle = (): void => {
    if (isOpen) real.exec('COMMIT');
    isOpen = false;
  };
  const db: Database = {
    driver: real.driver,
    exec(sql) {
      if (/BEGIN|PRAGMA/.test(sql)) settle();
      real.exec(sql);
    },
    prepare(sql) {
      return noticing(real.prepare(sql), () => {
        isSuch ||= which(sql);
      });
    },
    transaction(work) {
      settle();
      isSuch = false;
      real.exec('BEGIN IMMEDIATE');
      let result: ReturnType<typeof work>;
      try {
        result = work();
      } catch (error) {
        real.exec('ROLLBACK');
        throw error;
      }
      isOpen = true;
      if (!isSuch) settle();
      return result;
    },
    close() {
      settle();
      real.close();
    },
  };
  return { db, settle };
}

function witnessFirst(): Change {
  let settle = (): void => {};
  return {
    database(real) {
      const deferred = deferring(real, (sql) => /INSERT INTO events/.test(sql));
      settle = deferred.settle;
      return deferred.db;
    },
    files: (files: Files) => ({
      ...files,
      open(path, anew) {
        const file = files.open(path, anew);
        return {
          ...file,
          write(text) {
            const written = file.write(text);
            if (/witness$/.test(path) || /witness.next$/.test(path)) settle();
            return written;
          },
        };
      },
    }),
  };
}

/** Such statements are run after the transaction that they belong to. */
function late(which: RegExp): Change {
  return {
    database(real) {
      let waiting: (() => void)[] = [];
      return {
        ...real,
        prepare(sql) {
          const statement = real.prepare(sql);
          if (!which.test(sql)) return statement;
          return { ...statement, run: (...values) => void waiting.push(() => statement.run(...values)) };
        },
        transaction(work) {
          waiting = [];
          const result = real.transaction(work);
          for (const run of waiting) run();
          return result;
        },
      };
    },
  };
}

function noticing(statement: Statement, notice: () => void): Statement {
  return {
    ...statement,
    run(...values) {
      notice();
      statement.run(...values);
    },
  };
}
