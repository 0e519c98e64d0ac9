/**
 * `fetch` for code in cells: reaches granted services, and makes each request an effect with a capability.
 *
 * W1  What is sent is what was planned: `run` grants the planned arguments again, and a grant that is gone sends
 *     nothing.
 * W2  Every answer of HTTP is a result, also 404 and 429; but 408 and 5xx say nothing about the world, so they are
 *     thrown, unless the rule calls them `clean`. 501 and 505 are plain answers.
 * W3  A lost answer is unknown and a request that never left is `NotSent`; `exchange.ts` tells them apart.
 */

import type { Capability } from '../../core/capability.ts';
import type { ToolSpec } from '../../core/message.ts';
import type { Sealer } from '../../lib/seal.ts';
import type { Answer, Plan, Refusal, RunContext, Tool } from '../port.ts';
import { exchange, type Wire } from './exchange.ts';
import type { Grant, Rule } from './grant.ts';
import { checkGrants } from './grant-file.ts';
import { epochMark, type Headers, KEY_HEADER, REFERENCE_HEADER } from './headers.ts';
import { audit, find } from './reconcile.ts';
import { filled, type Granted, granted } from './request.ts';
import { handlesFor } from './secret.ts';
import { type Send, send as sendForReal } from './send.ts';

export interface FetchOptions {
  readonly grants: readonly Grant[];
  readonly sealer: Pick<Sealer, 'seal' | 'open'>;
  /** Longest body that is kept, in bytes; what comes after is not read. Default 1 MB. */
  readonly maxBytes?: number;
  readonly send?: Send;
}

const MAX_BYTES = 1_000_000;

/** Throws `OutlastError` `tool.invalid` when a grant is wrong. */
export function fetchTool({ grants, sealer, maxBytes = MAX_BYTES, send = sendForReal }: FetchOptions): Tool {
  checkGrants(grants);
  const wire: Wire = { send, maxBytes, handles: (origin) => handlesFor(origin, sealer) };
  return {
    spec: SPEC,
    direct: false,
    plan: (args) => plan(granted(args, grants), wire),
    run: (args, context) => run(granted(args, grants), context, wire),
    find: (args, context) => find(granted(args, grants), context, wire),
    audit: (args, context) => audit(granted(args, grants), context, wire),
  };
}

const SPEC: ToolSpec = {
  name: 'fetch',
  description: 'Send one HTTP request to a granted service.',
  input: {
    type: 'object',
    properties: {
      url: { type: 'string' },
      method: { type: 'string' },
      headers: { type: 'object', additionalProperties: { type: 'string' } },
      body: { type: ['string', 'null'] },
    },
    required: ['url'],
    additionalProperties: false,
  },
};

function plan(asked: Granted | Refusal, { handles }: Wire): Plan | Refusal {
  if ('refused' in asked) return asked;
  const full = filled(asked.request, handles(asked.address.origin));
  return 'refused' in full ? full : asked.plan;
}

async function run(asked: Granted | Refusal, context: RunContext, wire: Wire): Promise<Answer> {
  if ('refused' in asked) return withdrawn(asked, context);
  const { rule, request, plan } = asked;
  const ours = marks(rule, plan.capability, context);
  const maybeSentBefore = plan.capability.kind === 'keyed' && context.attempt > 1;
  const one = { request, ours, target: plan.target, fields: rule.secrets ?? [], maybeSentBefore };
  const result = await exchange(one, context, wire);
  if (saysNothing(result.status, rule)) {
    throw new Error(`${plan.target} answered ${result.status}, which does not say whether anything was done`);
  }
  return { status: 'done', result };
}

/** W1. Only a first attempt is known to have done nothing. */
function withdrawn({ refused }: Refusal, { attempt }: RunContext): Answer {
  if (attempt > 1) throw new Error(refused.message);
  return { status: 'failed', ...refused };
}

/** W2. */
function saysNothing(status: number, rule: Rule): boolean {
  if (rule.failures === 'clean' && status >= 500) return false;
  return status === 408 || (status >= 500 && status !== 501 && status !== 505);
}

/** What the service needs to deduplicate, to be asked, and to refuse a holder of an older lease. */
function marks(rule: Rule, { kind }: Capability, context: RunContext): Headers {
  const { reference } = context;
  const epoch = epochMark(context);
  if (kind === 'keyed') return { ...epoch, [lower(rule.keyHeader ?? KEY_HEADER)]: reference };
  if (kind === 'queryable' || kind === 'cancelable')
    return { ...epoch, [lower(rule.referenceHeader ?? REFERENCE_HEADER)]: reference };
  return epoch;
}

const lower = (name: string): string => name.toLowerCase();
