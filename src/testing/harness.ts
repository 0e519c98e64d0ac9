/**
 * A runtime in this process for tests that say: given this, when that, then this. Memory store, virtual clock, a model
 * that follows a script, services with books (`sim/world`), and workers that can be killed or frozen.
 *
 * H1  Time stands still until a test waits for a state (`until`, `done`, `rest`); then it jumps from timer to timer. So
 *     nothing here waits for a duration, and the same test takes the same course each time.
 * H2  `kill` drops everything that the worker has in memory: its calls never return, and what it sent goes on outside.
 *     `restart` lets the lease lapse and starts a worker with another holder's name on the same store and world.
 * H3  `faulty` stands between the workers and the store, `h.store` is the store itself.
 */

import { conversationOffer } from '../conversation/conversation.ts';
import type { Capability } from '../core/capability.ts';
import type { Event, ForeignEvent } from '../core/event.ts';
import { fold } from '../core/evolve.ts';
import type { Owner, SessionId } from '../core/ids.ts';
import type { Limits } from '../core/limits.ts';
import type { ModelRequest } from '../core/message.ts';
import { type Phase, phase } from '../core/phase.ts';
import type { Policy } from '../core/policy.ts';
import type { State } from '../core/state.ts';
import { decode } from '../core/upcast.ts';
import { leaseDriver } from '../driver/leases.ts';
import { seededEntropy } from '../lib/entropy.ts';
import { overlaid } from '../lib/overlaid.ts';
import { openSeal } from '../lib/seal.ts';
import { localBell } from '../loop/bell.ts';
import type { Ports } from '../loop/ports.ts';
import { registry } from '../loop/tools/registry.ts';
import { toCall } from '../models/ai-sdk/prompt.ts';
import {
  type GenerateOptions,
  type Model,
  ModelError,
  type ModelReply,
  type Prices,
} from '../models/port.ts';
import { checkLog } from '../projections/invariant/invariant.ts';
import type { Approver } from '../runtime/approver.ts';
import { type Outlast, outlast, type StartRequest } from '../runtime/runtime.ts';
import type { Sandbox } from '../sandbox/port.ts';
import type { Processes } from '../sandbox/process/port.ts';
import { type MemoryStore, memoryStore } from '../store/memory.ts';
import type { Store } from '../store/port.ts';
import type { Tool } from '../tools/port.ts';
import type { MemoryWorkspaces } from '../workspace/memory.ts';
import { quiet } from './quiet.ts';
import { heapPorts } from './sim/heap-ports.ts';
import { type Life, life } from './sim/life.ts';
import { ALLOW_ALL, type World, world } from './sim/world.ts';
import { type VirtualClock, virtualClock } from './virtual-clock.ts';

export { calls, read, say } from './sim/reply.ts';

/** One call of the model, counted from 1 over all workers. */
export interface Asked extends GenerateOptions {
  readonly n: number;
}

export type Reply =
  | ModelReply
  | ModelError
  | ((request: ModelRequest, asked: Asked) => Awaitable<ModelReply>);
type Awaitable<T> = T | Promise<T>;

/**
 * A function of the request, for tests that kill; or the replies in the order of the calls, one for each call whether or
 * not it comes to its end. Past the end of the list the model answers `done`.
 */
export type Script = readonly Reply[] | ((request: ModelRequest, asked: Asked) => Awaitable<ModelReply>);

export interface HarnessOptions {
  readonly model?: Script | Model;
  /** On top of those of the world: `look` (read), `pay` (keyed), `mail` (queryable), `post` (blind). */
  readonly tools?: readonly Tool[];
  /** `inlineSandbox()`, say. Without one, cells are refused. */
  readonly sandbox?: Sandbox;
  readonly limits?: Partial<Limits>;
  /** By default nothing has a price. */
  readonly prices?: Prices;
  readonly leaseMs?: number;
  /** By default as many as anybody needs. */
  readonly slots?: number;
  /** By default nobody is asked about anything. */
  readonly policy?: Policy;
  /** Where commands and kernels live; it is the outside, and workers that are killed leave it as it is. */
  readonly processes?: Processes;
  readonly approver?: Approver;
  /** Whether something real is under way, a wire say; virtual time stands still for it. */
  readonly isUnderWay?: () => boolean;
}

