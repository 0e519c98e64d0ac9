/**
 * The seam to SQLite: `node:sqlite` where Node has it, else the user's own better-sqlite3, else libsql.
 *
 * D1  Everything is synchronous, and every error of SQLite leaves as an `OutlastError` that says what to do.
 * D2  Values go in as text, number, bytes or null, always in one array. libsql aborts the process on a boolean, and on
 *     a buffer or an empty object as the only argument.
 * D3  Values come out as number, `Uint8Array` or null, never as text: libsql aborts the process on text that is not
 *     UTF-8, which is what a rotted block holds. Statements cast text to blob; `cell.ts` decodes it.
 * D4  After `close` every call is refused, and nothing of this process is locked. libsql keeps a connection for as long
 *     as its statements are not collected, so the lock is given back by name first; where a full disk forbids that, it
 *     stays with the process.
 */

import { OutlastError } from '../../core/error.ts';
import { assert } from '../../lib/assert.ts';

export type DriverName = 'node:sqlite' | 'better-sqlite3' | 'libsql';
export type Value = string | number | Uint8Array | null;
export type Cell = number | Uint8Array | null;
export type Cells = Readonly<Record<string, Cell>>;

export interface Statement {
  run(...values: Value[]): void;
  get(...values: Value[]): Cells | undefined;
  all(...values: Value[]): Cells[];
}

export interface Database {
  readonly driver: string;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  /** Runs `work` between BEGIN IMMEDIATE and COMMIT; when it throws, nothing of it stays. */
  transaction<T>(work: () => T): T;
  close(): void;
}

/** Opens a file, by the named driver or by the best that is there. */
export async function openDatabase(path: string, name?: DriverName): Promise<Database> {
  const names = name === undefined ? (Object.keys(CONNECT) as DriverName[]) : [name];
  const failures: unknown[] = [];
  for (const candidate of names) {
    try {
      const connect = await CONNECT[candidate]();
      return wrap(candidate, connect(path));
    } catch (cause) {
      if (codeOf(cause) !== null) throw explained(cause);
      failures.push(cause);
    }
  }
  throw new OutlastError('store.failed', `No SQLite could be opened at ${path}: ${failures.join('; ')}`, {
    next: 'check that the folder exists and can be written; else install again, or use Node 22.5 or newer',
    cause: failures.at(-1),
  });
}

/** What the three have in common. */
export interface RawStatement {
  run(...values: unknown[]): unknown;
  get(...values: unknown[]): unknown;
  all(...values: unknown[]): unknown[];
}
export interface RawDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): RawStatement;
  close(): unknown;
}
type Connect = (path: string) => RawDatabase;

/** In order of preference. Each rejects where it is not to be had. */
const CONNECT: Record<DriverName, () => Promise<Connect>> = {
  'node:sqlite': async () => {
    const { DatabaseSync } = nodeSqlite();
    return (path) => new DatabaseSync(path);
  },
  'better-sqlite3': async () => {
    const optional: string = 'better-sqlite3';
    const { default: Database } = (await import(optional)) as { default: new (path: string) => RawDatabase };
    return (path) => new Database(path);
  },
  libsql: async () => {
    const { default: Database } = await import('libsql');
    return (path) => new Database(path) as unknown as RawDatabase;
  },
};

/** Loads it without the notice that Node prints for it; throws on a Node that has none. */
function nodeSqlite(): { DatabaseSync: new (path: string) => RawDatabase } {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    const sqlite = process.getBuiltinModule('node:sqlite');
    if (sqlite) return sqlite as ReturnType<typeof nodeSqlite>;
  } finally {
    process.emitWarning = emitWarning;
  }
  throw new Error(`Node ${process.versions.node} has no node:sqlite`);
}

/** A connection of some driver as ours, with D1 to D4. Its values are bound as one array, but for node:sqlite. */
export function wrap(driver: string, raw: RawDatabase): Database {
  let isOpen = true;
  const call = <T>(work: () => T): T => {
    if (!isOpen) throw new OutlastError('store.failed', 'The store is closed.', { next: 'open it again' });
    return attempt(work);
  };
  const exec = (sql: string): void => call(() => void raw.exec(sql));
  const bind = (values: Value[]): unknown[] => (driver === 'node:sqlite' ? values : [values]);

  return {
    driver,
    exec,

    prepare(sql) {
      const statement = call(() => raw.prepare(sql));
      return {
        run: (...values) => call(() => void statement.run(...bind(values))),
        get: (...values) => toCells(call(() => statement.get(...bind(values)))),
        all: (...values) => call(() => statement.all(...bind(values))).map((row) => toCells(row) as Cells),
      };
    },

    transaction(work) {
      exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        exec('COMMIT');
        return result;
      } catch (error) {
        quietly(() => raw.exec('ROLLBACK')); // SQLite may have done it already.
        throw error;
      }
    },

    close() {
      if (!isOpen) return;
      quietly(() => raw.exec('PRAGMA journal_mode = DELETE'));
      quietly(() => raw.exec('PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_schema'));
      isOpen = false;
      attempt(() => void raw.close());
    },
  };
}

function toCells(row: unknown): Cells | undefined {
  if (row === undefined) return undefined;
  const cells: Record<string, Cell> = {};
  for (const [column, value] of Object.entries(row as object)) {
    if (column !== '_metadata') cells[column] = toCell(column, value); // libsql adds timings to `get`.
  }
  return cells;
}

function toCell(column: string, value: unknown): Cell {
  if (value === null || typeof value === 'number') return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  assert(ArrayBuffer.isView(value), `column ${column} is selected as number or blob`);
  return new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength);
}

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw explained(cause);
  }
}

function quietly(work: () => unknown): void {
  try {
    work();
  } catch {
    // The caller has a better error in hand, or none of it matters any more.
  }
}

/** SQLite's primary result codes, where a driver gives numbers instead of names. */
const NAMES: Readonly<Record<number, string>> = {
  5: 'BUSY',
  6: 'LOCKED',
  7: 'NOMEM',
  8: 'READONLY',
  10: 'IOERR',
  11: 'CORRUPT',
  13: 'FULL',
  14: 'CANTOPEN',
  26: 'NOTADB',
};

/** The primary code of SQLite's error by name; null for an error that is not SQLite's. */
function codeOf(error: unknown): string | null {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  if (typeof errcode === 'number') return NAMES[errcode & 0xff] ?? 'ERROR';
  if (code === 'ERR_OUT_OF_RANGE') return 'CORRUPT'; // A number that was never written.
  return /^SQLITE_([A-Z]+)/.exec(String(code))?.[1] ?? null;
}

function explained(cause: unknown): unknown {
  const name = codeOf(cause);
  if (name === null) return cause;
  const message = (cause as Error).message;
  switch (name) {
    case 'BUSY':
    case 'LOCKED':
      return new OutlastError('store.busy', `The database is in use: ${message}.`, { cause });
    case 'FULL':
      return new OutlastError('store.full', 'The disk is full; nothing was written.', {
        next: 'free some space; the session goes on by itself',
        cause,
      });
    case 'CORRUPT':
    case 'NOTADB':
      return new OutlastError('log.damaged', `The database file is damaged: ${message}.`, {
        next: 'start again: what can be read is put into a new file; or put back a backup',
        cause,
      });
    default:
      return new OutlastError('store.failed', `The database failed (${name}): ${message}.`, { cause });
  }
}
