/**
 * `fetch` for code in cells: reaches granted services, and makes each request an effect with a capability.
 *
 * W1  What is sent is what was planned: `run` grants the planned arguments again, and a grant that is gone sends
 *     nothing.
 * W2  Every answer of HTTP is a result, also 404 and 429; but 408 and 5xx say nothing about the world, so they are
 *     thrown, unless the rule calls them `clean`. 501 and 505 are plain answers.
 * W3  A lost answer is unknown and a request that never left is `NotSent`; `exchange.ts` tells them apart.
 */

import type { Audit, Capability, Finding } from '../../core/capability.ts';
import type { ToolSpec } from '../../core/message.ts';
import type { Json } from '../../lib/json.ts';
import type { Answer, Plan, Refusal, RunContext, Tool } from '../port.ts';
import { type Asked, askUrl, readAsked, resultIn } from './ask.ts';
import { type Exchange, exchange, fill } from './exchange.ts';
import type { Cancel, Grant, Rule } from './grant.ts';
import { checkGrants } from './grant-file.ts';
import { EPOCH_HEADER, type Headers, KEY_HEADER, REFERENCE_HEADER } from './headers.ts';
import { at } from './json-pointer.ts';
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
    audit: (args, context) => audit(args, context, world),
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
  try {
    const found = await askFor(asked, context, world);
    return found.status === 'found' ? doneWith(found.records[0], asked, world) : found;
  } catch (error) {
    return unclear(error instanceof Error ? error.message : 'it could not be asked');
  }
}

/** T4: what stands beside the first record is undone; records that say so were undone before. */
async function audit(args: Json, context: RunContext, world: World): Promise<Audit> {
  const asked = granted(args, world.grants);
  const nothing = (reason: string): Audit => ({ finding: unclear(reason), undone: 0 });
  if ('refused' in asked) return nothing(asked.refused.message);
  const { cancel } = asked.rule;
  if (cancel === undefined) return nothing(`${asked.plan.target} cannot be undone`);
  try {
    const found = await askFor(asked, context, world);
    if (found.status !== 'found') return { finding: found, undone: 0 };
    const isUndone = (record: Json): boolean =>
      cancel.undone !== undefined && Boolean(at(record, cancel.undone));
    const [first, ...extras] = found.records.filter((record) => !isUndone(record));
    for (const extra of extras) await undo(cancel, extra, asked, context, world);
    const undone = found.records.filter(isUndone).length + extras.length;
    if (first !== undefined) return { finding: doneWith(first, asked, world), undone };
    // It was done, and somebody else has undone it since: to send it again would go against them.
    const message = `${asked.plan.target} was done, and has been undone at the service since`;
    return { finding: { status: 'failed', code: 'undone', message }, undone };
  } catch (error) {
    return nothing(error instanceof Error ? error.message : 'it could not be asked');
  }
}

async function undo(
  cancel: Cancel,
  record: Json,
  asked: Granted,
  context: RunContext,
  world: World,
): Promise<void> {
  const id = at(record, cancel.id);
  if (typeof id !== 'string' && typeof id !== 'number') throw new Error('a record has no id to undo it by');
  const { origin } = asked.address;
  const path = cancel.path.replaceAll('{id}', encodeURIComponent(String(id)));
  const request: Outgoing = {
    ...{ method: cancel.method, url: `${origin}${path}`, body: null },
    headers: identifying(asked),
  };
  const target = `${cancel.method} ${origin}`;
  const { status } = await exchange(
    { ...common(asked, world), request, ours: epochMark(context), target, fields: [], maybeSentBefore: true },
    context,
  );
  // Gone already is as good as undone now.
  if ((status < 200 || status > 299) && status !== 404 && status !== 410)
    throw new Error(`${origin} was asked to undo an extra, and answered ${status}`);
}

/** Asks the service for our reference. */
async function askFor(
  asked: Granted,
  context: RunContext,
  world: World,
): Promise<Exclude<Asked, { status: 'unclear' }> | Extract<Finding, { status: 'unclear' }>> {
  const { rule, address, plan } = asked;
  if (rule.ask === undefined) return unclear(`${plan.target} cannot be asked what became of it`);
  const url = askUrl(rule.ask, address.origin, context.reference);
  const request: Outgoing = { method: 'GET', url, headers: identifying(asked), body: null };
  const question = { request, ours: epochMark(context), target: `GET ${address.origin}`, fields: [] };
  const result = await exchange({ ...common(asked, world), ...question, maybeSentBefore: true }, context);
  const found = readAsked(rule.ask, result, context.reference);
  return found.status === 'unclear' ? unclear(`${address.origin} was asked, and ${found.reason}`) : found;
}

function doneWith(record: Json | undefined, { rule, address }: Granted, world: World): Finding {
  const result = rule.ask && resultIn(rule.ask, record);
  if (result === undefined) return unclear(`${address.origin} was asked, and the record has no result`);
  const sealed = sealFields(JSON.stringify(result), rule.secrets ?? [], world.handles(address.origin));
  const body = redact(sealed.text, sealed.secrets);
  return { status: 'done', result: { status: 200, headers: { 'content-type': 'application/json' }, body } };
}

/** What identified the caller identifies it here. */
function identifying({ request }: Granted): Headers {
  const { 'content-type': _, ...headers } = request.headers;
  return headers;
}

const common = (
  { address }: Granted,
  { maxBytes, send, handles }: World,
): Pick<Exchange, 'maxBytes' | 'send' | 'handles'> => ({ maxBytes, send, handles: handles(address.origin) });

const unclear = (reason: string): Extract<Finding, { status: 'unclear' }> => ({ status: 'unclear', reason });

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

const epochMark = ({ epoch }: RunContext): Headers => ({ [lower(EPOCH_HEADER)]: String(epoch) });

const lower = (name: string): string => name.toLowerCase();
