/**
 * The index of words in the tables `batches` and `words`: bytes in and out. What they mean is `projections/recall/word-index`.
 *
 * T1  `index` runs inside a transaction of whoever calls it.
 * T2  A batch that is not what was written is forgotten, with all behind it: the log is there to make them again (S8).
 */

import { crc32 } from 'node:zlib';
import type { SessionId } from '../../core/ids.ts';
import type { Batch } from '../port.ts';
import { asBytes, asNumber, Rotten } from './cell.ts';
import { isDamage } from './damage.ts';
import type { Cells, Database } from './driver.ts';

export function openWords(db: Database) {
  const sql = {
    reach: db.prepare('SELECT 1 FROM batches WHERE session = ? AND up_to = ?'),
    batch: db.prepare(
      'INSERT INTO batches (session, after, up_to, passages, sum) VALUES (?, ?, ?, ?, ?) RETURNING CAST(id AS INTEGER) AS id',
    ),
    word: db.prepare('INSERT INTO words (batch, word, found, sum) VALUES (?, ?, ?, ?)'),
    batches: db.prepare(`
      SELECT CAST(id AS INTEGER) AS id, CAST(after AS INTEGER) AS after, CAST(up_to AS INTEGER) AS up_to,
        CAST(passages AS BLOB) AS passages, CAST(sum AS INTEGER) AS sum
      FROM batches WHERE session = ? ORDER BY batches.up_to`),
    found: db.prepare(
      'SELECT CAST(found AS BLOB) AS found, CAST(sum AS INTEGER) AS sum FROM words WHERE batch = ? AND word = ?',
    ),
  };

  return {
    forget: (session: SessionId): void => forgetWords(db, session, 0),

    index(session: SessionId, { after, upTo, passages, words }: Batch): boolean {
      if (after > 0 && sql.reach.get(session, after) === undefined) return false;
      forgetWords(db, session, after);
      const id = asNumber(sql.batch.get(session, after, upTo, passages, crc32(passages))?.id);
      for (const [word, found] of words) sql.word.run(id, word, found, sumOf(word, found));
      return true;
    },

    search(session: SessionId, words: readonly string[]): readonly Batch[] {
      const batches: Batch[] = [];
      let upTo = 0;
      try {
        for (const cells of sql.batches.all(session)) {
          const batch = read(cells, upTo, words);
          batches.push(batch);
          upTo = batch.upTo;
        }
      } catch (error) {
        if (!isDamage(error)) throw error;
        db.transaction(() => forgetWords(db, session, upTo));
      }
      return batches;
    },
  };

  function read(cells: Cells, end: number, words: readonly string[]): Batch {
    const id = asNumber(cells.id);
    const after = asNumber(cells.after);
    const passages = asBytes(cells.passages);
    if (after !== end || cells.sum !== crc32(passages)) throw new Rotten('a batch is not what was written');
    return { after, upTo: asNumber(cells.up_to), passages, words: new Map(words.flatMap(entryOf)) };

    function entryOf(word: string): readonly (readonly [string, Uint8Array])[] {
      const row = sql.found.get(id, word);
      if (row === undefined) return [];
      const found = asBytes(row.found);
      if (row.sum !== sumOf(word, found)) throw new Rotten('a word is not where it was written');
      return [[word, found]];
    }
  }
}

/** All that stands behind an event, in a transaction of whoever calls it. */
export function forgetWords(db: Database, session: SessionId, after: number): void {
  db.prepare('DELETE FROM words WHERE batch IN (SELECT id FROM batches WHERE session = ? AND up_to > ?)').run(
    session,
    after,
  );
  db.prepare('DELETE FROM batches WHERE session = ? AND up_to > ?').run(session, after);
}

const sumOf = (word: string, found: Uint8Array): number => crc32(found, crc32(word));
