/**
 * Real SQLite, compiled to WebAssembly, on a recorded disk: a file layer (VFS) of SQLite's, written here.
 *
 * It does what SQLite's own layer for Unix does, as far as a disk can tell: the folder is flushed with the first sync of a
 * new journal or write-ahead log and after a delete that asks for it, sectors are 4096 bytes, and a write that is cut
 * harms no byte beside it.
 *
 * V1  Everything is synchronous. One instance of SQLite serves all disks; a path names the mount by its folder.
 * V2  SQLite's randomness is a counter here, so that a workload leaves the same record every time.
 * V3  Locks always succeed: a mount has one process, and the store one connection.
 */

import { basename, dirname } from 'node:path';
import sqlite3Init, { type Sqlite3Static } from '@sqlite.org/sqlite-wasm';
import { type Database, type RawDatabase, type RawStatement, wrap } from '../../store/sqlite/driver.ts';
import type { Mount } from './disk.ts';

export interface Sqlite {
  readonly version: string;
  /** The store's database seam, on this mount. */
  open(mount: Mount, path: string): Database;
}

/** A file that SQLite has open. */
interface Handle {
  readonly mount: Mount;
  readonly file: number;
  /** Its name is not yet flushed, and has to be with its bytes. */
  isNew: boolean;
}

const NAME = 'recorded';

let loaded: Promise<Sqlite> | null = null;

/** One for the process: its memory is not small. */
export function sqlite(): Promise<Sqlite> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<Sqlite> {
  const api = await sqlite3Init({ print: silent, printErr: silent });
  Object.assign(api.config, { warn: silent });
  const mounts = new Map<string, Mount>();
  const connections = new Map<Mount, number>();
  install(api, mounts);
  return {
    version: api.version.libVersion,
    open(mount, path) {
      count(mount, 1);
      try {
        return wrap(
          'recorded',
          connect(api, path, () => count(mount, -1)),
        );
      } catch (error) {
        throw named(error);
      }
    },
  };

  /** A rebuild has two connections on one disk; a path is known while any is open. */
  function count(mount: Mount, change: 1 | -1): void {
    const open = (connections.get(mount) ?? 0) + change;
    if (open > 0) {
      connections.set(mount, open);
      mounts.set(mount.dir, mount);
    } else {
      connections.delete(mount);
      mounts.delete(mount.dir);
    }
  }
}

