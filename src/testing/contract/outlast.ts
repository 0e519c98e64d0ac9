/**
 * Outlast under the port of the contract: over SQLite with a process for each life, and over any `Store` with workers of
 * one process.
 *
 * O1  What a clause is told comes from the public API: events, the inspection, the claims beside a response.
 * O2  Workers of one process have short leases, since nothing can prove one of them dead.
 */

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { createOutlast } from '../../compose.ts';
import type { Capability } from '../../core/capability.ts';
import { OutlastError } from '../../core/error.ts';
import type { Event, ForeignEvent } from '../../core/event.ts';
import type { Owner } from '../../core/ids.ts';
import type { ModelRequest, RequestMessage } from '../../core/message.ts';
import { leaseDriver } from '../../driver/leases.ts';
import { systemClock } from '../../lib/clock.ts';
import { systemEntropy } from '../../lib/entropy.ts';
import { isRecord } from '../../lib/json.ts';
import { overlaid } from '../../lib/overlaid.ts';
import { openSeal } from '../../lib/seal.ts';
import { localBell } from '../../loop/bell.ts';
import { registry } from '../../loop/tools/registry.ts';
import type { Model, ReplyPart } from '../../models/port.ts';
import { type Outlast, outlast } from '../../runtime/runtime.ts';
import { memoryStore } from '../../store/memory.ts';
import type { Store } from '../../store/port.ts';
import { sqliteStore } from '../../store/sqlite/open.ts';
import { defineTool, failure } from '../../tools/own.ts';
import { type PolicyRule, policyFrom } from '../../tools/policy-file.ts';
import type { Tool } from '../../tools/port.ts';
import { memoryWorkspaces } from '../../workspace/memory.ts';
import { inlineSandbox } from '../inline-sandbox.ts';
import { copyStore } from './copy.ts';
import { through } from './lives.ts';
import {
  type Gate,
  type Outside,
  Refused,
  type Runtime,
  type Service,
  type Statement,
  type Subject,
  type Told,
  type Wanted,
} from './port.ts';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

const LATE_MS = 50;
const CAPABILITIES: Readonly<Record<Service, Capability>> = {
  keyed: { kind: 'keyed', retentionMs: 3_600_000 },
  queryable: { kind: 'queryable', lateMs: LATE_MS },
  blind: { kind: 'blind' },
};
/** The clauses are about what comes after a request has left; who may send it is another matter. */
const ALL: PolicyRule = { name: 'all', verdict: 'allow' };
const LEASE_MS = 1_000;

/** SQLite, a process for each life, put together as the server does it. */
export const subject: Subject = {
  name: 'outlast',
  version,
  settings: ['createOutlast over SQLite, one process for each life, SIGKILL', 'defaults throughout'],
  lives: 'process',
  module: import.meta.url,
  async open(folder, outside) {
    try {
      const api = await createOutlast({
        ...{ dataDir: folder, model: modelOf(outside), tools: toolsOf(outside) },
        policy: { rules: [ALL] },
      });
      return runtimeOf(api);
    } catch (error) {
      if (error instanceof OutlastError && error.code === 'store.locked')
        throw new Refused(`${error.code}, the data folder has one process at a time`);
      throw error;
    }
  },
  together: onStore('outlast', 'two workers of one process on one SQLite store', (dir) =>
    sqliteStore({ dir }),
  ),
};

export const memory: Subject = onStore(
  'outlast (memory store)',
  'the memory store, workers of one process',
  () => Promise.resolve(memoryStore(systemClock)),
);

/** Outlast over a store of one's own: a fresh one for each folder, which is kept between the lives on it. */
export function onStore(
  name: string,
  how: string,
  make: (folder: string) => Promise<Store>,
  leaseMs = LEASE_MS,
): Subject {
  const stores = new Map<string, Store>();
  const sealer = openSeal(new Uint8Array(32).fill(7));

  async function storeOf(folder: string): Promise<Store> {
    const store = stores.get(folder) ?? (await make(folder));
    stores.set(folder, store);
    return store;
  }

  return {
    name,
    version,
    settings: [how, `a lease of ${leaseMs} ms`],
    lives: 'inline',
    async open(folder, outside, gate) {
      const store = through(gate, await storeOf(folder));
      const clock = gatedClock(gate);
      const report = (): void => {};
      const api = outlast(
        {
          store: unclosed(store),
          model: modelOf(outside),
          tools: registry(toolsOf(outside)),
          policy: policyFrom([ALL]),
          prices: { price: async () => null },
          sandbox: await inlineSandbox(),
          workspaces: memoryWorkspaces(),
          clock,
          entropy: systemEntropy,
          bell: localBell(),
          sealer,
          holder: `worker.${systemEntropy.token(8)}`,
          leaseMs,
          briefing: '',
          report,
        },
        leaseDriver({ store, clock, report, sweepMs: 50 }),
        'local' as Owner,
      );
      return runtimeOf(api);
    },
    async copy(from, to) {
      await copyStore(await storeOf(from), await storeOf(to));
    },
    async close() {
      for (const store of stores.values()) await store.close();
      stores.clear();
    },
  };
}

