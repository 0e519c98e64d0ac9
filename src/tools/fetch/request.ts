/**
 * What a caller asks `fetch` for, in the one form in which it is shown, digested, approved and sent.
 *
 * Q1  Same request, same form: method in capitals, address and headers normalised, body text or null.
 * Q2  Secrets stand in it as handles. They are put in at the last moment, for the origin that gave them (`filled`).
 * Q3  A sentence that refuses a request repeats nothing of it that could be a secret.
 */

import { isRecord, type Json, parseJson } from '../../lib/json.ts';
import { wellFormed } from '../../lib/well-formed.ts';
import type { Plan, Refusal } from '../port.ts';
import { type Address, addressOf } from './address.ts';
import { capabilityOf, type Grant, notGranted, type Rule, ruleFor } from './grant.ts';
import { isHeaderValue, outgoingHeaders } from './headers.ts';
import { at } from './json-pointer.ts';
import { ForeignHandle, type Handles, holdsHandle, type Secret } from './secret.ts';
import type { Outgoing } from './send.ts';

/** A granted request with the rule that grants it. */
export interface Granted {
  readonly request: Outgoing;
  readonly address: Address;
  readonly rule: Rule;
  readonly plan: Plan;
}

const METHOD = /^[A-Z]{1,20}$/;
const NEVER = new Set(['CONNECT', 'TRACE', 'TRACK']);

export function granted(args: Json, grants: readonly Grant[]): Granted | Refusal {
  if (!isRecord(args) || typeof args.url !== 'string')
    return invalid('fetch takes {url, method, headers, body}.');
  const { url, method: verb = 'GET', headers: given = null, body = null } = args as Record<string, Json>;
  const method = typeof verb === 'string' ? verb.toUpperCase() : '';
  if (!METHOD.test(method) || NEVER.has(method))
    return invalid('method is one of GET, POST, PUT, PATCH, DELETE …');
  const address = addressOf(wellFormed(String(url)));
  if (typeof address === 'string') return invalid(address);
  if (holdsHandle(address.path))
    return invalid('A sealed secret can stand in a query, a header or a body only.');
  const rule = ruleFor(grants, method, address);
  if (rule === undefined) return notGranted(grants, method, address);
  const headers = outgoingHeaders(given, [rule.keyHeader, rule.referenceHeader]);
  if (typeof headers === 'string') return invalid(headers);
  if (body !== null && typeof body !== 'string') return invalid('body is text; use JSON.stringify for JSON.');
  const text = body === null || body === '' ? null : wellFormed(body);
  if (text !== null && (method === 'GET' || method === 'HEAD')) return invalid(`A ${method} has no body.`);
  const request: Outgoing = { method, url: address.url, headers, body: text };
  const plan: Plan = {
    capability: capabilityOf(rule, method),
    target: `${method} ${address.place}`,
    identity: identityOf(rule, text),
    args: { ...request },
  };
  return { request, address, rule, plan };
}

const invalid = (message: string): Refusal => ({ refused: { code: 'call.invalid', message } });

/** The fields that the rule names, or null when one of them cannot be told: then the whole target is held. */
function identityOf(rule: Rule, body: string | null): string | null {
  const document = body === null ? undefined : parseJson(body);
  if (rule.identity === undefined || document === undefined) return null;
  const fields = rule.identity.map((field) => at(document, field.startsWith('/') ? field : `/${field}`));
  const identity = JSON.stringify(fields.map((value) => value ?? null));
  // A secret has another handle each time it is given, so a handle tells nothing about sameness.
  return fields.some((value) => value === undefined || value === null) || holdsHandle(identity)
    ? null
    : identity;
}

export interface FilledRequest {
  readonly request: Outgoing;
  readonly opened: readonly Secret[];
}

/** Q2: the request as it leaves, or why it may not. */
export function filled(request: Outgoing, handles: Handles): FilledRequest | Refusal {
  try {
    return withSecrets(request, handles);
  } catch (error) {
    if (!(error instanceof ForeignHandle)) throw error;
    return { refused: { code: 'secret.foreign', message: error.message } };
  }
}

function withSecrets({ method, url, headers, body }: Outgoing, handles: Handles): FilledRequest | Refusal {
  const address = handles.fill(url, encodeURIComponent);
  const values = Object.entries(headers).map(
    ([name, value]) => [name, handles.fill(value, plainly)] as const,
  );
  const content = body === null ? null : handles.fill(body, writtenIn(headers['content-type'] ?? '', body));
  const broken = values.find(([, value]) => !isHeaderValue(value.text));
  if (broken) return invalid(`The secret in the header ${broken[0]} cannot be written in a header.`);
  const request: Outgoing = {
    method,
    url: address.text,
    headers: Object.fromEntries(values.map(([name, value]) => [name, value.text])),
    body: content?.text ?? null,
  };
  const opened = [address, ...values.map(([, value]) => value), ...(content ? [content] : [])];
  return { request, opened: opened.flatMap((one) => one.opened) };
}

const plainly = (secret: string): string => secret;

/** How a secret is written at its place in a body. */
function writtenIn(type: string, body: string): (secret: string) => string {
  if (parseJson(body) !== undefined) return (secret) => JSON.stringify(secret).slice(1, -1);
  return /^application\/x-www-form-urlencoded/i.test(type) ? encodeURIComponent : plainly;
}
