/**
 * The strategies, as their users write them: on the same runtime, by what a tool declares and how it is run. The kernel
 * has no flag for any of them.
 *
 * A1  `recast` changes how a tool copes with a missing answer, and nothing else: what it does outside is the same code.
 * A2  Each gets the care that its users would take: the ones that think in effects split a batch, the ones that start
 *     a life anew get a whole new session, and `skip` tells the model not to try again.
 */

import type { Capability } from '../core/capability.ts';
import { writes } from '../core/capability.ts';
import { sha256 } from '../lib/digest.ts';
import { canonical, type Json } from '../lib/json.ts';
import { isRefusal, type RunContext, type Tool } from '../tools/port.ts';
import type { Strategy } from './terms.ts';

/** What the next life stands on. */
export type Afterlife = 'log' | 'nothing' | 'transcript';

export interface Ways {
  readonly afterlife: Afterlife;
  /** Whether a batch is asked for item by item. */
  readonly splits: boolean;
  readonly marks: boolean;
  readonly fences: boolean;
  readonly recast: (tool: Tool) => Tool;
}

const OURS: Ways = { afterlife: 'log', splits: true, marks: true, fences: true, recast: (tool) => tool };
const EVER_MS = 1_000_000_000_000;

export function waysOf(strategy: Strategy): Ways {
  switch (strategy) {
    case 'outlast':
      return OURS;
    case 'restart':
      return { ...OURS, afterlife: 'nothing', splits: false, recast: again };
    case 'replay':
      return { ...OURS, afterlife: 'transcript', splits: false, recast: again };
    case 'retry':
      return { ...OURS, splits: false, recast: again };
    case 'skip':
      return { ...OURS, splits: false, recast: skipping };
    case 'key':
      return { ...OURS, splits: false, recast: declared(() => ({ kind: 'keyed', retentionMs: EVER_MS })) };
    case 'query':
      return { ...OURS, recast: (tool) => (tool.find ? atOnce(tool) : again(tool)) };
    case 'ask':
      return { ...OURS, recast: declared(() => ({ kind: 'blind' })) };
    case 'no-mark':
      return { ...OURS, marks: false };
    case 'no-wait':
      return { ...OURS, recast: declared(unhurried) };
    case 'no-fence':
      return { ...OURS, fences: false };
    case 'no-expiry':
      return {
        ...OURS,
        recast: declared((own) => (own.kind === 'keyed' ? { ...own, retentionMs: EVER_MS } : own)),
      };
    case 'model-key':
      return { ...OURS, recast: (tool) => renamed(tool, (args) => `made-${sha256(canonical(args))}`) };
  }
}

const unhurried = (own: Capability): Capability =>
  own.kind === 'queryable' || own.kind === 'cancelable' ? { ...own, lateMs: 0 } : own;

/** Runs again until it is answered; each attempt is a request of its own. */
const again = (tool: Tool): Tool =>
  renamed(declared(() => ({ kind: 'read' }))(tool), (_, { reference, attempt }) => `${reference}~${attempt}`);

/** Looks for it as soon as it is in doubt, and sends it when it is not found. */
const atOnce = declared(() => ({ kind: 'queryable', lateMs: 0 }));

/** At most once: a missing answer is a failure, and that is that. */
const skipping = (tool: Tool): Tool => {
  const recast = declared(() => ({ kind: 'queryable', lateMs: 0 }))(tool);
  const failed = { status: 'failed', code: SKIPPED, message: 'No answer; it counts as not done.' } as const;
  return {
    ...recast,
    run: (args, context) => recast.run(args, context).catch(() => failed),
    find: async () => failed,
  };
};

/** Read by the agent: such a failure is not tried again. */
export const SKIPPED = 'skipped';

function declared(capability: (own: Capability) => Capability): (tool: Tool) => Tool {
  return (tool) => ({
    ...tool,
    plan(args) {
      const plan = tool.plan(args);
      if (isRefusal(plan) || !writes(plan.capability)) return plan;
      return { ...plan, capability: capability(plan.capability) };
    },
  });
}

function renamed(tool: Tool, name: (args: Json, context: RunContext) => string): Tool {
  const known = (args: Json, context: RunContext): RunContext => ({
    attempt: context.attempt,
    epoch: context.epoch,
    reference: name(args, context),
    session: context.session,
    workspace: () => context.workspace(),
    kin: () => context.kin(),
    get signal() {
      return context.signal;
    },
  });
  const { find, audit } = tool;
  return {
    ...tool,
    run: (args, context) => tool.run(args, known(args, context)),
    ...(find && { find: (args: Json, context: RunContext) => find(args, known(args, context)) }),
    ...(audit && { audit: (args: Json, context: RunContext) => audit(args, known(args, context)) }),
  };
}
