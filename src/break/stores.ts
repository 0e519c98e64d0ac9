/** Ablations that stand between the runtime and its store: they take away what the log promises. */

import { overlaid } from '../lib/overlaid.ts';
import type { Commit, Store } from '../store/port.ts';

/**
 * No durable mark of sending: the intent is on disk, that it was sent is in memory until the next commit. What a runtime
 * that saves before and after a call, and not between, knows after a crash.
 */
export function withoutMark(real: Store): Store {
  let pending: Commit | null = null;
  const held = (session: string) => (pending?.session === session ? pending.events : []);
  const flush = async (): Promise<void> => {
    const kept = pending;
    pending = null;
    if (kept) await real.commit(kept);
  };
  return overlaid(real, {
    async commit(commit) {
      if (commit.epoch === null) {
        await flush();
        return real.commit(commit);
      }
      const head = (await real.row(commit.session))?.head ?? 0;
      const own = held(commit.session).length;
      if (own > 0 && commit.head !== head + own) return { status: 'conflict', head: head + own };
      await flush();
      const at = commit.events.findIndex(({ kind }) => kind === 'effect.dispatched');
      if (at < 0) return real.commit(commit);
      const result =
        at === 0
          ? ({ status: 'committed' } as const)
          : await real.commit({ ...commit, events: commit.events.slice(0, at) });
      if (result.status === 'committed')
        pending = { ...commit, head: commit.head + at, events: commit.events.slice(at), blobs: [] };
      return result;
    },
    async read(session, after, limit) {
      const rows = await real.read(session, after, limit);
      const more = held(session).filter((event) => event.seq > after);
      return rows.length < limit ? [...rows, ...more].slice(0, limit) : rows;
    },
  });
}

/**
 * No fence: commits and slots are taken under any epoch. The lease, as short as the store has it, still decides who begins;
 * the loser is not told.
 */
export function withoutFence(real: Store, leaseMs: number): Store {
  return overlaid(real, {
    async claim(session, epoch, slots) {
      const row = await real.row(session);
      return real.claim(session, row?.epoch ?? epoch, slots, leaseMs);
    },
    async commit(commit) {
      const row = commit.epoch === null ? null : await real.row(commit.session);
      return real.commit(row ? { ...commit, epoch: row.epoch } : commit);
    },
    acquire: (session, holder) => real.acquire(session, holder, leaseMs),
  });
}
