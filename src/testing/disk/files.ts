/** The store's own files on a recorded disk. */

import { basename } from 'node:path';
import type { Files } from '../../store/files.ts';
import type { Mount } from './disk.ts';

export function diskFiles(mount: Mount): Files {
  const find = (path: string): number | null => mount.find(basename(path));
  return {
    folder: (path) => path,

    size(path) {
      const file = find(path);
      return file === null ? null : mount.size(file);
    },

    read(path, most = Infinity) {
      const file = find(path);
      return file === null ? null : mount.read(file, 0, Math.min(most, mount.size(file))).slice();
    },

    open(path, anew) {
      const found = find(path);
      const file = found ?? mount.create(basename(path));
      if (found !== null && anew !== undefined) mount.truncate(file, 0);
      return {
        write(text) {
          const bytes = Buffer.from(text);
          if (bytes.length > 0) mount.write(file, mount.size(file), bytes);
          return bytes.length;
        },
        sync: () => mount.sync(file),
        close() {},
      };
    },

    rename(from, to) {
      mount.names([
        [basename(to), found(from)],
        [basename(from), null],
      ]);
    },
    link: (from, to) => mount.names([[basename(to), found(from)]]),

    remove(path) {
      if (find(path) !== null) mount.names([[basename(path), null]]);
    },

    syncFolder: () => mount.syncNames(),
  };

  function found(path: string): number {
    const file = find(path);
    if (file === null) throw new Error(`there is no file ${path}`);
    return file;
  }
}
