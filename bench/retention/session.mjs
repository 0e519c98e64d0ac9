// Owns: a log in a real store, in a folder that goes away, and recall over it as the runtime calls it.

import { encode } from '../../dist/core/upcast.js';
import { sqliteStore } from '../../dist/index.js';
import { recall } from '../../dist/loop/recall/recall.js';
import { sampleId, sampleSummary } from '../../dist/store/sample.js';
import { folder } from '../kit/stage.mjs';

const SESSION = sampleId(1);
const COMMIT = 2_000;
/** Some 4,000 tokens, and what stands around them. */
const CHARS = 16_200;

export async function session(events) {
  const dir = folder();
  const store = await sqliteStore({ dir: dir.path });
  for (let head = 0; head < events.length; head += COMMIT) {
    const rows = events.slice(head, head + COMMIT).map(encode);
    await store.commit({
      session: SESSION,
      head,
      epoch: null,
      events: rows,
      blobs: [],
      summary: sampleSummary(),
    });
  }
  const past = { session: SESSION, store, state: { head: events.length, effects: { open: [], closed: [] } } };
  return {
    recall: (request, chars = CHARS) => recall(past, request, chars),
    async end() {
      await store.close();
      dir.remove();
    },
  };
}