function gatedClock({ pass }: Gate): typeof systemClock {
  return {
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic(),
    async sleep(ms, signal) {
      await systemClock.sleep(ms, signal);
      await pass();
    },
  };
}

/** Its worker closes nothing: others may work on it. */
const unclosed = (store: Store): Store => overlaid(store, { close: async () => {} });

function toolsOf(outside: Outside): readonly Tool[] {
  return (Object.keys(CAPABILITIES) as Service[]).map((service) =>
    defineTool({
      name: service,
      description: `The ${service} service.`,
      input: z.object({ what: z.string() }),
      capability: CAPABILITIES[service],
      target: ({ what }) => what,
      run: async ({ what }, { reference }) => {
        const answer = await outside.call(service, what, reference);
        return answer.status === 'done' ? answer.receipt : failure('refused', answer.reason);
      },
      find: async (_args, { reference }) => {
        const found = await outside.find(service, reference);
        return found?.status === 'done' ? { status: 'done', result: found.receipt } : { status: 'absent' };
      },
    }),
  );
}

const USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

function modelOf(outside: Outside): Model {
  return {
    name: 'scripted/contract',
    scripted: true,
    async generate(request) {
      const reply = await outside.think(toldBy(request));
      if ('say' in reply) return { parts: [{ type: 'text', text: reply.say }], finish: 'stop', usage: USAGE };
      const { tool, what } = reply.call;
      const call: ReplyPart =
        tool === 'ask'
          ? { type: 'tool-call', tool: 'ask_person', input: { question: what } }
          : { type: 'tool-call', tool, input: { what } };
      return { parts: [call], finish: 'tool-calls', usage: USAGE };
    },
  };
}

function toldBy({ messages }: ModelRequest): readonly Told[] {
  return messages.flatMap((message: RequestMessage): Told[] => {
    switch (message.role) {
      case 'user':
        return [{ role: 'user', text: message.text }];
      case 'assistant': {
        const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
        const calls = message.parts.flatMap((part) => (part.type === 'tool-call' ? [wanted(part)] : []));
        return [{ role: 'assistant', text, calls }];
      }
      default:
        return message.results.map(({ status, text }) => ({
          role: 'result',
          status: statusOf(status),
          text,
        }));
    }
  });
}

function wanted({ tool, input }: { readonly tool: string; readonly input: unknown }): Wanted {
  const { what, question } = isRecord(input) ? input : {};
  return tool === 'ask_person'
    ? { tool: 'ask', what: String(question) }
    : { tool: tool as Service, what: String(what) };
}

/** A call that was suspended or interrupted is as open as an unknown one; a refused one did not happen. */
function statusOf(status: string): 'done' | 'failed' | 'unknown' {
  if (status === 'done') return 'done';
  return status === 'failed' || status === 'refused' ? 'failed' : 'unknown';
}

function runtimeOf(api: Outlast): Runtime {
  async function log(session: string): Promise<readonly (Event | ForeignEvent)[]> {
    const events: (Event | ForeignEvent)[] = [];
    for (;;) {
      const page = await api.events(session, events.length, 1_000);
      events.push(...page);
      if (page.length < 1_000) return events;
    }
  }

  return {
    start: async (message) => (await api.start({ message, persist: true })).session,
    async send(session, message, key) {
      await api.send(session, message, { key, when: 'now' });
    },
    /** The runtime looks for what is due by itself. */
    recover: async () => {},
    async rest(session) {
      await api.rest(session);
    },
    transcript: async (session) =>
      (await log(session)).map((event) => `${event.kind} ${JSON.stringify(event)}`),
    conversation: async (session) => (await log(session)).flatMap(inWords),
    questions: async (session) =>
      (await api.inspect(session)).decisions.map(({ id, question }) => ({ id, text: question })),
    async decide(session, question, answer) {
      await api.decide(session, question, 'answer', answer);
    },
    statements: async (session) => (await log(session)).flatMap(statement),
    checkpoints: async (session) => (await log(session)).map(({ seq }) => String(seq)),
    fork: async (session, checkpoint) => (await api.fork(session, { at: Number(checkpoint) })).session,
    close: () => api.close(),
  };
}

/** What stands in words. What was copied by a fork stands before `session.forked`, as in the original. */
function inWords(event: Event | ForeignEvent): readonly string[] {
  switch (event.kind) {
    case 'message.accepted':
      return [`person: ${event.text}`];
    case 'response.surfaced':
      return [`answer: ${event.text}`];
    case 'turn.failed':
      return [`failed: ${event.reason}`];
    case 'decision.requested':
      return [`asks: ${event.question}`];
    case 'decision.made':
      return [`person: ${event.answer} ${event.text}`];
    case 'effect.settled':
      return [`effect: ${event.effect} ${event.outcome.status}`];
    case 'effect.reconciled':
      return [`effect: ${event.effect} ${event.finding.status}`];
    default:
      return [];
  }
}

/** What a person reads: answers and failures with the claims beside them, and questions about effects. */
function statement(event: Event | ForeignEvent): readonly Statement[] {
  if (event.kind !== 'response.surfaced' && event.kind !== 'turn.failed') return [];
  const text = event.kind === 'turn.failed' ? event.reason : event.text;
  return [{ text, effects: event.claims.map(({ target, status }) => ({ what: target, status })) }];
}
