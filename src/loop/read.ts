/** Reading the store whole where it answers in pages: a log up to a place in it, the sessions of a list, a blob if it stands. */

import { OutlastError } from '../core/error.ts';
import type { Event, ForeignEvent } from '../core/event.ts';
import type { BlobRef, SessionId } from '../core/ids.ts';
import { decode } from '../core/upcast.ts';
import type { ListQuery, Row, Store, StoredEvent } from '../store/port.ts';

const PAGE = 500;

/** The rows of a log up to `head`, or all that it has. */
export async function readRows(
  store: Pick<Store, 'read'>,
  session: SessionId,
  head = Number.POSITIVE_INFINITY,
): Promise<readonly StoredEvent[]> {
  const rows: StoredEvent[] = [];
  for (;;) {
    const wanted = Math.min(PAGE, head - rows.length);
    const page = wanted > 0 ? await store.read(session, rows.length, wanted) : [];
    rows.push(...page);
    if (page.length < PAGE) return rows;
  }
}

export async function readEvents(
  store: Pick<Store, 'read'>,
  session: SessionId,
  head?: number,
): Promise<readonly (Event | ForeignEvent)[]> {
  return (await readRows(store, session, head)).map(decode);
}

/** Every row of a list, a page at a time; a row may have changed since its page was read. */
export async function* eachRow(
  store: Pick<Store, 'list'>,
  query: Omit<ListQuery, 'limit' | 'after'>,
): AsyncGenerator<Row, void, void> {
  for (let after: SessionId | undefined; ; ) {
    const rows = await store.list({ ...query, limit: PAGE, ...(after ? { after } : {}) });
    yield* rows;
    after = rows.at(-1)?.id;
    if (rows.length < PAGE) return;
  }
}

/** The bytes, or null when they are gone or are not what the log names. A store that fails for the moment throws. */
export async function readBlob(
  store: Pick<Store, 'blob'>,
  session: SessionId,
  ref: BlobRef,
): Promise<Uint8Array | null> {
  return store.blob(session, ref).catch((error: unknown) => {
    if (isBlobLoss(error)) return null;
    throw error;
  });
}

export const isBlobLoss = (error: unknown): error is OutlastError =>
  error instanceof OutlastError && (error.code === 'blob.missing' || error.code === 'blob.forged');
