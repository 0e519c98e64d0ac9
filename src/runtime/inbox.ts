/**
 * The inbox of an owner: everything that awaits a person, over all of their sessions. Nothing of it is kept beside the
 * logs: the index says in which sessions something waits, and their folds say what.
 */

import type { Owner, SessionId } from '../core/ids.ts';
import type { State } from '../core/state.ts';
import type { Ports } from '../loop/ports.ts';
import { eachRow } from '../loop/read.ts';
import { type Awaiting, awaiting } from '../projections/awaiting.ts';
import type { Row } from '../store/port.ts';

export interface InboxItem extends Awaiting {
  readonly session: SessionId;
  readonly title: string;
  /** Whose child it is, or of which conversation a task; null of what is nobody's. */
  readonly parent: { readonly id: SessionId; readonly title: string } | null;
}

export interface Inbox {
  /** Of the newest session first; of one session the oldest first. */
  readonly items: readonly InboxItem[];
  /** The last session of this page; null at the end. */
  readonly after: SessionId | null;
}

export interface InboxPorts extends Pick<Ports, 'store' | 'clock'> {
  readonly stateOf: (session: SessionId) => Promise<State>;
}

/** How long after a change a watcher learns of it, at most. */
const LOOK_MS = 500;

export async function inbox(
  owner: Owner,
  { store, stateOf }: InboxPorts,
  { after, limit }: { readonly after?: SessionId; readonly limit: number },
): Promise<Inbox> {
  const rows = await store.list({ owner, awaiting: true, limit, ...(after ? { after } : {}) });
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return { items: await itemsOf(rows, { store, stateOf }), after: last?.id ?? null };
}

/** The whole list at once, and the whole list again whenever it has changed. */
export async function* watchInbox(
  owner: Owner,
  ports: InboxPorts,
  signal?: AbortSignal,
): AsyncGenerator<readonly InboxItem[], void, void> {
  let known: string | null = null;
  while (!signal?.aborted) {
    const rows: Row[] = [];
    for await (const row of eachRow(ports.store, { owner, awaiting: true })) rows.push(row);
    // What waits can change only where one of these logs has grown.
    const heads = rows.map(({ id, head }) => `${id} ${head}`).join(',');
    if (heads !== known) {
      known = heads;
      yield await itemsOf(rows, ports);
    }
    await ports.clock.sleep(LOOK_MS, signal);
  }
}

async function itemsOf(
  rows: readonly Row[],
  { store, stateOf }: Pick<InboxPorts, 'store' | 'stateOf'>,
): Promise<readonly InboxItem[]> {
  const items: InboxItem[] = [];
  for (const { id: session, title, phase, parent: above } of rows) {
    // What cannot be read is told by `verify`, and must not hide what others wait for.
    if (phase === 'damaged') continue;
    const found = awaiting(await stateOf(session));
    if (found.length === 0) continue;
    const parent =
      above === undefined ? null : { id: above, title: (await store.row(above))?.title ?? above };
    for (const one of found) items.push({ session, title, parent, ...one });
  }
  return items;
}
