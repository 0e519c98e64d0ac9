/**
 * Grants: which services can be reached, and by which requests. Whatever no rule names is refused.
 *
 * G1  The first rule that matches counts. `GET` grants `HEAD` too; `*` grants every method.
 * G2  GET and HEAD are `read` and anything else is `blind`, unless the rule says otherwise.
 * G3  Matching looks at the normalised address (`address.ts`) and at nothing that the caller worded.
 */

import type { Capability } from '../../core/capability.ts';
import { type CapabilitySpec, capabilityFrom } from '../capability-spec.ts';
import type { Refusal } from '../port.ts';
import type { Address } from './address.ts';

/** A service that may be reached. */
export interface Grant {
  /** How people and models call it: `billing`. */
  readonly name: string;
  /** `http://127.0.0.1:4801`, as `URL.origin` spells it. */
  readonly origin: string;
  /** What it is for, in a line; the model reads it. */
  readonly describe?: string;
  readonly rules: readonly Rule[];
}

export interface Rule {
  /** `GET`, `POST` …, or `*`. */
  readonly method: string;
  /** `/messages`; `*` is one segment, a last `/**` is that path and all below it. */
  readonly path: string;
  /** Paths that this rule leaves out, written like `path`. */
  readonly except?: readonly string[];
  readonly capability?: CapabilitySpec;
  /** Carries our key where the capability is keyed; default `Idempotency-Key`. */
  readonly keyHeader?: string;
  /** Carries our reference where the capability is queryable or cancelable; default `X-Reference`. */
  readonly referenceHeader?: string;
  /** How to ask for our reference; goes with queryable and cancelable, and only with them. */
  readonly ask?: Ask;
  /** How an extra is undone; goes with cancelable, and only with it. */
  readonly cancel?: Cancel;
  /** `clean` where the service promises that an answer of 500 or above means that nothing was done. */
  readonly failures?: 'clean';
  /** Fields of the JSON answer to be sealed: a name (at any depth) or a JSON pointer. All that is below goes too. */
  readonly secrets?: readonly string[];
  /** Fields of the JSON body (name or pointer) that tell what the request is about; all of them, or none. */
  readonly identity?: readonly string[];
}

/** A GET that finds what an earlier request with our reference did. */
export interface Ask {
  /** Path and query with `{reference}`: `/messages?reference={reference}`. */
  readonly path: string;
  /** JSON pointer to the record, or to an array of records. Null, false and `[]` say that there is none. */
  readonly found: string;
  /** JSON pointer inside a record to its reference; then a service that ignores the question is not believed. */
  readonly reference?: string;
  /** JSON pointer inside the record to what counts as the answer; default the whole record. */
  readonly result?: string;
  /** `absent` where the service answers 404 when it has none; otherwise a 404 is no answer. */
  readonly notFound?: 'absent';
}

/** A request that undoes one record that `ask` has found. */
export interface Cancel {
  readonly method: string;
  /** Path with `{id}`: `/bookings/{id}`. */
  readonly path: string;
  /** JSON pointer inside a record to its id. */
  readonly id: string;
  /** JSON pointer inside a record to what is true (or filled) once it was undone; without it such records are gone. */
  readonly undone?: string;
}

export function ruleFor(grants: readonly Grant[], method: string, address: Address): Rule | undefined {
  return grants
    .filter((grant) => grant.origin === address.origin)
    .flatMap((grant) => grant.rules)
    .find((rule) => matchesMethod(rule.method, method) && matchesRule(rule, address.path));
}

/** G2. */
export function capabilityOf(rule: Rule, method: string): Capability {
  if (rule.capability !== undefined) return capabilityFrom(rule.capability);
  return { kind: method === 'GET' || method === 'HEAD' ? 'read' : 'blind' };
}

/** Says what is granted instead: at that origin if anything is, otherwise where. */
export function notGranted(grants: readonly Grant[], method: string, address: Address): Refusal {
  const here = grants.filter((grant) => grant.origin === address.origin);
  const granted =
    here.length > 0 ? here.map(requests) : grants.map(({ name, origin }) => `${name} at ${origin}`);
  const list = granted.length > 0 ? `Granted: ${granted.join('; ')}.` : 'No service is granted.';
  return { refused: { code: 'grant.none', message: `${method} ${address.place} is not granted. ${list}` } };
}

const requests = ({ name, origin, rules }: Grant): string =>
  `${name} at ${origin} with ${rules.map(({ method, path }) => `${method} ${path}`).join(', ') || 'nothing'}`;

const matchesMethod = (granted: string, method: string): boolean =>
  granted === '*' || granted === method || (granted === 'GET' && method === 'HEAD');

const matchesRule = (rule: Rule, path: string): boolean =>
  matchesPath(rule.path, path) && !rule.except?.some((pattern) => matchesPath(pattern, path));

function matchesPath(pattern: string, path: string): boolean {
  const wanted = pattern.split('/').slice(1);
  const found = path.split('/').slice(1);
  const isOpen = wanted.at(-1) === '**';
  if (isOpen) wanted.pop();
  if (isOpen ? found.length < wanted.length : found.length !== wanted.length) return false;
  return wanted.every((segment, i) => segment === found[i] || (segment === '*' && found[i] !== ''));
}
