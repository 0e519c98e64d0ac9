/**
 * Erasing a session: all rows of it but the one of the index, inside the transaction of the commit that leaves its tombstone.
 *
 * E1  What is erased is overwritten, in the file too: pages that only count as free could still be read by whoever has it.
 *     Rows that were moved before leave nothing behind either: `FAST`, which costs no writing, stands since the opening (file.ts).
 */

import type { SessionId } from '../../core/ids.ts';
import type { Database } from './driver.ts';
import type { Log } from './log.ts';
import { forgetWords } from './words.ts';

export function erase(db: Database, session: SessionId): void {
  db.exec('PRAGMA secure_delete = ON');
  try {
    forgetWords(db, session, 0);
    for (const table of ['events', 'blobs', 'set_aside'])
      db.prepare(`DELETE FROM ${table} WHERE session = ?`).run(session);
  } finally {
    db.exec('PRAGMA secure_delete = FAST');
  }
}

/** Whether it begins at a tombstone: then nothing is kept for it any more. */
export const isErased = (log: Log, session: SessionId): boolean => log.start(session) > 1;
