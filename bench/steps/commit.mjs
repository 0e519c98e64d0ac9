// stepVsCommit: what a durable commit of the loop costs, in bare commits. storeVsCommit: how much of that is the store's,
// from the call of its port until it is durable. commitsPerEffect: how many commits a step makes; the one in some thirty
// steps that makes the view smaller is not counted.
//
// In turn, block by block in one process: steps of a session, and bare commits of the same events into a file of the same
// kind. What counts are the medians of all of them; the blocks' own ratios are the spread.
//
// Bare is what any durable log of events has to do: one transaction, a row for each event with its number, instant, kind
// and body, and the index that it is read by. No checksum, no fence, no row of the session, no witness. It commits back
// to back, which a loop that has something to do in between cannot: a disk that was left alone for 0.2 ms needs some
// 0.05 ms more for the next flush. So that much of the ratio is nobody's work; storeVsCommitPaced is without it: there the
// bare commits come at the very distances of the store's own, with a busy processor in between.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../dist/store/sqlite/driver.js';
import { pace } from '../kit/pace.mjs';
import { median, rounded, spread } from '../kit/spread.mjs';
import { stage } from '../kit/stage.mjs';

export const names = ['stepVsCommit', 'storeVsCommit', 'storeVsCommitPaced', 'commitsPerEffect'];

const BLOCK = 10;
/** After so many steps the next session begins: this is about a commit, not about a long history. */
const SESSION = 200;

const isOfEffects = ({ kinds }) => !kinds.includes('context.compacted');

export async function measure({ quick = false } = {}) {
  const blocks = quick ? 20 : 150;
  const steps = pace();
  const on = await stage(steps);
  const bare = await bareCommits(join(on.dir, 'bare.db'));
  try {
    const ours = [];
    const theirs = [];
    const paced = [];
    const stores = [];
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
      counts.push(on.commits.filter(isOfEffects).length / BLOCK);
      const a = times.map((ms) => (ms * BLOCK) / on.commits.length);
      const b = on.commits.map(({ events }) => bare.commit(events));
      ours.push(...a);
      stores.push(...on.commits.map(({ askedAt, durableAt }) => durableAt - askedAt));
      theirs.push(...b);
      paced.push(
        ...on.commits.map(({ askedAt, events }, i) => {
          const before = on.commits[i - 1];
          busyFor(before ? askedAt - before.durableAt : 0);
          return bare.commit(events);
        }),
      );
      ratios.push(median(a) / median(b));
    }
    return {
      figures: {
        stepVsCommit: rounded(median(ours) / median(theirs)),
        storeVsCommit: rounded(median(stores) / median(theirs)),
        storeVsCommitPaced: rounded(median(stores) / median(paced)),
        commitsPerEffect: rounded(counts.reduce((sum, count) => sum + count, 0) / counts.length),
      },
      details: {
        commitMs: spread(ours),
        storeMs: spread(stores),
        bareCommitMs: spread(theirs),
        pacedCommitMs: spread(paced),
        ratioOfBlocks: spread(ratios),
      },
    };
  } finally {
    bare.close();
    await on.end();
  }
}

/** As the loop is: at work, and not asleep. */
function busyFor(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** The rows of a commit with their index entries, in a file set up as the store's is. */
async function bareCommits(path) {
  const db = await openDatabase(path);
  db.exec(`
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE bare (
      session TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
      UNIQUE (session, seq)
    )`);
  const insert = db.prepare('INSERT INTO bare (session, seq, at, kind, body) VALUES (?, ?, ?, ?, ?)');
  let seq = 0;
  return {
    /** Milliseconds of one commit of these events. */
    commit(events) {
      const startedAt = performance.now();
      db.transaction(() => {
        for (const { at, kind, body } of events)
          insert.run('ses_00000000000000000000', ++seq, at, kind, body);
      });
      return performance.now() - startedAt;
    },
    close() {
      db.close();
      rmSync(path, { force: true });
    },
  };
}