export interface Worker {
  readonly api: Outlast;
  readonly holder: string;
  /** H2. */
  kill(): void;
  /** The machine stops and does not know it; time goes on without it. */
  freeze(): void;
  thaw(): void;
}

export interface Harness {
  readonly clock: VirtualClock;
  readonly world: World;
  readonly store: MemoryStore;
  readonly workspaces: MemoryWorkspaces;
  /** H3: methods that stand in for those of the store, for all workers. */
  readonly faulty: Partial<Store>;
  /** The tools of workers that are started from now on. */
  tools: readonly Tool[];
  /** Of workers that are started from now on. */
  approver: Approver | undefined;
  /** The newest worker. */
  readonly worker: Worker;
  readonly api: Outlast;
  /** What the model was asked, in order, over all workers. */
  readonly requests: readonly ModelRequest[];
  readonly reports: readonly string[];
  /** Another worker beside the others, on the same store. */
  join(): Worker;
  /** H2: kills all workers and starts one. */
  restart(): Worker;
  start(message: string, request?: Omit<StartRequest, 'message'>): Promise<SessionId>;
  /** Says something to the conversation; the first word starts it. */
  converse(message: string): Promise<SessionId>;
  /** Lets time pass until nothing more happens by itself, and tells the phase. */
  rest(session: string): Promise<Phase>;
  /** `send`, and `rest`. */
  tell(session: string, message: string): Promise<Phase>;
  /** Lets time pass until the promise is settled. */
  done<T>(promise: Promise<T>): Promise<T>;
  /** Lets time pass until the condition holds; looks at each instant at which anything happens. */
  until(condition: () => boolean | Promise<boolean>, what: string): Promise<void>;
  /** Lets time pass: everything that is due in the next `ms` happens. */
  pass(ms: number): Promise<void>;
  log(session: string): Promise<readonly (Event | ForeignEvent)[]>;
  state(session: string): Promise<State>;
  /** What is wrong, at any time and in any test: invariants of the logs, and requests that a provider would refuse. */
  unsound(): Promise<readonly string[]>;
  /** Kills what is left. */
  end(): void;
}

const LEASE_MS = 15_000;
const SWEEP_MS = 5_000;
/** Virtual time after which a state that was waited for is not going to come. */
const BOUND_MS = 12 * 3_600_000;

