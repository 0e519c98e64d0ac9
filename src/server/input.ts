/** Reading what came in: a query, a JSON body, a key. What does not fit is refused with the path to it. */

import type { z } from 'zod';
import { OutlastError } from '../core/error.ts';
import * as schema from '../protocol/schema.ts';

export function readQuery(type: z.ZodType, url: URL): unknown {
  return checked(type, Object.fromEntries(url.searchParams), 'query');
}

/** An empty body is the empty object, so that `pause` and its like need none. */
export async function readBody(type: z.ZodType, request: Request): Promise<unknown> {
  const text = await request.text();
  return checked(type, text.trim() === '' ? {} : parse(text), 'body');
}

export function readKey(request: Request): string | null {
  const header = request.headers.get('idempotency-key');
  return header === null ? null : (checked(schema.key, header, 'Idempotency-Key') as string);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new OutlastError(
      'request.invalid',
      `body: no JSON (${error instanceof Error ? error.message : error}).`,
      {
        next: 'send one JSON object',
        cause: error,
      },
    );
  }
}

function checked(type: z.ZodType, value: unknown, what: string): unknown {
  const result = type.safeParse(value);
  if (result.success) return result.data;
  const found = result.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${[what, ...path].join('.')}: ${message}`);
  throw new OutlastError('request.invalid', `${found.join('; ')}.`, {
    next: `correct the ${what}; GET /v1/openapi.json describes it`,
  });
}
