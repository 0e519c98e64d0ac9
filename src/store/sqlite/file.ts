/**
 * The database file of a data directory: found, locked, brought to this version, and free of broken pages.
 *
 * O1  Nothing is changed before the lock is held, and nothing at all in a file of a newer version.
 * O2  WAL with full sync: a commit is on the disk when it resolves. Asked back, since SQLite may decline in silence.
 * O3  Pages are checked at every opening while that takes no time (`CHECKED_BYTES`), and after anything suspicious;
 *     broken ones are left behind (rebuild.ts). A larger file is checked when somebody asks.
 */

import { OutlastError } from '../../core/error.ts';
import { assert } from '../../lib/assert.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Files, writeFile } from '../files.ts';
import { asText } from './cell.ts';
import { structure } from './damage.ts';
import { type Database, type DriverName, openDatabase } from './driver.ts';
import { lock } from './lock.ts';
import { clear, copyRows, swap } from './rebuild.ts';
import { checkTables, migrate, refuseNewer } from './schema.ts';

export interface Place {
  readonly dir: string;
  readonly path: string;
  readonly files: Files;
  readonly clock: Clock;
  readonly driver: DriverName | ((path: string) => Promise<Database>) | undefined;
  readonly waitMs: number;
}

export interface Found {
  readonly db: Database;
  /** What SQLite found wrong with the file, and what became of it. */
  readonly structure: string | null;
  /** Something was wrong here before: look at every log, too. */
  readonly isSuspect: boolean;
}

/** Some 50 ms from memory, a second from a slow disk. */
const CHECKED_BYTES = 32 * 2 ** 20;

export async function openFile(place: Place): Promise<Found> {
  refuseNewer(place.files, place.path);
  const db = await openLocked(place);
  try {
    const isSuspect = place.files.size(suspectFile(place)) !== null;
    const isChecked = isSuspect || (place.files.size(place.path) ?? 0) <= CHECKED_BYTES;
    const wrong = isChecked ? structure(db) : null;
    if (wrong === null) return { db, structure: null, isSuspect };
    return { ...(await mended(place, db, wrong)), isSuspect: true };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Something in the file was not as it was written: check all of it at the next opening. */
export function suspect(place: Place): void {
  try {
    writeFile(place.files, suspectFile(place), '');
  } catch {
    // Then somebody has to ask for the check.
  }
}

export function trust(place: Place): void {
  place.files.remove(suspectFile(place));
}

async function openLocked(place: Place): Promise<Database> {
  const db = await connect(place, place.path);
  try {
    await lock(db, place);
    migrate(db, place.files, place.path);
    checkTables(db, place.path);
    configure(db, place.path);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function connect({ driver }: Place, path: string): Promise<Database> {
  return typeof driver === 'function' ? driver(path) : openDatabase(path, driver);
}

function configure(db: Database, path: string): void {
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = OFF;
    PRAGMA cell_size_check = ON;
    PRAGMA secure_delete = FAST;
    PRAGMA journal_size_limit = ${16 * 2 ** 20}`);
  const { synchronous } = db.prepare('PRAGMA synchronous').get() ?? {};
  if (journalMode(db) === 'wal' && synchronous === 2) return;
  throw new OutlastError('store.failed', `SQLite keeps no write-ahead log beside ${path}.`, {
    next: 'choose a folder on a local disk with OUTLAST_DATA',
  });
}

function journalMode(db: Database): string {
  return asText(db.prepare('SELECT CAST(journal_mode AS BLOB) AS mode FROM pragma_journal_mode').get()?.mode);
}

/** Goes on in a new file; in the old one where that cannot be made. */
async function mended(place: Place, db: Database, wrong: string): Promise<Omit<Found, 'isSuspect'>> {
  let kept: string;
  try {
    kept = await renew(place, db);
  } catch (error) {
    configure(db, place.path);
    return { db, structure: `${wrong}; no new file could be made: ${String(error)}` };
  }
  db.close();
  const structure = `${wrong}; what could be read is in a new file, the old one is ${kept}`;
  return { db: await openLocked(place), structure };
}

async function renew(place: Place, db: Database): Promise<string> {
  const { files, path } = place;
  const fresh = `${path}.fresh`;
  try {
    clear(files, fresh);
    const empty = await connect(place, fresh);
    migrate(empty, files, fresh);
    empty.close();
    copyRows(db, files.size(path) ?? 0, fresh);
    // A write-ahead log that stayed behind would be taken for the new file's.
    db.exec('PRAGMA journal_mode = DELETE');
    assert(journalMode(db) === 'delete', 'the old file has no write-ahead log');
    return swap(files, path, fresh, place.clock.now());
  } finally {
    clear(files, fresh);
  }
}

function suspectFile({ path }: Place): string {
  return `${path}.suspect`;
}