export function harness(options: HarnessOptions = {}): Harness {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const outside = world(clock);
  const entropy = seededEntropy(7);
  const { workspaces } = outside;
  const sealer = openSeal(new Uint8Array(32).fill(1));
  const faulty: Partial<Store> = {};
  const requests: ModelRequest[] = [];
  const reports: string[] = [];
  const sessions = new Set<SessionId>();
  const workers: { worker: Worker; life: Life }[] = [];
  const model = scripted(options.model ?? [], requests);
  const {
    sandbox = noSandbox,
    leaseMs = LEASE_MS,
    slots = 1_000,
    policy = ALLOW_ALL,
    isUnderWay = () => false,
  } = options;

  const seen: Store = overlaid<Store>(store, faulty);

  function join(): Worker {
    let frozen: Promise<void> | undefined;
    let thaw = (): void => {};
    const own = life({ clock, at: () => frozen });
    const sleep: VirtualClock['sleep'] = async (ms, signal) => {
      await own.clock.sleep(ms, signal);
      await frozen;
    };
    const holder = `worker-${workers.length + 1}`;
    const ports: Ports = {
      store: own.port('store', seen),
      model: own.port('model', model),
      prices: options.prices ?? NO_PRICES,
      ...(options.processes ? { processes: own.port('processes', options.processes) } : {}),
      sandbox: heapPorts(own, sandbox),
      workspaces: own.port('workspaces', workspaces),
      conversation: conversationOffer({
        limits: options.limits,
        around: (one) => own.port(one.spec.name, one),
      }),
      tools: registry([...outside.tools(), ...self.tools].map((tool) => own.port(tool.spec.name, tool))),
      policy,
      clock: { ...own.clock, sleep },
      entropy,
      bell: localBell(),
      sealer,
      holder,
      leaseMs,
      slots,
      briefing: '',
      report: (line, cause) => {
        reports.push(cause instanceof Error ? `${holder}: ${line}: ${cause.message}` : `${holder}: ${line}`);
      },
    };
    const driver = leaseDriver({ ...ports, sweepMs: SWEEP_MS });
    const worker: Worker = {
      api: outlast(ports, driver, 'local' as Owner, { approver: self.approver }),
      holder,
      kill: () => own.end(),
      freeze() {
        frozen = new Promise((resolve) => {
          thaw = resolve;
        });
      },
      thaw() {
        frozen = undefined;
        thaw();
      },
    };
    workers.push({ worker, life: own });
    return worker;
  }

  async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const end = clock.now() + BOUND_MS;
    for (;;) {
      await quiet(
        workers.map(({ life }) => life),
        isUnderWay,
      );
      if (await condition()) return;
      if (clock.now() > end || !clock.advance()) throw new Error(`never: ${what}\n${await describe()}`);
    }
  }

  async function done<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const settle = () => {
      settled = true;
    };
    promise.then(settle, settle);
    await until(() => settled, 'a promise that is settled');
    return promise;
  }

  async function log(session: string): Promise<readonly (Event | ForeignEvent)[]> {
    const rows = await store.read(session as SessionId, 0, Number.MAX_SAFE_INTEGER);
    return rows.map(decode);
  }

  const state = async (session: string): Promise<State> => fold(await log(session));

  async function describe(): Promise<string> {
    const lines = [...sessions].map(async (session) => {
      const s = await state(session);
      return `${session}: ${phase(s)}, head ${s.head}, step ${JSON.stringify(s.turn?.step ?? null).slice(0, 500)}`;
    });
    return [...(await Promise.all(lines)), ...reports.slice(-5)].join('\n');
  }

  const self: Harness = {
    clock,
    world: outside,
    store,
    workspaces,
    faulty,
    tools: options.tools ?? [],
    approver: options.approver,
    get worker() {
      return (workers.at(-1) as (typeof workers)[number]).worker;
    },
    get api() {
      return this.worker.api;
    },
    requests,
    reports,
    join,
    restart() {
      this.end();
      clock.elapse(leaseMs + 1);
      return join();
    },
    async start(message, request = {}) {
      const limits = { ...options.limits, ...request.limits };
      const started = await done(this.api.start({ persist: true, ...request, message, limits }));
      sessions.add(started.session);
      return started.session;
    },
    rest: (session) => done(self.api.rest(session)),
    async converse(message) {
      const { session } = await done(this.api.converse(message));
      sessions.add(session);
      return session;
    },
    async tell(session, message) {
      await done(this.api.send(session, message));
      return this.rest(session);
    },
    done,
    until,
    async pass(ms) {
      const end = clock.now() + ms;
      // An alarm at the end, so that time is not moved past it.
      let rang = false;
      void clock.sleep(ms).then(() => {
        rang = true;
      });
      await until(() => rang && clock.now() >= end, 'the end of the wait');
    },
    log,
    state,
    async unsound() {
      const logs = [...sessions].map(async (session) =>
        checkLog(await log(session)).map((v) => `${session} at ${v.seq}: ${v.invariant}: ${v.detail}`),
      );
      return [...(await Promise.all(logs)).flat(), ...requests.flatMap(refusals)];
    },
    end() {
      for (const { worker } of workers) worker.kill();
    },
  };
  join();
  return self;
}

