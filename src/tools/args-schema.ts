/**
 * The JSON Schema of arguments in a rule of a policy. What the checker would pass over in silence is refused when the rule
 * is read: a bound that is written and not held would let through what it was to keep.
 *
 * J1  Taken are `type` with the bounds of that one type, `enum` and `const` of simple values, and `anyOf`, `oneOf` or
 *     `allOf` of such schemas. Whatever else stands in a schema is named by its place.
 */

import { z } from 'zod';
import { isRecord, type Json } from '../lib/json.ts';

const NOTES = ['title', 'description', '$comment', '$schema', 'examples'];
const BOUNDS: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
  string: ['minLength', 'maxLength', 'pattern'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  boolean: [],
  null: [],
};

export interface Wrong {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Whether arguments are such that the schema takes them; or what is wrong with the schema. */
export function argsMatcher(schema: unknown): ((args: Json) => boolean) | Wrong {
  const wrong = faultIn(schema, []);
  if (wrong) return wrong;
  try {
    const checker = z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema);
    return (args) => checker.safeParse(args).success;
  } catch (error) {
    return { path: [], message: error instanceof Error ? error.message : 'is no JSON Schema' };
  }
}

/** J1. */
function faultIn(schema: unknown, path: readonly PropertyKey[]): Wrong | null {
  const wrong = (message: string, ...more: readonly PropertyKey[]): Wrong => ({
    path: [...path, ...more],
    message,
  });
  if (!isRecord(schema)) return wrong('is a JSON Schema');
  const words = Object.keys(schema).filter((word) => !NOTES.includes(word));
  const group = (['anyOf', 'oneOf', 'allOf'] as const).find((word) => word in schema);
  if (group) {
    if (words.length > 1) return wrong(`stands alone, without ${words.filter((w) => w !== group)}`, group);
    const parts = schema[group];
    if (!Array.isArray(parts) || parts.length === 0) return wrong('is a list of schemas', group);
    return firstOf(parts.map((part, i) => faultIn(part, [...path, group, i])));
  }
  const simple = (['enum', 'const'] as const).find((word) => word in schema);
  if (simple) {
    const other = words.find((word) => word !== simple && word !== 'type');
    if (other !== undefined) return wrong(`does not go with ${simple}`, other);
    const values = simple === 'enum' ? schema.enum : [schema.const];
    const isSimple = Array.isArray(values) && values.length > 0 && !values.some(isDeep);
    return isSimple ? null : wrong('is made of texts, numbers, true, false and null', simple);
  }
  const bounds = typeof schema.type === 'string' ? BOUNDS[schema.type] : undefined;
  if (!bounds) return wrong(`is one of ${Object.keys(BOUNDS).join(', ')}`, 'type');
  const strange = words.find((word) => word !== 'type' && !bounds.includes(word));
  if (strange !== undefined) return wrong(`is not held for the type ${schema.type}`, strange);
  return schema.type === 'object' ? faultInObject(schema, path) : faultInItems(schema, path);
}

function faultInObject(schema: Record<string, unknown>, path: readonly PropertyKey[]): Wrong | null {
  const { properties = {}, required = [], additionalProperties: more = true } = schema;
  if (!isRecord(properties)) return { path: [...path, 'properties'], message: 'is an object of schemas' };
  const known = Object.keys(properties);
  if (!Array.isArray(required) || !required.every((name) => known.includes(name)))
    return { path: [...path, 'required'], message: 'is a list of names that stand in properties' };
  return firstOf([
    ...Object.entries(properties).map(([name, part]) => faultIn(part, [...path, 'properties', name])),
    typeof more === 'boolean' ? null : faultIn(more, [...path, 'additionalProperties']),
  ]);
}

const faultInItems = ({ items }: Record<string, unknown>, path: readonly PropertyKey[]): Wrong | null =>
  items === undefined ? null : faultIn(items, [...path, 'items']);

const firstOf = (found: readonly (Wrong | null)[]): Wrong | null => found.find((one) => one !== null) ?? null;

const isDeep = (value: unknown): boolean => typeof value === 'object' && value !== null;
