/**
 * A real store whose last record is torn: the files as they were before a commit, and of what that commit appended to the
 * write-ahead log only a part. What a power cut in the middle of the write leaves.
 */

import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const WAL = 'outlast.db-wal';

/** Takes the files before the commit; what it gives tears the commit, with `share` of its bytes written. */
export function before(dir: string, copy: string): (share: number) => boolean {
  mkdirSync(copy, { recursive: true });
  for (const name of readdirSync(dir, { withFileTypes: true })) {
    if (name.isFile()) copyFileSync(join(dir, name.name), join(copy, name.name));
  }
  const whole = statSync(join(dir, WAL)).size;
  return (share) => {
    const now = readFileSync(join(dir, WAL));
    if (now.length <= whole) return false;
    writeFileSync(join(copy, WAL), now);
    truncateSync(join(copy, WAL), whole + 1 + Math.floor((now.length - whole - 2) * share));
    return true;
  };
}
