/**
 * The inbox of an owner: everything that awaits a person, over all of their sessions. Nothing of it is kept beside the
 * logs: the index says in which sessions something waits, and their folds say what.
 */

import { type Awaiting, awaiting } from '../core/awaiting.ts';
import type { Owner, SessionId } from '../core/ids.ts';
import type { State } from '../core/state.ts';
import type { Ports } from './ports.ts';

export interface InboxItem extends Awaiting {
  readonly session: SessionId;
  readonly title: string;
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
const PAGE = 100;

export async function inbox(
  owner: Owner,
  { store, stateOf }: InboxPorts,
  { after, limit }: { readonly after?: SessionId; readonly limit: number },
): Promise<Inbox> {
  const rows = await store.list({ owner, awaiting: true, limit, ...(after ? { after } : {}) });
  const items: InboxItem[] = [];
  for (const { id: session, title, phase } of rows) {
    // What cannot be read is told by `verify`, and must not hide what others wait for.
    if (phase === 'damaged') continue;
    for (const one of awaiting(await stateOf(session))) items.push({ session, title, ...one });
  }
  return { items, after: rows.length === limit ? (rows.at(-1)?.id ?? null) : null };
}

/** The whole list at once, and the whole list again whenever it has changed. */
export async function* watchInbox(
  owner: Owner,
  ports: InboxPorts,
  signal?: AbortSignal,
): AsyncGenerator<readonly InboxItem[], void, void> {
  let known: string | null = null;
  while (!signal?.aborted) {
    const heads = await headsOf(owner, ports);
    if (heads !== known) {
      known = heads;
      yield await whole(owner, ports);
    }
    await ports.clock.sleep(LOOK_MS, signal);
  }
}

/** What waits can change only where one of these logs has grown. */
async function headsOf(owner: Owner, { store }: InboxPorts): Promise<string> {
  const heads: string[] = [];
  for (let after: SessionId | undefined; ; ) {
    const rows = await store.list({ owner, awaiting: true, limit: PAGE, ...(after ? { after } : {}) });
    heads.push(...rows.map(({ id, head }) => `${id} ${head}`));
    after = rows.at(-1)?.id;
    if (rows.length < PAGE) return heads.join(',');
  }
}

async function whole(owner: Owner, ports: InboxPorts): Promise<readonly InboxItem[]> {
  const items: InboxItem[] = [];
  for (let after: SessionId | null | undefined; after !== null; ) {
    const page: Inbox = await inbox(owner, ports, { limit: PAGE, ...(after ? { after } : {}) });
    items.push(...page.items);
    after = page.after;
  }
  return items;
}
