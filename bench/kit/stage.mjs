// Owns: a whole Outlast as `createOutlast` puts it together (embedded store, threads for cells) in a folder that goes
// away, with the taps that benchmarks read from: every commit with its bytes and instants, and the database itself.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOutlast, defineTool, sqliteStore } from '../../dist/index.js';
import { openDatabase } from '../../dist/store/sqlite/driver.js';
import { WORK } from './pace.mjs';

/** As much as one step may ask for, so that no limit ends a benchmark. */
const LIMITS = { stepsPerTurn: 1_000_000 };
const RESULT = 'All is as it should be. '.repeat(42).slice(0, 1_000);

export function folder() {
  const path = mkdtempSync(join(tmpdir(), 'outlast-bench-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Answers at once with a kilobyte, and changes nothing. */
export const look = defineTool({
  name: WORK,
  description: 'Looks at a page.',
  input: { type: 'object', properties: { about: { type: 'string' }, page: { type: 'integer' } } },
  capability: 'read',
  run: () => ({ text: RESULT }),
});

export async function stage({ model, tools = [look] }) {
  const dir = folder();
  let db;
  const inner = await sqliteStore({
    dir: dir.path,
    driver: async (path) => {
      db = await openDatabase(path);
      return db;
    },
  });
  const commits = [];
  const marks = [];
  const store = tapped(inner, commits, marks);
  const outlast = await createOutlast({ dataDir: dir.path, store, model, tools, env: {} });
  return {
    outlast,
    db,
    dir: dir.path,
    /** Every commit so far, unless it was emptied: `kinds`, `bytes` of bodies, `blobBytes`, `askedAt`, `durableAt`. */
    commits,
    /** What was committed and what was read back, as the server process says it. */
    marks,
    async start(message, request = {}) {
      const { session } = await outlast.start({ persist: true, ...request, message, limits: LIMITS });
      return session;
    },
    async end() {
      await outlast.close();
      dir.remove();
    },
  };
}

function tapped(store, commits, marks) {
  return {
    ...store,
    async commit(commit) {
      const askedAt = performance.now();
      const result = await store.commit(commit);
      if (result.status !== 'committed') return result;
      const described = describe(commit, askedAt);
      commits.push(described);
      marks.push(committed(described));
      return result;
    },
    async read(session, after, limit) {
      const rows = await store.read(session, after, limit);
      const kinds = rows.map(({ kind }) => kind);
      if (rows.length > 0) marks.push({ did: 'folded', at: performance.now(), kinds });
      return rows;
    },
  };
}

const committed = (described) => ({
  did: 'committed',
  at: described.durableAt,
  get kinds() {
    return described.kinds;
  },
});

/** Counted when somebody asks: in the loop that is measured it would be counted in. */
const describe = ({ events, blobs }, askedAt) => ({
  askedAt,
  durableAt: performance.now(),
  events,
  get kinds() {
    return events.map((event) => event.kind);
  },
  get bytes() {
    return events.reduce((sum, event) => sum + event.body.length, 0);
  },
  get blobBytes() {
    return blobs.reduce((sum, blob) => sum + blob.bytes.length, 0);
  },
});
