/**
 * What people write for us, grants and policies: read and checked. What is wrong is named by its place,
 * `grants[0].rules[2].capability`, when it is read and not when it is first needed.
 */

import type { z } from 'zod';
import { type ErrorCode, OutlastError } from '../core/error.ts';

export interface Written {
  readonly code: ErrorCode;
  /** How the complaint begins: `The grants are`. */
  readonly subject: string;
  readonly next: string;
}

export function parsed(text: string, { code, subject, next }: Written): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new OutlastError(code, `${subject} not JSON.`, { next, cause });
  }
}

/** `root` is where the value stands, when that is not the whole file. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, written: Written, root = ''): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { code, subject, next } = written;
  const found = result.error.issues.map(({ path, message }) => `${placeOf(root, path)}: ${message}`);
  throw new OutlastError(code, `${subject} wrong. ${found.join('; ')}.`, { next });
}

/** For `superRefine` on a list of things that are called by name. */
export function uniqueNames(list: readonly { readonly name: string }[], context: z.RefinementCtx): void {
  for (const [i, { name }] of list.entries()) {
    if (list.findIndex((other) => other.name === name) === i) continue;
    context.addIssue({ code: 'custom', path: [i, 'name'], message: `"${name}" is taken` });
  }
}

function placeOf(root: string, path: readonly PropertyKey[]): string {
  const place = path.reduce<string>((so, step) => {
    if (typeof step === 'number') return `${so}[${step}]`;
    return so === '' ? String(step) : `${so}.${String(step)}`;
  }, root);
  return place === '' ? 'the file' : place;
}
