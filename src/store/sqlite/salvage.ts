/**
 * Going on without what is damaged. Only ever on somebody's word: the store itself never shortens a log.
 *
 * Y1  The log ends after its readable part; what stood behind is kept in `set_aside`.
 * Y2  Epochs still only grow, although the last may be among what is lost: the clock's milliseconds are above any counter.
 */

import { assert } from '../../lib/assert.ts';
import { awaitingIn } from '../check.ts';
import type { Summary } from '../port.ts';
import { guard } from './chain.ts';
import { type Damage, isDamage } from './damage.ts';
import type { Database } from './driver.ts';
import type { Log } from './log.ts';
import { forgetWords } from './words.ts';

/** Ends the log after its readable part. `summary` is that part's fold; a log of which nothing is left needs none. */
export function cut(db: Database, log: Log, damage: Damage, summary: Summary | null, now: number): void {
  const { session, readableTo } = damage;
  db.transaction(() => {
    db.prepare(`
      INSERT INTO set_aside SELECT session, seq, at, kind, version, body, hash, ?
      FROM events WHERE session = ? AND seq > ?`).run(now, session, readableTo);
    db.prepare('DELETE FROM events WHERE session = ? AND seq > ?').run(session, readableTo);
    // The numbers behind the cut will name other events.
    forgetWords(db, session, 0);
    if (readableTo === 0) db.prepare('DELETE FROM sessions WHERE id = ?').run(session);
    else putRow();
  });

  function putRow(): void {
    assert(summary !== null, 'a log that goes on has a summary');
    const chain = log.at(session, readableTo)?.hash;
    assert(chain !== undefined, 'the last readable event is there');
    const epoch = Math.max(now, epochInRow() + 1);
    const put = db.prepare(`
      INSERT INTO sessions (id, owner, started_at, phase, due_at, head, chain, epoch, held, guard, summary, awaiting)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET
        owner = excluded.owner, phase = excluded.phase, due_at = excluded.due_at, head = excluded.head,
        chain = excluded.chain, epoch = excluded.epoch, held = 1, guard = excluded.guard, summary = excluded.summary,
        awaiting = excluded.awaiting`);
    put.run(
      session,
      summary.owner,
      summary.startedAt,
      summary.phase,
      summary.dueAt,
      readableTo,
      chain,
      epoch,
      guard(session, { owner: summary.owner, head: readableTo, chain, epoch }),
      JSON.stringify(summary),
      awaitingIn(summary),
    );
  }

  /** 0 where it cannot be trusted. */
  function epochInRow(): number {
    try {
      return log.index(session)?.epoch ?? 0;
    } catch (error) {
      if (isDamage(error)) return 0;
      throw error;
    }
  }
}
