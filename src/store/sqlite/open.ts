/**
 * Opening the embedded store: one folder, one file, one process.
 *
 * P1  What was acknowledged and is gone is found before the first call is served (witness.ts).
 * P2  Damage is kept by whoever finds it, and is told again at every start, until somebody has decided.
 */

import { join } from 'node:path';
import { OutlastError } from '../../core/error.ts';
import type { SessionId } from '../../core/ids.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { type Files, nodeFiles } from '../files.ts';
import type { Store, Summary } from '../port.ts';
import { type Damage, inspect, missing, sessionsIn, structure } from './damage.ts';
import type { Database, DriverName } from './driver.ts';
import { type Found, openFile, type Place, suspect, trust } from './file.ts';
import { claim, forgetOwner, writeOwner } from './lock.ts';
import { openLog } from './log.ts';
import { cut } from './salvage.ts';
import { type Known, operations } from './store.ts';
import { type Mark, openWitness } from './witness.ts';

export interface SqliteOptions {
  /** The data directory; made when it is not there. */
  readonly dir: string;
  readonly clock?: Clock;
  /** A driver by name, or an opener of one's own; by default the best that is there. */
  readonly driver?: DriverName | ((path: string) => Promise<Database>);
  /** Where the directory is, when not in the file system. A driver that keeps its files there too belongs to it. */
  readonly files?: Files;
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
   * Goes on without what cannot be read: the log ends after its readable part, whose fold is `summary` (null when no
   * event is left). Gives the damage that was accepted; null when there is none.
   */
  salvage(session: SessionId, summary: Summary | null): Promise<Damage | null>;
}

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
  const { clock = systemClock, driver, files = nodeFiles, waitMs = 1000 } = options;
  const dir = folder(files, options.dir);
  const unclaim = claim({ dir, files });
  try {
    return await openIn({ dir, path: join(dir, 'outlast.db'), files, clock, driver, waitMs }, unclaim);
  } catch (error) {
    unclaim();
    throw explained(error, dir);
  }
}

function folder(files: Files, dir: string): string {
  try {
    return files.folder(dir);
  } catch (error) {
    throw explained(error, dir);
  }
}

/** An error of the file system as one that says what to do. */
function explained(cause: unknown, dir: string): unknown {
  const errno = cause instanceof Error && 'syscall' in cause && 'code' in cause ? cause.code : null;
  if (errno === null) return cause;
  if (errno === 'ENOSPC') return new OutlastError('store.full', `The disk of ${dir} is full.`, { cause });
  return new OutlastError('store.failed', `The folder ${dir} cannot be used: ${errno}.`, {
    next: 'let this user write there, or choose another folder with OUTLAST_DATA',
    cause,
  });
}

async function openIn(place: Place, unclaim: () => void): Promise<SqliteStore> {
  const found = await openFile(place);
  try {
    const store = assemble(place, found, unclaim);
    writeOwner(place, place.clock.now());
    return store;
  } catch (error) {
    found.db.close();
    throw error;
  }
}

function assemble(place: Place, found: Found, unclaim: () => void): SqliteStore {
  const { db } = found;
  const log = openLog(db);
  const witness = openWitness(place.files, `${place.path}.witness`);
  const damaged = new Map(damageAtOpening().map((damage) => [damage.session, damage]));
  const heads = new Map<SessionId, Known>();
  const { flush, ...port } = operations({
    db,
    log,
    clock: place.clock,
    damaged,
    heads,
    durable,
    suspect: () => suspect(place),
  });
  let isOpen = true;
  if (damaged.size === 0) trust(place);
  else suspect(place);
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
      const pages = structure(db);
      if (pages !== null) suspect(place);
      return { structure: pages, sessions };
    },

    async salvage(session, summary) {
      const damage = look(session);
      if (damage) cut(db, log, damage, summary, place.clock.now());
      heads.delete(session);
      witness.forget(session);
      damaged.delete(session);
      settle();
      return damage;
    },

    async close() {
      if (!isOpen) return;
      isOpen = false;
      flush();
      settle();
      witness.close();
      db.close();
      forgetOwner(place);
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

  /** What is gone by the witness; and where something was wrong before, whatever else is. */
  function damageAtOpening(): Damage[] {
    const marks = witness.marks();
    if (!found.isSuspect) return missing(log, marks);
    const all = new Set([...sessionsIn(db), ...marks.map((mark) => mark.session)]);
    return [...all].flatMap((session) => inspect(log, session, witness.mark(session)) ?? []);
  }
}

function breath(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
