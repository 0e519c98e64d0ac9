import { describe, expect, it } from 'vitest';
import type { Database } from './driver.ts';
import { type Group, group } from './group.ts';

/** A database that only writes down what it is told. `fail` may throw at any of it. */
function paper(fail: (sql: string) => void = () => {}): { db: Database; said: string[] } {
  const said: string[] = [];
  const exec = (sql: string) => {
    said.push(sql);
    fail(sql);
  };
  const db: Database = {
    driver: 'paper',
    exec,
    prepare: () => {
      throw new Error('nothing to prepare');
    },
    transaction(work) {
      exec('BEGIN');
      try {
        const result = work();
        exec('COMMIT');
        return result;
      } catch (error) {
        said.push('ROLLBACK');
        throw error;
      }
    },
    close() {},
  };
  return { db, said };
}

function start(db: Database, said: string[]): Group<string> {
  return group<string>(db, {
    durable: (results) => said.push(`durable ${results.join(' ')}`),
    undone: () => said.push('undone'),
  });
}

const says = (said: string[], what: string) => () => {
  said.push(what);
  return what;
};
const throws = () => {
  throw new Error('mine');
};

describe('group commit', () => {
  it('G1 jobs of one tick share a transaction, and resolve after its COMMIT in order', async () => {
    const { db, said } = paper();
    const jobs = start(db, said);
    await Promise.all(
      ['a', 'b'].map(async (job) => said.push(`resolved ${await jobs.run(says(said, job))}`)),
    );
    expect(said).toEqual([
      ...['BEGIN', 'SAVEPOINT job', 'a', 'RELEASE job', 'SAVEPOINT job', 'b', 'RELEASE job', 'COMMIT'],
      ...['durable a b', 'resolved a', 'resolved b'],
    ]);
  });

  it('G4 a lone job has no savepoint; jobs of another tick have another transaction', async () => {
    const { db, said } = paper();
    const jobs = start(db, said);
    await jobs.run(says(said, 'a'));
    await jobs.run(says(said, 'b'));
    expect(said).toEqual(['BEGIN', 'a', 'COMMIT', 'durable a', 'BEGIN', 'b', 'COMMIT', 'durable b']);
  });

  it('G2 a job that throws is undone alone', async () => {
    const { db, said } = paper();
    const jobs = start(db, said);
    const outcomes = await Promise.allSettled([
      jobs.run(says(said, 'a')),
      jobs.run(throws),
      jobs.run(says(said, 'c')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(said.filter((line) => /ROLLBACK|undone|durable/.test(line))).toEqual([
      ...['undone', 'ROLLBACK TO job; RELEASE job', 'durable a c'],
    ]);
  });

  it('G3 when the COMMIT fails, each job runs again alone', async () => {
    let commits = 0;
    const { db, said } = paper((sql) => {
      if (sql === 'COMMIT' && ++commits <= 2) throw new Error('disk full');
    });
    const jobs = start(db, said);
    const outcomes = await Promise.allSettled([jobs.run(says(said, 'a')), jobs.run(says(said, 'b'))]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(said.filter((line) => /undone|durable/.test(line))).toEqual(['undone', 'undone', 'durable b']);
  });

  it('G3 also when SQLite has rolled back everything by itself', async () => {
    const { db, said } = paper((sql) => {
      if (sql.startsWith('ROLLBACK TO')) throw new Error('no such savepoint');
    });
    const jobs = start(db, said);
    const outcomes = await Promise.allSettled([jobs.run(says(said, 'a')), jobs.run(throws)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(outcomes[1]).toMatchObject({ reason: { message: 'mine' } });
    expect(said.filter((line) => line === 'a')).toHaveLength(2);
  });

  it('commits what is queued when told to', () => {
    const { db, said } = paper();
    const jobs = start(db, said);
    void jobs.run(says(said, 'a'));
    jobs.flush();
    jobs.flush();
    expect(said).toEqual(['BEGIN', 'a', 'COMMIT', 'durable a']);
  });
});
