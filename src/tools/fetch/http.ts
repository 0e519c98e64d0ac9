/**
 * `http`: one granted request, asked for by the model directly and without code. It is another way to ask for `fetch`:
 * its effects are planned, kept and held as those of `fetch`, so an unknown one of either holds both.
 */

import type { ToolSpec } from '../../core/message.ts';
import { isRecord, type Json } from '../../lib/json.ts';
import type { Tool } from '../port.ts';

export function httpTool(fetch: Tool): Tool {
  return {
    ...fetch,
    spec: SPEC,
    direct: true,
    bookedAs: fetch.spec.name,
    plan: (args) => fetch.plan(withText(args)),
  };
}

const SPEC: ToolSpec = {
  name: 'http',
  description:
    'Send one HTTP request to a granted service and get its answer: status, headers, body. For a single request; use ' +
    'code and its fetch where answers are worked on.',
  input: {
    type: 'object',
    properties: {
      url: { type: 'string' },
      method: { type: 'string', description: 'GET by default.' },
      headers: { type: 'object', additionalProperties: { type: 'string' } },
      body: { description: 'Text, or an object or list, which is sent as JSON.' },
    },
    required: ['url'],
    additionalProperties: false,
  },
};

/** A body that is no text becomes JSON, and says so. */
function withText(args: Json): Json {
  if (!isRecord(args) || typeof args.body !== 'object' || args.body === null) return args;
  const given = isRecord(args.headers) ? args.headers : {};
  const isTyped = Object.keys(given).some((name) => name.toLowerCase() === 'content-type');
  const headers = isTyped ? given : { ...given, 'content-type': 'application/json' };
  return { ...args, headers, body: JSON.stringify(args.body) } as Json;
}
