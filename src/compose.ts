/**
 * The only file that names concrete adapters: from options to a running Outlast.
 *
 * @example
 * ```ts
 * const outlast = await createOutlast({ dataDir: './.outlast', model: 'anthropic/claude-sonnet-5' });
 * ```
 */

import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { conversationOffer } from './conversation/conversation.ts';
import { OutlastError } from './core/error.ts';
import { parseOwner, type SessionId } from './core/ids.ts';
import type { Limits } from './core/limits.ts';
import type { Policy } from './core/policy.ts';
import { leaseDriver } from './driver/leases.ts';
import type { HandsAddress } from './hands/http.ts';
import { openHands } from './hands/open.ts';
import type { Environments } from './hands/port.ts';
import { systemClock } from './lib/clock.ts';
import { systemEntropy } from './lib/entropy.ts';
import { given } from './lib/given.ts';
import { keyFor, openSeal } from './lib/seal.ts';
import { localBell } from './loop/bell.ts';
import type { Ports } from './loop/ports.ts';
import { registry } from './loop/tools/registry.ts';
import { chooseModel, providerModel } from './models/ai-sdk/providers.ts';
import type { Model } from './models/port.ts';
import { checkPrices, knownPrices, type OwnPrices, pricesIn } from './models/prices.ts';
import { scriptedPlanner } from './models/scripted/planner.ts';
import type { Approver } from './runtime/approver.ts';
import { type Outlast, outlast } from './runtime/runtime.ts';
import { type OpenedProcesses, openProcesses, type ProcessOptions } from './sandbox/process/open.ts';
import type { Processes } from './sandbox/process/port.ts';
import { quickjsSandbox } from './sandbox/quickjs/sandbox.ts';
import { directoryShelf, memoryShelf } from './sandbox/quickjs/shelf.ts';
import { randomSealKey, sealKey } from './store/keys.ts';
import { memoryStore } from './store/memory.ts';
import type { Store } from './store/port.ts';
import { sqliteStore } from './store/sqlite/open.ts';
import { DELEGATION } from './tools/delegate/delegate.ts';
import { briefingOf } from './tools/fetch/briefing.ts';
import { fetchTool } from './tools/fetch/fetch.ts';
import type { Grant } from './tools/fetch/grant.ts';
import { httpTool } from './tools/fetch/http.ts';
import { FILE_TOOLS } from './tools/files/tools.ts';
import { type PolicyRule, parsePolicy, policyFrom } from './tools/policy-file.ts';
import type { Tool } from './tools/port.ts';
import { pythonTool } from './tools/python/python.ts';
import { jobsTool } from './tools/shell/jobs.ts';
import { shellTool } from './tools/shell/shell.ts';
import { directoryWorkspaces } from './workspace/directory.ts';
import type { Workspaces } from './workspace/port.ts';

