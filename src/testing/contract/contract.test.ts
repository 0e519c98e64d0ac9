/** Every clause can fail: for each, planted bugs in the adapter, the outside or the store, and what must catch them. */

import { describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { memoryStore } from '../../store/memory.ts';
import type { Store } from '../../store/port.ts';
import { contract } from './contract.ts';
import { contract as exported } from './index.ts';
import { onStore } from './outlast.ts';
import { NotOffered, type Outside, type Runtime, type Subject } from './port.ts';

const PATIENCE_MS = 60_000;

async function put(subject: Subject, clause: string) {
  const { list } = await contract(subject, { only: [clause] });
  return list[0] ?? { name: clause, passed: true, detail: 'no such clause', evidence: [] };
}

/** The same subject, with methods of its runtime or of its outside replaced. `life` counts the openings of a folder. */
function mutant(change: {
  readonly runtime?: (runtime: Runtime, life: number) => Partial<Runtime>;
  readonly outside?: (outside: Outside) => Partial<Outside>;
  readonly store?: () => Store;
  readonly leaseMs?: number;
}): Subject {
  const make = async () => change.store?.() ?? memoryStore(systemClock);
  const of = onStore('mutant', 'a planted bug', make, change.leaseMs);
  const lives = new Map<string, number>();
  return {
    ...of,
    async open(folder, outside, gate) {
      const life = (lives.get(folder) ?? 0) + 1;
      lives.set(folder, life);
      const own: Outside = {
        think: (conversation) => outside.think(conversation),
        call: (service, what, key) => outside.call(service, what, key),
        find: (service, key) => outside.find(service, key),
      };
      const runtime = await of.open(folder, { ...own, ...change.outside?.(own) }, gate);
      return { ...runtime, ...change.runtime?.(runtime, life) };
    },
  };
}

let n = 0;

const PLANTED: readonly (readonly [clause: string, bug: string, subject: () => Subject])[] = [
  [
    'prefix continuation',
    'an entry is written anew by recovery',
    () =>
      mutant({
        runtime: (own, life) => ({
          transcript: async (session) =>
            (await own.transcript(session)).map((entry, i) => (life > 1 && i === 1 ? `${entry} ` : entry)),
        }),
      }),
  ],
  [
    'prefix continuation',
    'the newest entry is lost by recovery',
    () =>
      mutant({
        runtime: (own, life) => ({
          transcript: async (session) => {
            const entries = await own.transcript(session);
            return life > 1 ? entries.toSpliced(5, 1) : entries;
          },
        }),
      }),
  ],
  [
    'effects',
    'every attempt has a key of its own',
    () =>
      mutant({
        outside: (own) => ({ call: (service, what, key) => own.call(service, what, `${key}.${n++}`) }),
      }),
  ],
  [
    'effects',
    'what is looked for is never found',
    () => mutant({ outside: () => ({ find: async () => null }) }),
  ],
  [
    'fork determinism',
    'a fork is the session itself',
    () => mutant({ runtime: () => ({ fork: async (session) => session }) }),
  ],
  [
    'fork determinism',
    'a fork is made of the newest state, whatever is asked for',
    () =>
      mutant({
        runtime: (own) => ({
          fork: async (session) => own.fork(session, (await own.checkpoints(session)).at(-1) ?? ''),
        }),
      }),
  ],
  [
    'fork determinism',
    'the model is told what differs from fork to fork',
    () =>
      mutant({
        runtime: (own) => ({
          send: (session, message, key) =>
            own.send(session, message.replace('Three is done', `Three is done ${n++}`), key),
        }),
      }),
  ],
  [
    'checkpoint validity',
    'one is listed that is not there',
    () =>
      mutant({ runtime: (own) => ({ checkpoints: async (s) => [...(await own.checkpoints(s)), '9999'] }) }),
  ],
  [
    'checkpoint validity',
    'the model is handed a call without its result',
    () =>
      mutant({
        outside: (own) => ({
          think: (told) => {
            const now = told.findLastIndex(({ role, text }) => role === 'user' && text.startsWith('do['));
            return own.think(told.filter(({ role }, i) => role !== 'result' || i > now));
          },
        }),
      }),
  ],
  [
    'consume once',
    'the key of a message is thrown away',
    () =>
      mutant({ runtime: (own) => ({ send: (s, message, key) => own.send(s, message, `${key}.${n++}`) }) }),
  ],
  [
    'consume once',
    'an answer goes to whatever question is open',
    () =>
      mutant({
        runtime: (own) => ({
          async decide(session, question, answer) {
            const [open] = await own.questions(session);
            await own.decide(session, open?.id ?? question, answer);
            await own.rest(session);
          },
        }),
      }),
  ],
  [
    'recovery determinism',
    'recovery says something of its own',
    () =>
      mutant({
        runtime: (own) => ({
          start: async (message) => {
            const session = await own.start(message);
            started.add(session);
            return session;
          },
          recover: async () => {
            await own.recover();
            for (const session of started) {
              await own.send(session, `do[nudge] say It is ${n++}`, `nudge ${n}`).catch(() => {});
            }
          },
        }),
      }),
  ],
  [
    'unknown is not failure',
    'a lost answer becomes a failure',
    () =>
      mutant({
        outside: (own) => ({
          call: (service, what, key) =>
            own.call(service, what, key).catch(() => ({ status: 'refused' as const, reason: 'no answer' })),
        }),
      }),
  ],
  [
    'unknown is not failure',
    'a lost answer is tried again, whatever the service',
    () =>
      mutant({
        outside: (own) => ({
          call: (service, what, key) =>
            own.call(service, what, key).catch(() => own.call(service, what, key)),
        }),
      }),
  ],
  [
    'an older worker changes nothing',
    'the store knows no epoch and no head',
    () => mutant({ store: unfenced }),
  ],
  [
    'claims follow receipts',
    'beside an answer stands what the model says',
    () =>
      mutant({
        runtime: (own) => ({
          statements: async (session) =>
            (await own.statements(session)).map(({ text, effects }) => ({
              text,
              effects: effects.map(({ what }) => ({ what, status: 'done' })),
            })),
        }),
      }),
  ],
  [
    'claims follow receipts',
    'nothing stands beside an answer',
    () =>
      mutant({
        runtime: (own) => ({
          statements: async (session) =>
            (await own.statements(session)).map(({ text }) => ({ text, effects: [] })),
        }),
      }),
  ],
];

const started = new Set<string>();

/** Whoever asks gets the lease, and whoever commits is right, on whatever stands by now. */
function unfenced(): Store {
  const store = memoryStore(systemClock);
  return {
    ...store,
    async commit(commit) {
      const row = await store.row(commit.session);
      if (!row) return store.commit(commit);
      const events = commit.events.map((event, i) => ({ ...event, seq: row.head + 1 + i }));
      return store.commit({ ...commit, head: row.head, epoch: null, events });
    },
    async acquire(session, holder, ttlMs) {
      store.bury();
      return store.acquire(session, holder, ttlMs);
    },
    renew: async () => true,
  };
}

describe('the contract', () => {
  it('is kept over a store that is given', { timeout: PATIENCE_MS }, async () => {
    const { clauses, passed, list } = await exported({ store: async () => memoryStore(systemClock) });
    expect(list.filter((result) => !result.passed)).toEqual([]);
    expect([clauses, passed]).toEqual([9, 9]);
  });

  it.each(PLANTED)('%s: %s', { timeout: PATIENCE_MS }, async (clause, _bug, subject) => {
    const { name, passed, detail } = await put(subject(), clause);
    expect({ name, passed, detail }).toMatchObject({ name: clause, passed: false });
    expect(detail).not.toMatch(/^(broke off|not offered)/);
  });

  it('what is not offered counts as not passed, with the reason', async () => {
    const refuse = async () => {
      throw new NotOffered('it has no forks');
    };
    const result = await put(mutant({ runtime: () => ({ fork: refuse }) }), 'fork determinism');
    expect(result).toMatchObject({ passed: false, detail: 'not offered: it has no forks' });
  });
});
