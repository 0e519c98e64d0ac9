/** The OpenAPI 3.1 document, built from the table of routes and nothing else. */

import { z } from 'zod';
import type { Json } from '../lib/json.ts';
import { STATUS } from './error.ts';
import { ROUTES, type Route } from './routes.ts';
import * as schema from './schema.ts';

const KEYED = {
  log: 'A repeat with the same key gets the first answer, in any process, for ever.',
  process:
    'A repeat with the same key gets the first answer from the running server. After a restart the call is made again.',
} as const;

export function openapi(): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const [id, route] of Object.entries(ROUTES)) {
    const path = route.path.replace(':id', '{id}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(id, route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Outlast',
      version: '1',
      description:
        'Agent sessions that outlast the process that runs them. Errors carry a code and say what to do next. ' +
        `Codes: ${Object.keys(STATUS).join(', ')}.`,
    },
    paths,
    components: {
      schemas: { Error: jsonSchema(schema.errorAnswer, 'output') },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
    security: [{}, { token: [] }],
  };
}

function operation(id: string, route: Route): Json {
  return {
    operationId: id,
    summary: route.summary,
    parameters: [...pathParameters(route), ...queryParameters(route), ...keyParameter(route)],
    ...(route.body === null
      ? {}
      : { requestBody: { required: true, content: content(jsonSchema(route.body, 'input')) } }),
    responses: {
      [route.status]: {
        description: 'Done.',
        content: { ...content(jsonSchema(route.answer, 'output')), ...stream(route) },
      },
      default: {
        description: 'Refused, or failed.',
        content: content({ $ref: '#/components/schemas/Error' }),
      },
    },
  };
}

function pathParameters({ path }: Route): Json[] {
  return path.includes(':id') ? [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] : [];
}

function queryParameters({ query }: Route): Json[] {
  const { properties = {} } = z.toJSONSchema(query, { io: 'output' });
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: 'query',
    required: false,
    schema: property as Json,
  }));
}

function keyParameter({ keyed }: Route): Json[] {
  if (keyed === null) return [];
  const shape = jsonSchema(schema.key, 'input');
  return [
    { name: 'Idempotency-Key', in: 'header', required: false, description: KEYED[keyed], schema: shape },
  ];
}

function stream({ stream: description }: Route): { readonly [type: string]: Json } {
  return description === undefined
    ? {}
    : { 'text/event-stream': { schema: { type: 'string', description } } };
}

function content(shape: Json): { readonly [type: string]: Json } {
  return { 'application/json': { schema: shape } };
}

/** `readonly` is a matter of our types; on the wire it would read as "the client may not send it". */
function jsonSchema(type: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...shape } = z.toJSONSchema(type, {
    io,
    override: ({ jsonSchema: found }) => {
      delete found.readOnly;
    },
  });
  return shape as Json;
}
