/** A second store with the same durable state, through the port alone: for recovering twice from one place. */

import type { BlobRef, SessionId } from '../../core/ids.ts';
import { decode } from '../../core/upcast.ts';
import type { Store } from '../../store/port.ts';

/** Sessions whose leases have been left lying; a lease itself is not copied, its epoch is. */
export async function copyStore(from: Store, to: Store): Promise<void> {
  for (const row of await from.list({ limit: 500 })) {
    const { id: session, head, epoch, ...summary } = row;
    const events = await from.read(session, 0, head);
    await to.commit({
      session,
      head: 0,
      epoch: null,
      events,
      blobs: await Promise.all(
        images(events.map(decode)).map(async (ref) => ({ ref, bytes: await from.blob(session, ref) })),
      ),
      summary,
    });
    for (let n = 0; n < epoch; n++) await raise(to, session);
  }
}

/** Epochs are given and not set. The last one lapses at once, and is not given back: its holder died. */
async function raise(store: Store, session: SessionId): Promise<void> {
  const acquired = await store.acquire(session, 'copied', 1);
  if (acquired.status !== 'acquired') throw new Error(`the copy is held by ${acquired.holder}`);
}

function images(events: readonly ReturnType<typeof decode>[]): readonly BlobRef[] {
  const refs = events.flatMap((event) => {
    if (event.kind === 'cell.committed' || event.kind === 'heap.based') return [event.image.blob];
    return event.kind === 'heap.restored' && event.image ? [event.image.blob] : [];
  });
  return [...new Set(refs)];
}
