/**
 * A real store whose last record is torn: the files as they were before the commit of the first receipt, and of what that
 * commit appended to the write-ahead log only a part. What a power cut in the middle of the write leaves.
 */

import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../store/port.ts';

const WAL = 'outlast.db-wal';

export interface Tear {
  /** The folder of the store. */
  readonly whole: string;
  /** Where the torn one goes. */
  readonly torn: string;
  /** How much of the record is written, from 0 to 1. */
  readonly share: number;
}

/** `cut` is called once the torn copy is there; the commit is never answered. */
export function tearing(real: Store, { whole, torn, share }: Tear, cut: () => void): Store {
  let isCut = false;
  return new Proxy(real, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      if (key !== 'commit') return member.bind(target);
      return async (commit: Parameters<Store['commit']>[0]) => {
        const isReceipt = commit.events.some(({ kind }) => kind === 'effect.settled');
        if (!isReceipt || isCut) return target.commit(commit);
        isCut = true;
        mkdirSync(torn, { recursive: true });
        for (const entry of readdirSync(whole, { withFileTypes: true })) {
          if (entry.isFile()) copyFileSync(join(whole, entry.name), join(torn, entry.name));
        }
        const before = statSync(join(whole, WAL)).size;
        const result = await target.commit(commit);
        const log = readFileSync(join(whole, WAL));
        if (log.length <= before + 2) return result;
        writeFileSync(join(torn, WAL), log);
        truncateSync(join(torn, WAL), before + 1 + Math.floor((log.length - before - 2) * share));
        cut();
        return result;
      };
    },
  });
}