function install({ capi, wasm, vfs: helper }: Sqlite3Static, mounts: ReadonlyMap<string, Mount>): void {
  const handles = new Map<number, Handle>();
  let random = 1;

  const methods = new capi.sqlite3_io_methods();
  const layer = new capi.sqlite3_vfs();
  // The declarations that come with the package miss some of what is there.
  Object.assign(methods, { $iVersion: 1 });
  layer.$iVersion = 2;
  layer.$szOsFile = new capi.sqlite3_file().structInfo.sizeof;
  layer.$mxPathname = 512;

  helper.installVfs({
    io: {
      struct: methods,
      methods: {
        xClose: (pointer) =>
          guarded(capi.SQLITE_IOERR_CLOSE, () => {
            handles.delete(pointer);
            return capi.SQLITE_OK;
          }),

        xRead: (pointer, to, length, at) =>
          guarded(capi.SQLITE_IOERR_READ, () => {
            const { mount, file } = open(pointer);
            const bytes = mount.read(file, Number(at), length);
            const heap = wasm.heap8u();
            heap.set(bytes, to);
            if (bytes.length === length) return capi.SQLITE_OK;
            heap.fill(0, to + bytes.length, to + length);
            return capi.SQLITE_IOERR_SHORT_READ;
          }),

        xWrite: (pointer, from, length, at) =>
          guarded(capi.SQLITE_IOERR_WRITE, () => {
            const { mount, file } = open(pointer);
            mount.write(file, Number(at), wasm.heap8u().subarray(from, from + length));
            return capi.SQLITE_OK;
          }),

        xTruncate: (pointer, size) =>
          guarded(capi.SQLITE_IOERR_TRUNCATE, () => {
            const { mount, file } = open(pointer);
            mount.truncate(file, Number(size));
            return capi.SQLITE_OK;
          }),

        xSync: (pointer) =>
          guarded(capi.SQLITE_IOERR_FSYNC, () => {
            const handle = open(pointer);
            handle.mount.sync(handle.file);
            if (handle.isNew) handle.mount.syncNames();
            handle.isNew = false;
            return capi.SQLITE_OK;
          }),

        xFileSize: (pointer, out) => {
          const { mount, file } = open(pointer);
          poke64(out, BigInt(mount.size(file)));
          return capi.SQLITE_OK;
        },

        xLock: () => capi.SQLITE_OK,
        xUnlock: () => capi.SQLITE_OK,
        xCheckReservedLock: (_pointer, out) => {
          wasm.poke(out, 0, 'i32');
          return capi.SQLITE_OK;
        },
        xFileControl: () => capi.SQLITE_NOTFOUND,
        xSectorSize: () => 4096,
        xDeviceCharacteristics: () => capi.SQLITE_IOCAP_POWERSAFE_OVERWRITE,
      },
    },
    vfs: {
      struct: layer,
      name: NAME,
      asDefault: true,
      methods: {
        xOpen: (_vfs, name, pointer, flags, outFlags) =>
          guarded(capi.SQLITE_CANTOPEN, () => {
            handles.set(pointer, opened(name, flags));
            new capi.sqlite3_file(pointer).$pMethods = methods.pointer;
            if (outFlags !== 0) wasm.poke(outFlags, flags, 'i32');
            return capi.SQLITE_OK;
          }),

        xDelete: (_vfs, name, syncDir) =>
          guarded(capi.SQLITE_IOERR_DELETE, () => {
            const { mount, base } = placed(name);
            if (mount.find(base) === null) return capi.SQLITE_IOERR_DELETE_NOENT;
            mount.names([[base, null]]);
            if (syncDir !== 0) mount.syncNames();
            return capi.SQLITE_OK;
          }),

        xAccess: (_vfs, name, _flags, out) => {
          const { mount, base } = placed(name);
          // As on Unix: an empty file is as good as none.
          const file = mount.find(base);
          wasm.poke(out, file !== null && mount.size(file) > 0 ? 1 : 0, 'i32');
          return capi.SQLITE_OK;
        },

        xFullPathname: (_vfs, name, room, out) =>
          wasm.cstrncpy(out, name, room) < room ? capi.SQLITE_OK : capi.SQLITE_CANTOPEN,

        xRandomness: (_vfs, length, out) => {
          const heap = wasm.heap8u();
          for (let i = 0; i < length; i++) {
            random = (random * 75 + 74) % 65_537;
            heap[out + i] = random & 255;
          }
          return length;
        },
        xSleep: () => 0,
        xCurrentTime: (_vfs, out) => {
          wasm.poke(out, JULIAN_DAY, 'double');
          return capi.SQLITE_OK;
        },
        xCurrentTimeInt64: (_vfs, out) => {
          poke64(out, BigInt(JULIAN_DAY * 86_400_000));
          return capi.SQLITE_OK;
        },
        xGetLastError: () => capi.SQLITE_OK,
      },
    },
  });

  function opened(name: number, flags: number): Handle {
    const { mount, base } = placed(name);
    const found = mount.find(base);
    if (found === null && (flags & capi.SQLITE_OPEN_CREATE) === 0) throw new Error(`there is no ${base}`);
    const isLog = (flags & (capi.SQLITE_OPEN_MAIN_JOURNAL | capi.SQLITE_OPEN_WAL)) !== 0;
    return { mount, file: found ?? mount.create(base), isNew: found === null && isLog };
  }

  /** Files without a name are SQLite's temporary ones; it keeps them in memory (`connect`). */
  function placed(name: number): { mount: Mount; base: string } {
    const path = wasm.cstrToJs(name);
    const mount = path === null ? undefined : mounts.get(dirname(path));
    if (path === null || !mount) throw new Error(`no disk is there for ${path}`);
    return { mount, base: basename(path) };
  }

  function poke64(pointer: number, value: bigint): void {
    new DataView(wasm.heap8u().buffer).setBigInt64(pointer, value, true);
  }

  function open(pointer: number): Handle {
    const handle = handles.get(pointer);
    if (!handle) throw new Error('this file is not open');
    return handle;
  }
}

/** What fails is thrown; SQLite need not print it, too. */
function silent(): void {}

/** A day of 2026; SQLite wants one. */
const JULIAN_DAY = 2_461_000.5;

/** An exception must not cross SQLite's frames. */
function guarded(code: number, work: () => number): number {
  try {
    return work();
  } catch {
    return code;
  }
}

function connect({ oo1, capi }: Sqlite3Static, path: string, closed: () => void): RawDatabase {
  // What SQLite's generator made before must not show in this file (V2).
  capi.sqlite3_randomness(0, 0);
  const db = new oo1.DB({ filename: path, flags: 'c', vfs: NAME });
  db.exec('PRAGMA temp_store = MEMORY');
  const prepared: { finalize(): unknown }[] = [];
  return {
    exec: (sql) => naming(() => void db.exec(sql)),
    prepare: (sql) => {
      const statement = naming(() => db.prepare(sql));
      prepared.push(statement);
      return reading(statement);
    },
    close() {
      for (const statement of prepared) statement.finalize();
      db.close();
      closed();
    },
  };
}

type Prepared = ReturnType<InstanceType<Sqlite3Static['oo1']['DB']>['prepare']>;

function reading(statement: Prepared): RawStatement {
  const names = statement.columnCount > 0 ? statement.getColumnNames() : [];
  const row = (): unknown => {
    const cells = statement.get([]);
    return Object.fromEntries(names.map((name, index) => [name, cells[index]]));
  };
  const rows = (bound: unknown, most: number): unknown[] =>
    naming(() => {
      const values = bound as (string | number | Uint8Array | null)[];
      try {
        if (values.length > 0) statement.bind(values);
        const found: unknown[] = [];
        while (found.length < most && statement.step()) found.push(row());
        return found;
      } finally {
        statement.reset(true);
      }
    });
  return {
    run: (bound) => void rows(bound, Infinity),
    get: (bound) => rows(bound, 1)[0],
    all: (bound) => rows(bound, Infinity),
  };
}

function naming<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw named(error);
  }
}

/** SQLite's code under the name that the seam looks for. */
function named(error: unknown): unknown {
  const { resultCode } = error as { resultCode?: unknown };
  return typeof resultCode === 'number' ? Object.assign(error as object, { errcode: resultCode }) : error;
}
