// stepVsCommit: what a durable commit of the loop costs, in bare commits. commitsPerEffect: how many a step makes.
//
// In turn, block by block in one process: steps of a session, and bare commits of the same bytes into a file of the same
// kind. What counts are the medians of all of them; the blocks' own ratios are the spread.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../dist/store/sqlite/driver.js';
import { pace } from '../kit/pace.mjs';
import { median, rounded, spread } from '../kit/spread.mjs';
import { stage } from '../kit/stage.mjs';

export const names = ['stepVsCommit', 'commitsPerEffect'];

const BLOCK = 10;
/** After so many steps the next session begins: this is about a commit, not about a long history. */
const SESSION = 200;

export async function measure({ quick = false } = {}) {
  const blocks = quick ? 20 : 150;
  const steps = pace();
  const on = await stage(steps);
  const bare = await bareCommits(join(on.dir, 'bare.db'));
  try {
    const ours = [];
    const theirs = [];
    const ratios = [];
    const counts = [];
    for (let block = 0; block < blocks; block++) {
      const name = `session ${Math.floor((block * BLOCK) / SESSION)}`;
      if ((block * BLOCK) % SESSION === 0) {
        await on.start(steps.objective(name));
        await steps.run(name, BLOCK); // The first ones open what is opened once.
      }
      on.commits.length = 0;
      const times = await steps.run(name, BLOCK);
      counts.push(on.commits.length / BLOCK);
      const a = times.map((ms) => (ms * BLOCK) / on.commits.length);
      const b = on.commits.map(({ bytes }) => bare.commit(bytes));
      ours.push(...a);
      theirs.push(...b);
      ratios.push(median(a) / median(b));
    }
    return {
      figures: {
        stepVsCommit: rounded(median(ours) / median(theirs)),
        commitsPerEffect: rounded(counts.reduce((sum, count) => sum + count, 0) / counts.length),
      },
      details: {
        commitMs: spread(ours),
        bareCommitMs: spread(theirs),
        ratioOfBlocks: spread(ratios),
      },
    };
  } finally {
    bare.close();
    await on.end();
  }
}

/** One insert with its index entry a transaction, in a file set up as the store's is. */
async function bareCommits(path) {
  const db = await openDatabase(path);
  db.exec(`
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE bare (session TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE (session, seq))`);
  const insert = db.prepare('INSERT INTO bare (session, seq, body) VALUES (?, ?, ?)');
  let seq = 0;
  return {
    /** Milliseconds of one commit with a body of `bytes`. */
    commit(bytes) {
      const body = 'x'.repeat(bytes);
      const startedAt = performance.now();
      db.transaction(() => insert.run('ses_00000000000000000000', ++seq, body));
      return performance.now() - startedAt;
    },
    close() {
      db.close();
      rmSync(path, { force: true });
    },
  };
}
