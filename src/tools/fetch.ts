/**
 * `fetch` for code in cells: reaches granted services, and makes each request an effect with a capability.
 *
 * W1  What is sent is what was planned: `run` grants the planned arguments again, and a grant that is gone sends
 *     nothing.
 * W2  Every answer of HTTP is a result, also 404 and 429; but 408 and 5xx say nothing about the world, so they are
 *     thrown, unless the rule calls them `clean`. 501 and 505 are plain answers.
 * W3  A lost answer is unknown and a request that never left is `NotSent`; `exchange.ts` tells them apart.
 */

import type { Capability, Finding } from '../core/capability.ts';
import type { ToolSpec } from '../core/message.ts';
import type { Json } from '../lib/json.ts';
import { askUrl, readAsked } from './ask.ts';
import { type Exchange, exchange, fill } from './exchange.ts';
import type { Grant, Rule } from './grant.ts';
import { checkGrants } from './grant-file.ts';
import { EPOCH_HEADER, type Headers, KEY_HEADER, REFERENCE_HEADER } from './headers.ts';
import type { Answer, Plan, Refusal, RunContext, Tool } from './port.ts';
import { redact } from './redact.ts';
import { type Granted, granted } from './request.ts';
import { sealFields } from './seal-fields.ts';
import { type Handles, handlesFor, type Sealer } from './secret.ts';
import { type Outgoing, type Send, send as sendForReal } from './send.ts';

export interface FetchOptions {
  readonly grants: readonly Grant[];
  readonly sealer: Sealer;
  /** Longest body that is kept, in bytes; what comes after is not read. Default 1 MB. */
  readonly maxBytes?: number;
  readonly send?: Send;
}

interface World {
  readonly grants: readonly Grant[];
  readonly maxBytes: number;
  readonly send: Send;
  handles(origin: string): Handles;
}

const MAX_BYTES = 1_000_000;

/** Throws `OutlastError` `tool.invalid` when a grant is wrong. */
export function fetchTool({ grants, sealer, maxBytes = MAX_BYTES, send = sendForReal }: FetchOptions): Tool {
  checkGrants(grants);
  const world: World = { grants, maxBytes, send, handles: (origin) => handlesFor(origin, sealer) };
  return {
    spec: SPEC,
    direct: false,
    plan: (args) => plan(args, world),
    run: (args, context) => run(args, context, world),
    find: (args, context) => find(args, context, world),
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

function plan(args: Json, world: World): Plan | Refusal {
  const asked = granted(args, world.grants);
  if ('refused' in asked) return asked;
  const full = fill(asked.request, world.handles(asked.address.origin));
  return 'refused' in full ? full : asked.plan;
}

async function run(args: Json, context: RunContext, world: World): Promise<Answer> {
  const asked = granted(args, world.grants);
  if ('refused' in asked) return withdrawn(asked, context);
  const { rule, request, plan } = asked;
  const result = await exchange(
    {
      ...common(asked, world),
      request,
      ours: marks(rule, plan.capability, context),
      target: plan.target,
      fields: rule.secrets ?? [],
      maybeSentBefore: plan.capability.kind === 'keyed' && context.attempt > 1,
    },
    context,
  );
  if (saysNothing(result.status, rule)) {
    throw new Error(`${plan.target} answered ${result.status}, which does not say whether anything was done`);
  }
  return { status: 'done', result };
}

async function find(args: Json, context: RunContext, world: World): Promise<Finding> {
  const asked = granted(args, world.grants);
  if ('refused' in asked) return unclear(asked.refused.message);
  const { rule, address, plan } = asked;
  if (rule.ask === undefined) return unclear(`${plan.target} cannot be asked what became of it`);
  const { 'content-type': _, ...headers } = asked.request.headers; // what identified the caller identifies it here
  const url = askUrl(rule.ask, address.origin, context.reference);
  const request: Outgoing = { method: 'GET', url, headers, body: null };
  const question = { request, ours: epochMark(context), target: `GET ${address.origin}`, fields: [] };
  try {
    const result = await exchange({ ...common(asked, world), ...question, maybeSentBefore: true }, context);
    const found = readAsked(rule.ask, result, context.reference);
    if (found.status === 'unclear') return unclear(`${address.origin} was asked, and ${found.reason}`);
    if (found.status === 'absent') return found;
    const sealed = sealFields(
      JSON.stringify(found.record),
      rule.secrets ?? [],
      world.handles(address.origin),
    );
    const body = redact(sealed.text, sealed.secrets);
    return { status: 'done', result: { status: 200, headers: { 'content-type': 'application/json' }, body } };
  } catch (error) {
    return unclear(error instanceof Error ? error.message : 'it could not be asked');
  }
}

const common = (
  { address }: Granted,
  { maxBytes, send, handles }: World,
): Pick<Exchange, 'maxBytes' | 'send' | 'handles'> => ({ maxBytes, send, handles: handles(address.origin) });

const unclear = (reason: string): Finding => ({ status: 'unclear', reason });

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
  if (kind === 'queryable') return { ...epoch, [lower(rule.referenceHeader ?? REFERENCE_HEADER)]: reference };
  return epoch;
}

const epochMark = ({ epoch }: RunContext): Headers => ({ [lower(EPOCH_HEADER)]: String(epoch) });

const lower = (name: string): string => name.toLowerCase();
