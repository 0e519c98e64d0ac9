/**
 * A worker of the bench: the whole runtime on the ports of one life. The one place where the bench composes it, for runs in
 * memory, on disk and in processes of their own alike; so also the place of whatever a run has to be allowed.
 */

import type { Owner } from '../core/ids.ts';
import { policyOf } from '../core/policy.ts';
import { leaseDriver } from '../driver/leases.ts';
import { systemEntropy } from '../lib/entropy.ts';
import { localBell } from '../loop/bell.ts';
import { registry } from '../loop/tools/registry.ts';
import type { Model } from '../models/port.ts';
import { type Outlast, outlast } from '../runtime/runtime.ts';
import type { Sandbox } from '../sandbox/port.ts';
import { quickjsSandbox } from '../sandbox/quickjs/sandbox.ts';
import { memoryShelf } from '../sandbox/quickjs/shelf.ts';
import type { Store } from '../store/port.ts';
import type { Tool } from '../tools/port.ts';
import { memoryWorkspaces } from '../workspace/memory.ts';
import type { Life } from './life.ts';

export interface Parts {
  readonly store: Store;
  readonly tools: readonly Tool[];
  readonly model: Model;
  readonly holder: string;
  readonly leaseMs: number;
}

const SWEEP_MS = 25;

/** What a strategy does about a lost answer is compared, not who may send: a question before would help all of them alike. */
const policy = policyOf([{ name: 'all', when: () => true, verdict: 'allow' }]);

/** No cell is run here, so all workers share one that is never opened. */
const sandbox: Sandbox = new Proxy(quickjsSandbox({ mode: 'inline', shelf: memoryShelf() }), {
  get: (target, key) => (key === 'close' ? async () => {} : Reflect.get(target, key)),
});

export function machine(life: Life, { store, tools, model, holder, leaseMs }: Parts): Outlast {
  const kept = life.store(store);
  const report = (line: string, cause?: unknown): void => {
    if (process.env.OUTLAST_DEBUG) console.error(line, cause);
  };
  const driver = leaseDriver({ store: kept, clock: life.clock, report, sweepMs: SWEEP_MS });
  const ports = {
    store: kept,
    model: life.model(model),
    sandbox,
    workspaces: memoryWorkspaces(),
    tools: registry(tools.map((tool) => life.tool(tool))),
    policy,
    prices: { price: async () => null },
    clock: life.clock,
    entropy: systemEntropy,
    bell: localBell(),
    // Nothing that is sealed is opened by anybody else.
    sealer: { seal: (bytes: Uint8Array) => bytes, open: (bytes: Uint8Array) => bytes },
    holder,
    leaseMs,
    briefing: '',
    report,
  };
  return outlast(ports, driver, 'local' as Owner);
}
