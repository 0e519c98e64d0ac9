/**
 * Planted bugs that stand between the runtime and its ports. The crash loop must catch each of them, or it is not
 * trusted. They stand here and in `patches.ts`, never as flags in the product.
 */

import { overlaid } from '../../lib/overlaid.ts';
import type { Commit, Store } from '../../store/port.ts';
import type { Where } from './hunt.ts';
import type { Mutation } from './machine.ts';
import { SPENDERS } from './mutants/spenders.ts';

export interface Mutant {
  readonly name: string;
  readonly first?: Where;
  readonly mutation: () => Mutation;
}

export const MUTANTS: readonly Mutant[] = [
  ...SPENDERS,
  {
    name: 'no fsync: a commit is acknowledged before it is durable',
    first: { scenario: 'effects side by side', mode: 'crash', near: 'store.commit' },
    mutation: () => noFsync(() => true),
  },
  {
    name: 'model-made key: a new reference for each attempt',
    first: { scenario: 'effects side by side' },
    mutation: () => ({
      tool: (tool) => ({
        ...tool,
        run: (args, context) =>
          tool.run(args, { ...context, reference: `${context.reference}~${context.attempt}` }),
      }),
    }),
  },
  {
    name: 'naive query: absence is believed before it can be known',
    first: { scenario: 'effects side by side', mode: 'crash', near: 'pay.run' },
    mutation: () => ({ tool: (tool) => ({ ...tool, find: async () => ({ status: 'absent' }) }) }),
  },
  {
    name: 'blind retry: a write without any help is taken for a read',
    first: { scenario: 'a blind effect', mode: 'crash', near: 'post.run' },
    mutation: () => ({
      tool: (tool) => ({
        ...tool,
        plan: (args) => {
          const plan = tool.plan(args);
          const blind = !('refused' in plan) && plan.capability.kind === 'blind';
          return blind ? { ...plan, capability: { kind: 'read' } } : plan;
        },
      }),
    }),
  },
  {
    name: 'unknown is failed: a missing answer is reported as a failure',
    first: { scenario: 'an extra that can be undone' },
    mutation: () => ({
      tool: (tool) => ({
        ...tool,
        run: (args, context) =>
          tool.run(args, context).catch(() => ({ status: 'failed', code: 'timeout', message: 'timed out' })),
      }),
    }),
  },
  {
    name: 'forgotten keys: a repeated send is a new message',
    first: { scenario: 'a cell that waits for a person', mode: 'crash', near: 'store.commit' },
    mutation: () => ({ store: forgetKeys }),
  },
  {
    name: 'sent before the mark: a request leaves while its dispatch is not durable',
    first: { scenario: 'effects side by side', mode: 'crash', near: 'store.commit' },
    mutation: () => noFsync((commit) => commit.events.some((event) => event.kind === 'effect.dispatched')),
  },
  {
    // One start, two sessions, and everything is done twice.
    name: 'forgotten starts: a start that is repeated is a new session',
    first: { scenario: 'effects side by side', mode: 'crash', near: 'store.commit' },
    mutation: () => ({
      store: (real) => overlaid(real, { commit: (commit) => real.commit({ ...commit, startKey: null }) }),
    }),
  },
  {
    // A file that was renamed before its content was on the disk.
    name: 'events without blobs: what a commit names becomes durable after the commit',
    first: { scenario: 'stop and reopen', mode: 'crash', near: 'store.commit' },
    mutation: lateBlobs,
  },
  {
    // An epoch that nobody looks at; the holder that was replaced goes on with its facts.
    name: 'no fence: a commit is taken under any epoch',
    first: { scenario: 'nobody to ask', mode: 'contend', near: 'store.commit' },
    mutation: () => ({
      store: (real) =>
        overlaid(real, {
          async commit(commit) {
            const row = commit.epoch === null ? null : await real.row(commit.session);
            return real.commit(row ? { ...commit, epoch: row.epoch } : commit);
          },
        }),
    }),
  },
  {
    // Compare-and-append without the comparison: what was decided on an old head stands at the new one.
    name: 'no head: a commit is appended wherever the log is by now',
    first: { scenario: 'effects side by side', mode: 'stop', near: 'store.commit' },
    mutation: () => ({
      store: (real) =>
        overlaid(real, {
          async commit(commit) {
            const head = (await real.row(commit.session))?.head ?? 0;
            const events = commit.events.map((event, i) => ({ ...event, seq: head + 1 + i }));
            return real.commit({ ...commit, head, events });
          },
        }),
    }),
  },
];

/** Keeps the blobs of the newest commit in memory; the next machine does not find them. */
function lateBlobs(): Mutation {
  let late: Commit['blobs'] = [];
  return {
    store: (real) =>
      overlaid(real, {
        async commit(commit) {
          const result = await real.commit({ ...commit, blobs: late });
          if (result.status === 'committed') late = commit.blobs;
          return result;
        },
        async blob(session, ref) {
          return late.find((blob) => blob.ref === ref)?.bytes ?? real.blob(session, ref);
        },
      }),
    crashed() {
      late = [];
    },
  };
}

/** Keeps the newest commit in memory when it is one of `which`; the next machine does not find it. */
function noFsync(which: (commit: Commit) => boolean): Mutation {
  let pending: Commit | null = null;
  const covers = (session: string): Commit | null => (pending?.session === session ? pending : null);
  const store = (real: Store): Store => {
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
        const held = covers(commit.session)?.events.length ?? 0;
        if (commit.head !== head + held) return { status: 'conflict', head: head + held };
        await flush();
        if (!which(commit)) return real.commit(commit);
        pending = commit;
        return { status: 'committed' };
      },
      async read(session, after, limit) {
        const rows = await real.read(session, after, limit);
        const held = covers(session)?.events.filter((event) => event.seq > after) ?? [];
        return rows.length < limit ? [...rows, ...held].slice(0, limit) : rows;
      },
      async blob(session, ref) {
        const held = covers(session)?.blobs.find((blob) => blob.ref === ref);
        return held ? held.bytes : real.blob(session, ref);
      },
    });
  };
  return {
    store,
    crashed() {
      pending = null;
    },
  };
}

function forgetKeys(store: Store): Store {
  return overlaid(store, {
    commit: (commit) =>
      store.commit({
        ...commit,
        events: commit.events.map((event) =>
          event.kind === 'message.accepted'
            ? { ...event, body: JSON.stringify({ ...(JSON.parse(event.body) as object), key: null }) }
            : event,
        ),
      }),
  });
}
