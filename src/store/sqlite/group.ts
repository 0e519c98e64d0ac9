/**
 * Group commit: jobs of one tick share a transaction, and with it the flush to disk.
 *
 * G1  A job's promise resolves after the COMMIT that holds it, in the order of arrival.
 * G2  Each job is atomic by itself: one that throws is rolled back to its savepoint, and its neighbours stay.
 * G3  When the transaction itself fails (disk full, I/O), none of its jobs stays, and each runs again alone: one that
 *     is too big does not take others with it. So a job may run twice: what it keeps outside the database is forgotten
 *     when `undone` is called.
 * G4  A lone job pays for no savepoint and waits for nothing but the end of the tick.
 */

import type { Database } from './driver.ts';

export interface Group<T> {
  /** Runs `work` inside a transaction; resolves with its result once that is durable. */
  run(work: () => T): Promise<T>;
  /** Commits what is queued, now. */
  flush(): void;
}

interface Job<T> {
  readonly work: () => T;
  readonly resolve: (result: T) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome<T> = { readonly result: T } | { readonly error: unknown };

export interface Hooks<T> {
  /** Gets the results of a transaction after its COMMIT, before anybody else hears of them. Must not throw. */
  durable(results: readonly T[]): void;
  /** Something that jobs did has been rolled back. */
  undone(): void;
}

export function group<T>(db: Database, { durable, undone }: Hooks<T>): Group<T> {
  let queue: Job<T>[] = [];

  return {
    run(work) {
      return new Promise((resolve, reject) => {
        if (queue.length === 0) setImmediate(flush);
        queue.push({ work, resolve, reject });
      });
    },
    flush,
  };

  function flush(): void {
    const jobs = queue;
    queue = [];
    const outcomes = (jobs.length > 1 && together(jobs)) || jobs.map(alone);
    for (const [index, job] of jobs.entries()) settle(job, outcomes[index] as Outcome<T>);
  }

  /** Null when the transaction failed as a whole. */
  function together(jobs: readonly Job<T>[]): Outcome<T>[] | null {
    const outcomes = attempt(() => db.transaction(() => jobs.map(inSavepoint)));
    if ('result' in outcomes) return noted(outcomes.result);
    undone();
    return null;
  }

  function alone({ work }: Job<T>): Outcome<T> {
    const outcome = attempt(() => db.transaction(work));
    if ('error' in outcome) undone();
    return noted([outcome])[0] as Outcome<T>;
  }

  function inSavepoint({ work }: Job<T>): Outcome<T> {
    db.exec('SAVEPOINT job');
    try {
      const result = work();
      db.exec('RELEASE job');
      return { result };
    } catch (error) {
      // Throws when SQLite has rolled back everything by itself; then the whole group starts again.
      undone();
      db.exec('ROLLBACK TO job; RELEASE job');
      return { error };
    }
  }

  function noted(outcomes: Outcome<T>[]): Outcome<T>[] {
    const results = outcomes.flatMap((outcome) => ('result' in outcome ? [outcome.result] : []));
    if (results.length > 0) durable(results);
    return outcomes;
  }
}

function attempt<T>(work: () => T): Outcome<T> {
  try {
    return { result: work() };
  } catch (error) {
    return { error };
  }
}

function settle<T>({ resolve, reject }: Job<T>, outcome: Outcome<T>): void {
  if ('result' in outcome) resolve(outcome.result);
  else reject(outcome.error);
}
