/** Grants as people write them: a JSON file `{ "grants": [ … ] }`, or the same in code. */

import { z } from 'zod';
import { type CapabilitySpec, capabilitySpec } from '../capability-spec.ts';
import { checked, parsed, uniqueNames, type Written } from '../written.ts';
import { plain } from './address.ts';
import type { Grant } from './grant.ts';
import { isPointer } from './json-pointer.ts';

/**
 * @example
 * ```ts
 * parseGrants('{"grants":[{"name":"shop","origin":"https://shop.example","rules":[{"method":"GET","path":"/**"}]}]}');
 * ```
 */
export function parseGrants(text: string): readonly Grant[] {
  return checked(FILE, parsed(text, WRITTEN), WRITTEN).grants as readonly Grant[];
}

/** The same checks for grants made in code. */
export function checkGrants(grants: readonly Grant[]): readonly Grant[] {
  return checked(GRANTS, grants, WRITTEN, 'grants') as readonly Grant[];
}

const WRITTEN: Written = { code: 'tool.invalid', subject: 'The grants are', next: 'correct the grants' };

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$/, 'is 1 to 64 letters, digits, spaces, . _ -');
const line = z.string().regex(/^[^\p{Cc}]*$/u, 'is one line of text');
const headerName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'is the name of a header');
const pointer = z.string().refine(isPointer, 'is a JSON pointer, like /messages');
const field = z.string().refine((text) => text !== '' && (text[0] !== '/' || isPointer(text)), {
  error: 'is the name of a field, or a JSON pointer',
});

const isOrigin = (text: string): boolean =>
  /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
const origin = z.string().refine(isOrigin, 'is an origin without a path, like http://127.0.0.1:4801');

const pattern = z.string().refine(isPattern, {
  error: 'is a path like /messages, /users/*/mail or /auth/**, with nothing encoded that need not be',
});

function isPattern(text: string): boolean {
  const segments = text.split('/').slice(1);
  if (text[0] !== '/' || /[?#\\\s]/.test(text)) return false;
  const isPlain = segments.every((segment, i) => {
    const isLast = i === segments.length - 1;
    if (segment.includes('*')) return segment === '*' || (segment === '**' && isLast);
    return segment !== '' || isLast;
  });
  // A literal that an address can never have would grant nothing, or worse, leave nothing out.
  return isPlain && plain(new URL(`http://host${text}`).pathname) === text;
}

const ask = z.strictObject({
  path: z
    .string()
    .refine(
      (text) => /^\/(?!\/)[^#\\\s]*$/.test(text) && text.includes('{reference}'),
      'is a path with {reference}',
    ),
  found: pointer,
  reference: pointer.optional(),
  result: pointer.optional(),
  notFound: z.literal('absent').optional(),
});

const cancel = z.strictObject({
  method: z.string().regex(/^[A-Z]+$/, 'is a method in capitals'),
  path: z
    .string()
    .refine((text) => /^\/(?!\/)[^#\\\s]*$/.test(text) && text.includes('{id}'), 'is a path with {id}'),
  id: pointer,
  undone: pointer.optional(),
});

const rule = z
  .strictObject({
    method: z.string().regex(/^([A-Z]+|\*)$/, 'is a method in capitals, or *'),
    path: pattern,
    except: z.array(pattern).optional(),
    capability: capabilitySpec.optional(),
    keyHeader: headerName.optional(),
    referenceHeader: headerName.optional(),
    ask: ask.optional(),
    cancel: cancel.optional(),
    failures: z.literal('clean').optional(),
    secrets: z.array(field).optional(),
    identity: z.array(field).min(1).optional(),
  })
  .superRefine((one, context) => {
    const kind = kindOf(one.capability);
    const complain = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    const isAsked = kind === 'queryable' || kind === 'cancelable';
    if (isAsked && !one.ask) complain('ask', `says how to ask; a ${kind} rule needs it`);
    if (!isAsked && one.ask) complain('ask', 'goes with the capability queryable or cancelable only');
    if (!isAsked && one.referenceHeader)
      complain('referenceHeader', 'goes with queryable or cancelable only');
    if (kind === 'cancelable' && !one.cancel)
      complain('cancel', 'says how an extra is undone; a cancelable rule needs it');
    if (kind !== 'cancelable' && one.cancel) complain('cancel', 'goes with the capability cancelable only');
    if (kind !== 'keyed' && one.keyHeader) complain('keyHeader', 'goes with the capability keyed only');
  });

const kindOf = (spec: CapabilitySpec | undefined): string | undefined =>
  typeof spec === 'object' ? spec.kind : spec;

const GRANTS = z
  .array(z.strictObject({ name, origin, describe: line.optional(), rules: z.array(rule) }))
  .superRefine(uniqueNames);

const FILE = z.strictObject({ grants: GRANTS });
