/**
 * What became of an earlier request with our reference: the service is asked, and where its rule says how, extras are
 * undone.
 *
 * E1  Whatever keeps us from an answer is `unclear`, in words; it never looks like an absence.
 * E2  The question identifies the caller as the request did.
 */

import type { Audit, Finding } from '../../core/capability.ts';
import type { Json } from '../../lib/json.ts';
import type { Refusal, RunContext } from '../port.ts';
import { type Asked, askUrl, readAsked, resultIn } from './ask.ts';
import { exchange, type Wire } from './exchange.ts';
import type { Cancel } from './grant.ts';
import { epochMark, type Headers } from './headers.ts';
import { at } from './json-pointer.ts';
import { redact } from './redact.ts';
import type { Granted } from './request.ts';
import { sealFields } from './seal-fields.ts';
import type { Outgoing } from './send.ts';

export async function find(asked: Granted | Refusal, context: RunContext, wire: Wire): Promise<Finding> {
  if ('refused' in asked) return unclear(asked.refused.message);
  try {
    const found = await askFor(asked, context, wire);
    return found.status === 'found' ? doneWith(found.records[0], asked, wire) : found;
  } catch (error) {
    return unanswered(error);
  }
}

/** T4: what stands beside the first record is undone; records that say so were undone before. */
export async function audit(asked: Granted | Refusal, context: RunContext, wire: Wire): Promise<Audit> {
  const nothing = (finding: Finding): Audit => ({ finding, undone: 0 });
  if ('refused' in asked) return nothing(unclear(asked.refused.message));
  const { cancel } = asked.rule;
  if (cancel === undefined) return nothing(unclear(`${asked.plan.target} cannot be undone`));
  try {
    const found = await askFor(asked, context, wire);
    if (found.status !== 'found') return nothing(found);
    const isUndone = (record: Json): boolean =>
      cancel.undone !== undefined && Boolean(at(record, cancel.undone));
    const [first, ...extras] = found.records.filter((record) => !isUndone(record));
    for (const extra of extras) await undo(cancel, extra, asked, context, wire);
    const undone = found.records.filter(isUndone).length + extras.length;
    if (first !== undefined) return { finding: doneWith(first, asked, wire), undone };
    // It was done, and somebody else has undone it since: to send it again would go against them.
    const message = `${asked.plan.target} was done, and has been undone at the service since`;
    return { finding: { status: 'failed', code: 'undone', message }, undone };
  } catch (error) {
    return nothing(unanswered(error));
  }
}

/** Asks the service for our reference. */
async function askFor(asked: Granted, context: RunContext, wire: Wire): Promise<Asked> {
  const { rule, address, plan } = asked;
  if (rule.ask === undefined) return unclear(`${plan.target} cannot be asked what became of it`);
  const url = askUrl(rule.ask, address.origin, context.reference);
  const request: Outgoing = { method: 'GET', url, headers: identifying(asked), body: null };
  const result = await besides(request, `GET ${address.origin}`, context, wire);
  const found = readAsked(rule.ask, result, context.reference);
  return found.status === 'unclear' ? unclear(`${address.origin} was asked, and ${found.reason}`) : found;
}

async function undo(
  cancel: Cancel,
  record: Json,
  asked: Granted,
  context: RunContext,
  wire: Wire,
): Promise<void> {
  const id = at(record, cancel.id);
  const isId = typeof id === 'number' || (typeof id === 'string' && !/^\.{0,2}$/.test(id));
  if (!isId) throw new Error('a record has no id to undo it by');
  const { method } = cancel;
  const { origin } = asked.address;
  const url = `${origin}${cancel.path.replaceAll('{id}', encodeURIComponent(String(id)))}`;
  const request: Outgoing = { method, url, headers: identifying(asked), body: null };
  const { status } = await besides(request, `${method} ${origin}`, context, wire);
  // Gone already is as good as undone now.
  if ((status < 200 || status > 299) && status !== 404 && status !== 410)
    throw new Error(`${origin} was asked to undo an extra, and answered ${status}`);
}

/** A request beside the one that it is about, which may have arrived. */
const besides = (request: Outgoing, target: string, context: RunContext, wire: Wire) =>
  exchange({ request, ours: epochMark(context), target, fields: [], maybeSentBefore: true }, context, wire);

function doneWith(record: Json | undefined, { rule, address }: Granted, { handles }: Wire): Finding {
  const result = rule.ask && resultIn(rule.ask, record);
  if (result === undefined) return unclear(`${address.origin} was asked, and the record has no result`);
  const sealed = sealFields(JSON.stringify(result), rule.secrets ?? [], handles(address.origin));
  const body = redact(sealed.text, sealed.secrets);
  return { status: 'done', result: { status: 200, headers: { 'content-type': 'application/json' }, body } };
}

/** E2. There is no body, so it has no type. */
function identifying({ request }: Granted): Headers {
  const { 'content-type': _, ...headers } = request.headers;
  return headers;
}

const unclear = (reason: string): Extract<Finding, { status: 'unclear' }> => ({ status: 'unclear', reason });

/** E1. */
const unanswered = (error: unknown): Finding =>
  unclear(error instanceof Error ? error.message : 'it could not be asked');
