/**
 * A database file with broken pages, copied row by row into a sound one.
 *
 * A broken page of an index would keep every session from its log, and writing on into a broken file may break more. So
 * before such a file is used, all rows that can be read go into a new file with new indexes. What did not make it is then
 * missing from a log, which its checksums notice (log.ts R1): damage is told per session, and the others go on.
 *
 * B1  The old file is kept as it was, beside the new one.
 * B2  The new file takes the place of the old one in one rename, after all of it is on the disk, and under the lock on
 *     the old one: whoever opens meanwhile is refused.
 * B3  Rows are copied by SQLite as they are; none passes through our hands. A row whose cells are of the wrong types is
 *     none of the table's: it came there with a page that belongs elsewhere.
 */

import type { Files } from '../files.ts';
import { asNumber } from './cell.ts';
import { isDamage } from './damage.ts';
import type { Database } from './driver.ts';
import { TABLES } from './schema.ts';

/** Copies what can be read of `db`, a file of `size` bytes, into `fresh`, a file with empty tables. */
export function copyRows(db: Database, size: number, fresh: string): void {
  db.prepare('ATTACH ? AS fresh').run(fresh);
  try {
    for (const [table, cells] of Object.entries(TABLES)) {
      const isOurs = Object.entries(cells).map(([column, type]) => `typeof(${column}) = '${type}'`);
      const copy = db.prepare(`
        INSERT OR IGNORE INTO fresh.${table} SELECT * FROM main.${table} NOT INDEXED
        WHERE rowid BETWEEN ? AND ? AND ${isOurs.join(' AND ')}`);
      copyRange((from, to) => copy.run(from, to), 1, lastRow(db, table, size));
    }
  } finally {
    db.exec('DETACH fresh');
  }
}

/** Puts `fresh` in the place of the file at `path`; gives the name under which the old one is kept. */
export function swap(files: Files, path: string, fresh: string, now: number): string {
  const kept = `${path}.damaged-${now}`;
  files.link(path, kept);
  files.rename(fresh, path);
  return kept;
}

export function clear(files: Files, fresh: string): void {
  for (const rest of ['', '-wal', '-shm', '-journal']) files.remove(fresh + rest);
}

/** Halves a range that cannot be read as a whole, down to the rows that cannot be read at all. */
function copyRange(copy: (from: number, to: number) => void, from: number, to: number): void {
  if (from > to || attempt(() => copy(from, to)) !== null || from === to) return;
  const middle = Math.floor((from + to) / 2);
  copyRange(copy, from, middle);
  copyRange(copy, middle + 1, to);
}

/** The highest row number: by the table, else by its index, else more than the file can hold. */
function lastRow(db: Database, table: string, size: number): number {
  const highest = (from: string) =>
    attempt(() => asNumber(db.prepare(`SELECT max(rowid) AS n FROM ${from} WHERE rowid > 0`).get()?.n ?? 0));
  const indexed = table === 'set_aside' ? 'NOT INDEXED' : `INDEXED BY sqlite_autoindex_${table}_1`;
  const most = Math.ceil(size / SMALLEST_ROW);
  return highest(`${table} NOT INDEXED`) ?? highest(`${table} ${indexed}`) ?? most;
}

/** Bytes; less than any row of ours takes. */
const SMALLEST_ROW = 64;

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (isDamage(error)) return null;
    throw error;
  }
}