/** A tool of a test: what it does is `run`, and nothing is checked. */
export function tool(name: string, capability: Capability, run: Tool['run'], more: Partial<Tool> = {}): Tool {
  return {
    spec: { name, description: `The tool ${name} of a test.`, input: { type: 'object' } },
    direct: true,
    plan: (args) => ({ capability, target: `${name} service`, identity: null, args }),
    run,
    ...more,
  };
}

/** Holds whoever passes until it is opened. */
export interface Gate {
  /** How many have come to it. */
  readonly reached: number;
  pass(): Promise<void>;
  pass<T>(value: T): Promise<T>;
  open(): void;
}

export function gate(): Gate {
  let reached = 0;
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    get reached() {
      return reached;
    },
    pass<T>(value?: T): Promise<T> {
      reached++;
      return opened.then(() => value as T);
    },
    open: () => open(),
  };
}

/**
 * What a provider would refuse in this request, now and for ever: a call without its one result right behind it, a result
 * without its call, an empty message or block, a half character, an id that stands twice.
 */
export function refusals(request: ModelRequest): readonly string[] {
  const { prompt } = toCall(request);
  const found: string[] = [];
  const ids = new Set<string>();
  for (const [index, message] of prompt.entries()) {
    const said = message.content;
    if (typeof said === 'string' ? said.trim() === '' : said.length === 0) found.push(`${index}: empty`);
    if (typeof said === 'string') continue;
    const asked = said.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []));
    for (const id of asked) {
      if (ids.has(id)) found.push(`${index}: the id ${id} stands twice`);
      ids.add(id);
    }
    const behind = prompt[index + 1];
    const answered = behind?.role === 'tool' ? behind.content.map((part) => part.toolCallId) : [];
    if (message.role === 'assistant' && asked.join() !== answered.join()) {
      found.push(`${index}: calls ${asked.join(' ')}, results ${answered.join(' ')}`);
    }
    if (message.role === 'tool' && prompt[index - 1]?.role !== 'assistant') {
      found.push(`${index}: results without calls`);
    }
    for (const part of said) {
      if (part.type === 'text' && part.text.trim() === '') found.push(`${index}: an empty block`);
    }
  }
  if (/\p{Surrogate}/u.test(texts(prompt).join('\n'))) found.push('half a character');
  return found;
}

function texts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : [];
}

/** The script as a model that heeds its signal, as every adapter does. */
function scripted(script: Script | Model, requests: ModelRequest[]): Model {
  if ('generate' in script) {
    return {
      ...script,
      generate(request, options) {
        requests.push(request);
        return script.generate(request, options);
      },
    };
  }
  return {
    name: 'scripted/test',
    scripted: true,
    async generate(request, options) {
      requests.push(request);
      let partial = '';
      const asked: Asked = {
        ...options,
        n: requests.length,
        onText(delta) {
          partial += delta;
          options.onText?.(delta);
        },
      };
      const aborted = new Promise<never>((_, reject) => {
        const abort = () => reject(new ModelError('aborted', 'interrupted', { retry: false, partial }));
        options.signal.addEventListener('abort', abort, { once: true });
      });
      return Promise.race([reply(script, request, asked), aborted]);
    },
  };
}

async function reply(script: Script, request: ModelRequest, asked: Asked): Promise<ModelReply> {
  const next = typeof script === 'function' ? script : (script[asked.n - 1] ?? DONE);
  const given = typeof next === 'function' ? await next(request, asked) : next;
  if (given instanceof ModelError) throw given;
  return given;
}

const NO_PRICES: Prices = { price: async () => null };

const DONE: ModelReply = {
  parts: [{ type: 'text', text: 'done' }],
  finish: 'stop',
  usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
};

const none = (): Promise<never> => Promise.reject(new Error('this test has no sandbox'));

const noSandbox: Sandbox = {
  engine: 'none',
  prepare: () => ({ ok: false, message: 'this test has no sandbox' }),
  create: none,
  restore: none,
  replay: none,
  close: async () => {},
};