export interface OutlastOptions {
  /** Where everything durable goes: the database, keys, engine builds. Without it nothing outlives the process. */
  readonly dataDir?: string;
  /** A store of one's own instead of the embedded one. */
  readonly store?: Store;
  /** A model, or `provider/model`. By default what the environment names; else the scripted planner. */
  readonly model?: Model | string;
  /**
   * Dollars for a million tokens, by `provider/model`: before those of `<dataDir>/prices.json`, and before the snapshot
   * that comes with the package. A model without any price is unpriced, and not called under a budget in money.
   */
  readonly prices?: OwnPrices;
  readonly tools?: readonly Tool[];
  /** Whether models get the tools on the files of their session. By default they do. */
  readonly files?: boolean;
  /** Services that code in cells may reach with `fetch`. */
  readonly grants?: readonly Grant[];
  /**
   * What may be done, what a person is asked about, what is not done: rules before the default ones, or the path of a
   * file with such rules. By default `policy.json` in the data folder, if there is one.
   */
  readonly policy?: string | { readonly rules: readonly PolicyRule[] };
  /**
   * Decides in code about what the policy asks, as a person would; what it leaves open, or fails at, is a person's. Without
   * one, people decide.
   */
  readonly approver?: Approver;
  /**
   * Whether the model gets a shell: by default where there is a data folder and a confinement that works here (`about`
   * says which). `unconfined` lets commands run without one: each is asked about, and sees what this process can see.
   * With hosts that they may reach (`api.example.org`, `*.example.org:443`), each is asked about, too.
   */
  readonly processes?: false | 'unconfined' | { readonly network: readonly string[] };
  /** Whether models get the tools to work with children: tasks that they start, go on with and stop. By default they do not. */
  readonly delegation?: boolean;
  /**
   * Where files and commands of sessions are, when that is not this machine: the address of an `outlast hands`, or
   * environments of another kind. What is confined, and what can be reached, is then said there.
   */
  readonly hands?: HandsAddress | Environments;
  /**
   * Limits of sessions that are started without their own. `kernelNoticeMs` lets a Python kernel with objects that cannot
   * be kept be given up so long after a notice; by default it never is.
   */
  readonly limits?: Partial<Limits>;
  /** Sessions of one owner that may work at once, unless the owner has a number of its own; by default 20. */
  readonly slots?: number;
  /** More for the system prompt, after the list of granted services. */
  readonly briefing?: string;
  /**
   * The rules of conversations, whole, in place of those that come with the package. By default `conversation.md` in the
   * data folder, if there is one.
   */
  readonly conversation?: { readonly prompt: string };
  readonly owner?: string;
  readonly report?: (line: string, cause?: unknown) => void;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface About {
  readonly model: { readonly name: string; readonly scripted: boolean };
  readonly dataDir: string | null;
  readonly store: string;
  /** What of processes is offered, and how they are confined. */
  readonly processes: string;
  /** What is kept of a Python kernel that is parked; null without one. */
  readonly parking: string | null;
}

const LEASE_MS = 15_000;
/** For a server that is just leaving. */
const WAIT_MS = 1_000;

export async function createOutlast(
  options: OutlastOptions = {},
): Promise<Outlast & { readonly about: About }> {
  const { dataDir, env = process.env, grants = [], tools = [], report = toStderr } = options;
  const clock = systemClock;
  const policy = policyIn(options.policy, dataDir);
  const model = modelOf(options.model, env);
  const own = dataDir ? await pricesIn(join(dataDir, 'prices.json')) : {};
  const prices = knownPrices({ ...own, ...checkPrices(options.prices ?? {}, 'createOutlast') });
  const key = dataDir ? await sealKey(dataDir, env) : randomSealKey();
  const sealer = openSeal(key);
  const shelf = dataDir ? directoryShelf(join(dataDir, 'engines')) : memoryShelf();
  const sandbox = quickjsSandbox({ mode: 'thread', shelf });
  const store = options.store ?? (dataDir ? await openStore(dataDir, report) : memoryStore(clock));
  const { workspaces, opened } = await placeOf(options, store, key, report);
  const processes = opened.offered ? opened.processes : undefined;
  const ports: Ports = {
    store,
    processes,
    model,
    prices,
    sandbox,
    workspaces,
    tools: registry([
      ...(grants.length > 0 ? reaching(fetchTool({ grants, sealer })) : []),
      ...(options.files === false ? [] : FILE_TOOLS),
      ...(options.delegation ? DELEGATION : []),
      ...(processes ? [shellTool(processes), jobsTool(processes), ...kernelOf(processes)] : []),
      ...tools,
    ]),
    conversation: conversationOffer({ prompt: promptIn(options, dataDir), limits: options.limits }),
    policy,
    clock,
    entropy: systemEntropy,
    bell: localBell(),
    sealer,
    holder: `${process.pid}.${systemEntropy.token(8)}`,
    leaseMs: LEASE_MS,
    slots: options.slots,
    briefing: [briefingOf(grants), options.briefing ?? ''].filter((text) => text !== '').join('\n\n'),
    report,
  };
  const about: About = {
    model: { name: model.name, scripted: model.scripted },
    dataDir: dataDir ?? null,
    store: options.store ? 'given' : dataDir ? 'sqlite' : 'memory',
    processes: opened.offered ? opened.processes.says : opened.says,
    parking: opened.offered ? opened.parking : null,
  };
  const driver = leaseDriver({ store, clock, report, slots: options.slots });
  return {
    ...outlast(ports, driver, parseOwner(options.owner ?? 'local'), {
      approver: options.approver,
      limits: options.limits,
    }),
    about,
  };
}

const kernelOf = (processes: Processes): readonly Tool[] =>
  processes.abilities.python === null ? [] : [pythonTool(processes)];

/** Where the files are, and the processes beside them: here, or on another machine. */
async function placeOf(
  options: OutlastOptions,
  store: Store,
  key: Uint8Array,
  report: ProcessOptions['report'],
): Promise<{ readonly workspaces: Workspaces; readonly opened: OpenedProcesses }> {
  const { dataDir, hands } = options;
  const here = dataDir
    ? directoryWorkspaces(join(dataDir, 'workspaces'))
    : directoryWorkspaces(mkdtempSync(join(tmpdir(), 'outlast-')), { isPassing: true });
  if (hands === undefined)
    return { workspaces: here, opened: await processesOf(options, store, key, report) };
  const remembered = dataDir ? join(dataDir, 'hands.json') : null;
  const there = await openHands({ hands, remembered, here, isHeld: heldIn(store), report });
  const isWanted = options.processes !== false;
  return {
    workspaces: there.workspaces,
    opened: isWanted
      ? { offered: true, processes: there.processes, parking: null }
      : { offered: false, says: NOT_WANTED },
  };
}

const NOT_WANTED = 'shell: not wanted';

const heldIn =
  (store: Store): ProcessOptions['isHeld'] =>
  async (session, epoch) => {
    const row = await store.row(session as SessionId);
    return row?.epoch === epoch;
  };

/** A command is confined to a folder that outlives this process; without one it has no place to be. */
async function processesOf(
  { dataDir, processes, env }: OutlastOptions,
  store: Store,
  key: Uint8Array,
  report: ProcessOptions['report'],
): Promise<OpenedProcesses> {
  if (processes === false) return { offered: false, says: NOT_WANTED };
  if (dataDir === undefined) return { offered: false, says: 'shell: not offered without a data folder' };
  return openProcesses({
    ...{
      dataDir: resolve(dataDir),
      isHeld: heldIn(store),
      imageKey: (session) => keyFor(key, `kernel of ${session}`),
      report,
    },
    ...given({ confinement: processes === 'unconfined' ? ('none' as const) : undefined, env }),
    ...(typeof processes === 'object' ? processes : {}),
  });
}

/** A policy that is there and cannot be read is refused: without it more would be allowed than somebody meant. */
function policyIn(given: OutlastOptions['policy'], dataDir: string | undefined): Policy {
  if (typeof given === 'object') return policyFrom(given.rules);
  const path = given ?? (dataDir === undefined ? undefined : join(dataDir, 'policy.json'));
  if (path === undefined || (given === undefined && !existsSync(path))) return policyFrom([]);
  try {
    return parsePolicy(readFileSync(path, 'utf8'));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'it cannot be read';
    throw new OutlastError('policy.invalid', `${path}: ${why}`, { next: 'correct the file', cause });
  }
}

function promptIn({ conversation }: OutlastOptions, dataDir: string | undefined): string | undefined {
  if (conversation !== undefined || dataDir === undefined) return conversation?.prompt;
  const path = join(dataDir, 'conversation.md');
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Two ways to the granted services: from code, and without. */
const reaching = (fetch: Tool): readonly Tool[] => [fetch, httpTool(fetch)];

/**
 * Waits until no other process has the data folder, however long that takes, and opens its store: for `createOutlast`, in
 * a process that stands by to take over. `waiting` is told once who has the folder, when somebody does.
 */
export async function standBy(
  dir: string,
  report: (line: string) => void,
  waiting: (held: OutlastError) => void,
): Promise<Store> {
  try {
    return await openStore(dir, report, 0);
  } catch (error) {
    if (!(error instanceof OutlastError && error.code === 'store.locked')) throw error;
    waiting(error);
  }
  return openStore(dir, report, Number.POSITIVE_INFINITY);
}

/** Damage is told at once: the sessions it touches are readable in part, the others work. */
async function openStore(dir: string, report: (line: string) => void, waitMs = WAIT_MS): Promise<Store> {
  const store = await sqliteStore({ dir, waitMs });
  const { structure, sessions } = store.findings();
  if (structure !== null) report(`the database is damaged: ${structure}`);
  for (const { session, readableTo, acknowledged, reason } of sessions) {
    report(`${session} is damaged: readable to event ${readableTo} of ${acknowledged}: ${reason}`);
  }
  return store;
}

function modelOf(
  given: Model | string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Model {
  if (typeof given === 'object') return given;
  if (given !== undefined) return providerModel(given, env);
  const chosen = chooseModel(env);
  return chosen ? providerModel(chosen.spec, env) : scriptedPlanner();
}

function toStderr(line: string, cause?: unknown): void {
  console.error(`outlast: ${line}${cause instanceof Error ? `: ${cause.message}` : ''}`);
}
