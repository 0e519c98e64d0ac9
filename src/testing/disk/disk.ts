/**
 * A disk in memory that records what is done to it, in order. SQLite (vfs.ts) and the store's own files (files.ts) write
 * on the same one, so their order among each other is on record, too.
 *
 * D1  What is read is what was written, as from the page cache: nobody but a power cut sees what is durable.
 * D2  A file is its bytes; its name is an entry of the one folder. Both become durable on their own: `sync` the bytes of
 *     one file, `syncNames` all names. This is what POSIX promises, and less than most file systems give.
 * D3  `mount` gives the disk to one process. After `kill` that process changes nothing any more; the disk stays.
 */

export type Op =
  | { readonly kind: 'write'; readonly file: number; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'truncate'; readonly file: number; readonly size: number }
  | { readonly kind: 'sync'; readonly file: number }
  /** Names that change together: to a file, or to nothing. */
  | { readonly kind: 'names'; readonly entries: readonly Entry[] }
  | { readonly kind: 'syncNames' };

export type Entry = readonly [name: string, file: number | null];

/** What is on a disk: files by name. */
export type Content = ReadonlyMap<string, Uint8Array>;

/** Bytes that grow. */
export class Bytes {
  #room: Uint8Array;
  #size: number;

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.#room = bytes.slice();
    this.#size = bytes.length;
  }

  get size(): number {
    return this.#size;
  }

  read(at: number, length: number): Uint8Array {
    return this.#room.subarray(Math.min(at, this.#size), Math.min(at + length, this.#size));
  }

  write(at: number, bytes: Uint8Array): void {
    this.#reach(at + bytes.length);
    this.#room.set(bytes, at);
  }

  truncate(size: number): void {
    this.#reach(size);
    this.#room.fill(0, size, this.#size);
    this.#size = size;
  }

  copy(): Uint8Array {
    return this.#room.slice(0, this.#size);
  }

  #reach(size: number): void {
    if (size > this.#room.length) {
      const room = new Uint8Array(Math.max(size, 2 * this.#room.length, 4096));
      room.set(this.#room);
      this.#room = room;
    }
    this.#size = Math.max(this.#size, size);
  }
}

export interface Disk {
  /** What was on it before the first operation. */
  readonly start: Content;
  /** All that was done, in order. */
  readonly ops: readonly Op[];
  mount(): Mount;
}

/** The disk as one process sees it. Files are known by number: a file that lost its name may still be open. */
export interface Mount {
  /** A folder name that no other mount has. */
  readonly dir: string;
  find(name: string): number | null;
  create(name: string): number;
  read(file: number, at: number, length: number): Uint8Array;
  size(file: number): number;
  write(file: number, at: number, bytes: Uint8Array): void;
  truncate(file: number, size: number): void;
  sync(file: number): void;
  names(entries: readonly Entry[]): void;
  syncNames(): void;
  kill(): void;
}

/** Numbers files in the order of their names, as `memoryDisk` does with what it starts from. */
export function numbered(content: Content): readonly (readonly [string, Uint8Array])[] {
  return [...content].sort(([a], [b]) => (a < b ? -1 : 1));
}

let mounts = 0;

export function memoryDisk(start: Content = new Map()): Disk {
  const ops: Op[] = [];
  const files: Bytes[] = [];
  const names = new Map<string, number>();
  for (const [name, bytes] of numbered(start)) names.set(name, files.push(new Bytes(bytes)) - 1);

  return { start, ops, mount };

  function mount(): Mount {
    let isDead = false;
    const record = (op: Op): void => {
      if (isDead) throw new Error('the process that has this disk is dead');
      ops.push(op);
    };
    const self: Mount = {
      dir: `/disk-${++mounts}`,
      find: (name) => names.get(name) ?? null,

      create(name) {
        const file = files.push(new Bytes()) - 1;
        self.names([[name, file]]);
        return file;
      },

      read: (file, at, length) => of(file).read(at, length),
      size: (file) => of(file).size,

      write(file, at, bytes) {
        record({ kind: 'write', file, at, bytes: bytes.slice() });
        of(file).write(at, bytes);
      },

      truncate(file, size) {
        record({ kind: 'truncate', file, size });
        of(file).truncate(size);
      },

      sync(file) {
        record({ kind: 'sync', file });
      },

      names(entries) {
        record({ kind: 'names', entries });
        for (const [name, file] of entries) {
          if (file === null) names.delete(name);
          else names.set(name, file);
        }
      },

      syncNames() {
        record({ kind: 'syncNames' });
      },

      kill() {
        isDead = true;
      },
    };
    return self;
  }

  function of(file: number): Bytes {
    const bytes = files[file];
    if (!bytes) throw new Error(`there is no file ${file}`);
    return bytes;
  }
}
