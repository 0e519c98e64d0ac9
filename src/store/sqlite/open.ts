/**
 * Opening the embedded store: one folder, one file, one process. The order below is what makes it safe.
 *
 * O1  Nothing is changed before the lock is held, and nothing at all in a file of a newer version.
 * O2  WAL with full sync: a commit is on the disk when it resolves. Asked back, since SQLite may decline in silence.
 * O3  What was acknowledged and is gone is found before the first call is served (witness.ts).
 */

import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { OutlastError } from '../../core/error.ts';
import type { SessionId } from '../../core/ids.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { Store, Summary } from '../port.ts';
import { type Database, type DriverName, openDatabase } from './driver.ts';
import { claim, forgetOwner, lock, writeOwner } from './lock.ts';
import { type Log, openLog } from './log.ts';
import { cut, remaining } from './salvage.ts';
import { migrate, refuseNewer } from './schema.ts';
import { type Head, operations } from './store.ts';
import { type Damage, inspect, missing, sessionsIn, structure } from './verify.ts';
import { type Mark, openWitness, type Witness } from './witness.ts';

export interface SqliteOptions {
  /** The data directory; made when it is not there. */
  readonly dir: string;
  readonly clock?: Clock;
  /** A driver by name, or an opener of one's own; by default the best that is there. */
  readonly driver?: DriverName | ((path: string) => Promise<Database>);
  /** How long to wait for a directory that another process is just leaving. */
  readonly waitMs?: number;
}

export interface Health {
  /** What SQLite finds wrong with the file as a whole. */
  readonly structure: string | null;
  readonly sessions: readonly Damage[];
}

export interface SqliteStore extends Store {
  readonly driver: string;
  /** What is known to be wrong so far: found at opening, or by a read. */
  findings(): Health;
  /** Reads the whole log of one session; null when it is as it was committed. */
  inspectDamage(session: SessionId): Promise<Damage | null>;
  /** Reads everything. */
  health(): Promise<Health>;
  /**
   * Goes on without what cannot be read: mends what can be mended, else ends the log after its readable part, whose
   * fold is `summary` (null when no event is left). Gives the damage that was accepted; null when nothing was given up.
   */
  salvage(session: SessionId, summary: Summary | null): Promise<Damage | null>;
}

/** A file up to this size is checked by SQLite at every opening: about 50 ms. A larger one when `health` is asked. */
const CHECKED_BYTES = 32 * 2 ** 20;
/** Of witness lines; about 4,000 commits. Then a checkpoint lets it start anew. */
const WITNESS_BYTES = 256 * 2 ** 10;

/**
 * Opens the store in a data directory.
 *
 * @example
 * ```ts
 * const store = await sqliteStore({ dir: '.outlast' });
 * ```
 */
export async function sqliteStore(options: SqliteOptions): Promise<SqliteStore> {
  const { clock = systemClock, driver, waitMs = 1000 } = options;
  mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  const dir = realpathSync(options.dir);
  const path = join(dir, 'outlast.db');
  const unclaim = claim(dir);
  try {
    refuseNewer(path);
    const db = await (typeof driver === 'function' ? driver(path) : openDatabase(path, driver));
    try {
      await lock(db, dir, clock, waitMs);
      configure(db, path);
      const store = assemble(db, dir, path, clock, unclaim);
      writeOwner(dir, clock.now());
      return store;
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    unclaim();
    throw error;
  }
}

function configure(db: Database, path: string): void {
  migrate(db, path);
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = OFF;
    PRAGMA cell_size_check = ON;
    PRAGMA journal_size_limit = ${16 * 2 ** 20}`);
  // Numbers alone tell: a file that is not in WAL mode has a log of -1 pages.
  const { log } = db.prepare('PRAGMA wal_checkpoint').get() ?? {};
  const { synchronous } = db.prepare('PRAGMA synchronous').get() ?? {};
  if (log !== -1 && synchronous === 2) return;
  throw new OutlastError('store.failed', `SQLite keeps no write-ahead log beside ${path}.`, {
    next: 'choose a folder on a local disk with OUTLAST_DATA',
  });
}

function assemble(db: Database, dir: string, path: string, clock: Clock, unclaim: () => void): SqliteStore {
  const log = openLog(db);
  const witness = openWitness(`${path}.witness`);
  const found = healthAtOpening(db, log, path, witness);
  const damaged = new Map(found.sessions.map((damage) => [damage.session, damage]));
  const heads = new Map<SessionId, Head>();
  const { flush, ...port } = operations({ db, log, clock, damaged, heads, durable });
  let isOpen = true;
  settle();

  return {
    ...port,
    driver: db.driver,
    findings: () => ({ structure: found.structure, sessions: [...damaged.values()] }),
    inspectDamage: async (session) => look(session),

    async health() {
      const sessions: Damage[] = [];
      for (const session of new Set([...sessionsIn(db), ...damaged.keys()])) {
        const damage = look(session);
        if (damage) sessions.push(damage);
        await breath();
      }
      return { structure: structure(db), sessions };
    },

    async salvage(session, summary) {
      const before = look(session);
      const rest = before && remaining(db, log, before, witness.mark(session));
      if (rest) cut(db, log, rest, summary, clock.now());
      heads.delete(session);
      witness.forget(session);
      damaged.delete(session);
      settle();
      return rest;
    },

    async close() {
      if (!isOpen) return;
      isOpen = false;
      flush();
      settle();
      witness.close();
      db.close();
      forgetOwner(dir);
      unclaim();
    },
  };

  function durable(marks: readonly Mark[]): void {
    witness.note(marks);
    if (witness.size > WITNESS_BYTES) settle();
  }

  /** Puts all commits into the database file itself; what is there needs no witness any more. */
  function settle(): void {
    try {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      witness.reset([...damaged.keys()]);
    } catch {
      // A full disk, as a rule. The log and its witness stay as they are, and stay right.
    }
  }

  function look(session: SessionId): Damage | null {
    flush();
    const damage = inspect(log, session, witness.mark(session));
    if (damage) damaged.set(session, damage);
    return damage;
  }
}

function healthAtOpening(db: Database, log: Log, path: string, witness: Witness): Health {
  const gone = missing(log, witness.marks());
  const wrong = statSync(path).size > CHECKED_BYTES ? null : structure(db);
  if (wrong === null) return { structure: null, sessions: gone };
  const all = new Set([...sessionsIn(db), ...gone.map((damage) => damage.session)]);
  const sessions = [...all].flatMap((session) => inspect(log, session, witness.mark(session)) ?? []);
  return { structure: wrong, sessions };
}

function breath(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
