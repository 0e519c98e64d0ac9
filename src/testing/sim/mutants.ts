/**
 * Planted bugs that stand between the runtime and its ports. The crash loop must catch each of them, or it is not
 * trusted. They stand here and in `patches.ts`, never as flags in the product.
 */

import type { Commit, Store } from '../../store/port.ts';
import type { Where } from './hunt.ts';
import type { Mutation } from './run.ts';

export interface Mutant {
  readonly name: string;
  readonly first?: Where;
  readonly mutation: () => Mutation;
}

export const MUTANTS: readonly Mutant[] = [
  { name: 'no fsync: a commit is acknowledged before it is durable', mutation: () => noFsync(() => true) },
  {
    name: 'model-made key: a new reference for each attempt',
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
    mutation: () => ({ tool: (tool) => ({ ...tool, find: async () => ({ status: 'absent' }) }) }),
  },
  {
    name: 'blind retry: a write without any help is taken for a read',
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
    mutation: () => ({
      tool: (tool) => ({
        ...tool,
        run: (args, context) =>
          tool.run(args, context).catch(() => ({ status: 'failed', code: 'timeout', message: 'timed out' })),
      }),
    }),
  },
  { name: 'forgotten keys: a repeated send is a new message', mutation: () => ({ store: forgetKeys }) },
  {
    name: 'sent before the mark: a request leaves while its dispatch is not durable',
    mutation: () => noFsync((commit) => commit.events.some((event) => event.kind === 'effect.dispatched')),
  },
];

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
    return wrap(real, {
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
  return wrap(store, {
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

function wrap(store: Store, changed: Partial<Store>): Store {
  return new Proxy(store, {
    get: (target, key) => Reflect.get(key in changed ? changed : target, key),
  });
}
