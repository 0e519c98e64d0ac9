/**
 * The files of a data directory, as far as we touch them ourselves: all that no database writes.
 *
 * F1  A file's bytes are on the disk after its `sync`, not before; its name is after `syncFolder`. So what must not come
 *     back after a power cut, or must not be gone, needs both.
 * F2  What the file system says is thrown as it comes; who opens the directory puts it into our words.
 */

import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';

export interface Files {
  /** Makes the folder when it is not there; gives its one true name. */
  folder(path: string): string;
  /** In bytes; null when there is no such file. */
  size(path: string): number | null;
  /** The first `most` bytes, or all; null when there is no such file. */
  read(path: string, most?: number): Uint8Array | null;
  /** Opens a file to write at its end, for this user alone. `anew` begins it again. */
  open(path: string, anew?: 'anew'): OpenFile;
  /** Puts one file in the place of another. */
  rename(from: string, to: string): void;
  /** A second name for the same file. */
  link(from: string, to: string): void;
  /** Does nothing when there is no such file. */
  remove(path: string): void;
  /** Flushes the names in a folder to disk. */
  syncFolder(path: string): void;
}

export interface OpenFile {
  /** All of it, or throws; gives its length in bytes. */
  write(text: string): number;
  sync(): void;
  close(): void;
}

/** Writes a whole file, without flushing it. */
export function writeFile(files: Files, path: string, text: string): void {
  const file = files.open(path, 'anew');
  try {
    file.write(text);
  } finally {
    file.close();
  }
}

export const nodeFiles: Files = {
  folder(path) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return realpathSync(path);
  },

  size: (path) => statSync(path, { throwIfNoEntry: false })?.size ?? null,

  read(path, most) {
    try {
      return most === undefined ? readFileSync(path) : beginning(path, most);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  },

  open(path, anew) {
    const file = openSync(path, anew === undefined ? 'a' : 'w', 0o600);
    return {
      write(text) {
        writeFileSync(file, text); // Goes on where `writeSync` stops after a part.
        return Buffer.byteLength(text);
      },
      sync: () => fsyncSync(file),
      close: () => closeSync(file),
    };
  },

  rename: renameSync,
  link: linkSync,
  remove: (path) => rmSync(path, { force: true }),

  /** Windows cannot, and need not, flush folders. */
  syncFolder(path) {
    if (process.platform === 'win32') return;
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  },
};

function beginning(path: string, most: number): Uint8Array {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(most);
    return bytes.subarray(0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}
