/** One machine of the simulator: the whole runtime on ports that are boundaries of one life. */

import { conversationOffer } from '../../conversation/conversation.ts';
import type { Owner } from '../../core/ids.ts';
import type { Limits } from '../../core/limits.ts';
import type { ModelRequest, Usage } from '../../core/message.ts';
import type { Policy } from '../../core/policy.ts';
import { leaseDriver } from '../../driver/leases.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Entropy } from '../../lib/entropy.ts';
import type { Bell } from '../../loop/bell.ts';
import type { Ports, Sealer } from '../../loop/ports.ts';
import { registry } from '../../loop/tools/registry.ts';
import { type Model, ModelError, type ModelReply, type Prices } from '../../models/port.ts';
import { type Outlast, outlast } from '../../runtime/runtime.ts';
import type { Sandbox } from '../../sandbox/port.ts';
import type { Processes } from '../../sandbox/process/port.ts';
import type { Store } from '../../store/port.ts';
import type { Tool } from '../../tools/port.ts';
import type { Workspaces } from '../../workspace/port.ts';
import { heapPorts } from './heap-ports.ts';
import type { Life } from './life.ts';
import type { ProviderFailure } from './meanwhile.ts';

/** What a planted bug may put between the runtime and its ports. */
export interface Mutation {
  store?(store: Store): Store;
  tool?(tool: Tool): Tool;
  sandbox?(sandbox: Sandbox): Sandbox;
  workspaces?(workspaces: Workspaces): Workspaces;
  model?(model: Model): Model;
  prices?(prices: Prices): Prices;
  /** The machine is gone, and with it what was only in its memory. */
  crashed?(): void;
}

export interface MachineOptions {
  readonly holder: string;
  readonly store: Store;
  /** The world's; the machine goes by that of its life. */
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly bell: Bell;
  readonly tools: readonly Tool[];
  readonly policy: Policy;
  readonly sandbox: Sandbox;
  /** They outlive the machine, like a disk. */
  readonly workspaces: Workspaces;
  /** They outlive it as well. */
  readonly processes?: Processes | undefined;
  readonly reply: (request: ModelRequest) => ModelReply;
  readonly prices: Prices;
  /** The provider takes its money, whoever still listens. */
  readonly charge: (usage: Usage) => void;
  /** How the call that is made now ends, if it is to fail; by default none does. */
  readonly failing?: () => ProviderFailure | null;
  readonly mutation: Mutation;
  /** How often the sweeper looks, at the least. */
  readonly sweepMs?: number | undefined;
  /** Sessions of the owner that may work at once; by default more than there are. */
  readonly slots?: number | undefined;
  /** Of conversations and their tasks; other sessions have their own. */
  readonly limits?: Partial<Limits> | undefined;
  readonly report: Ports['report'];
}

export const LEASE_MS = 15_000;
/** Rarely: each look of the sweeper is a boundary as well. */
const SWEEP_MS = 10_000;

export function machine(life: Life, options: MachineOptions): Outlast {
  const {
    holder,
    store,
    clock,
    entropy,
    bell,
    tools,
    policy,
    sandbox,
    workspaces,
    processes,
    reply,
    mutation,
    prices,
    charge,
    failing = () => null,
    report,
    sweepMs = SWEEP_MS,
    slots,
    limits = {},
  } = options;
  const scripted: Model = {
    name: 'scripted/sim',
    scripted: true,
    generate: async (request) => {
      const failure = failing();
      await clock.sleep(50);
      if (failure === 'overloaded')
        throw new ModelError(failure, 'The provider is overloaded.', { retry: true });
      const answer = reply(request);
      charge(answer.usage);
      if (failure) throw new ModelError(failure, 'The stream was torn.', { retry: true, partial: 'As I' });
      return answer;
    },
  };
  const ports: Ports = {
    store: life.port('store', store),
    model: life.port('model', mutation.model?.(scripted) ?? scripted),
    prices: mutation.prices?.(prices) ?? prices,
    workspaces: life.port('workspaces', mutation.workspaces?.(workspaces) ?? workspaces),
    ...(processes ? { processes: life.port('processes', processes) } : {}),
    sandbox: heapPorts(life, mutation.sandbox?.(sandbox) ?? sandbox, { real: true }),
    tools: registry(tools),
    conversation: conversationOffer({ limits, around: (tool) => life.port(tool.spec.name, tool) }),
    policy,
    clock: life.clock,
    entropy,
    bell,
    sealer: PLAIN,
    holder,
    leaseMs: LEASE_MS,
    slots,
    briefing: '',
    report,
  };
  const driver = leaseDriver({ store: ports.store, clock: life.clock, report, sweepMs, slots });
  return outlast(ports, driver, 'local' as Owner, { limits });
}

/** The simulator reads images; secrets are the business of the stores' own tests. */
export const PLAIN: Sealer = { seal: (bytes) => bytes, open: (bytes) => bytes };
