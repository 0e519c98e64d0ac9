/**
 * Tools of one's own: a name, the shape of the arguments, what the service can do for us, and a function.
 *
 * Y1  A definition is checked when it is made; what is wrong is named by its place.
 * Y2  Arguments are checked before anything is durable, and `run` gets them as they were checked, defaults filled in.
 * Y3  What `run` returns is the result; `failure(…)` says that it clearly did not happen. Whatever it throws means
 *     that nobody knows, except `NotSent`.
 */

import { z } from 'zod';
import type { Audit, Capability, Finding } from '../core/capability.ts';
import { OutlastError } from '../core/error.ts';
import { isRecord, type Json, toJson } from '../lib/json.ts';
import { clip } from '../lib/text.ts';
import { wellFormedJson } from '../lib/well-formed.ts';
import { type CapabilitySpec, capabilityFrom, capabilitySpec } from './capability-spec.ts';
import type { Answer, Plan, Refusal, RunContext, Tool } from './port.ts';

export type JsonSchema = { readonly type: 'object' } & { readonly [keyword: string]: unknown };

/** What a schema lets through. */
export type ArgsOf<Input> = Input extends z.core.$ZodType
  ? z.output<Input>
  : { readonly [name: string]: Json };

export interface OwnTool<Input extends z.core.$ZodType | JsonSchema> {
  readonly name: string;
  readonly description: string;
  /** A Zod object without transforms, or a JSON Schema of type object. */
  readonly input: Input;
  readonly capability: CapabilitySpec;
  /** What is acted on; default the tool itself. Writes to one target wait for its unknowns. */
  readonly target?: string | ((args: ArgsOf<Input>) => string);
  /** What a call costs, for the policy. */
  readonly costUsd?: number | ((args: ArgsOf<Input>) => number);
  /** Narrows that wait to calls about the same thing. */
  readonly identity?: (args: ArgsOf<Input>) => string | null;
  readonly run: (args: ArgsOf<Input>, context: RunContext) => unknown;
  /** Looks for what an earlier `run` with the same reference did; a queryable tool needs it. */
  readonly find?: (args: ArgsOf<Input>, context: RunContext) => Finding | Promise<Finding>;
  /** Looks for all that stands under the reference and undoes all but one; a cancelable tool needs it. */
  readonly audit?: (args: ArgsOf<Input>, context: RunContext) => Audit | Promise<Audit>;
}

/** A clear failure: it did not happen. Returned from `run`. */
export class Failure {
  readonly code: string;
  readonly message: string;

  constructor(code: string, message: string) {
    this.code = code;
    this.message = message;
  }
}

/** `return failure('stock.none', 'There is none left.')` */
export const failure = (code: string, message: string): Failure => new Failure(code, message);

/**
 * @example
 * ```ts
 * const weather = defineTool({
 *   name: 'weather',
 *   description: 'The weather in a city.',
 *   input: z.object({ city: z.string() }),
 *   capability: 'read',
 *   run: async ({ city }) => ({ city, sky: 'clear' }),
 * });
 * ```
 */
export function defineTool<const Input extends z.core.$ZodType | JsonSchema>(
  definition: OwnTool<Input>,
): Tool {
  const { name, description, run, find, audit, target = `tools.${name}`, identity, costUsd } = definition;
  const capability = checkDefinition(definition as unknown as OwnTool<JsonSchema>);
  const { spec: input, schema } = inputOf(name, definition.input);
  return {
    spec: { name, description, input },
    direct: true,
    plan,
    run: async (args, context) => answerOf(await run(args as ArgsOf<Input>, context)),
    ...(find && { find: async (args: Json, context: RunContext) => find(args as ArgsOf<Input>, context) }),
    ...(audit && { audit: async (args: Json, context: RunContext) => audit(args as ArgsOf<Input>, context) }),
  };

  function plan(given: Json): Plan | Refusal {
    const parsed = z.safeParse(schema, given);
    if (!parsed.success) return invalidCall(name, parsed.error);
    const args = wellFormedJson(toJson(parsed.data));
    const checked = args as ArgsOf<Input>;
    return {
      capability,
      target: typeof target === 'function' ? target(checked) : target,
      identity: identity?.(checked) ?? null,
      args,
      ...(costUsd === undefined
        ? {}
        : { costUsd: typeof costUsd === 'function' ? costUsd(checked) : costUsd }),
    };
  }
}

/** Y1. */
function checkDefinition(definition: OwnTool<JsonSchema>): Capability {
  const { name, description, capability: spec, target, identity, costUsd, run, find, audit } = definition;
  if (typeof name !== 'string' || !/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name)) {
    throw wrong('defineTool', 'name', 'is 1 to 64 letters, digits, _ or -, and begins with no digit');
  }
  if (typeof description !== 'string' || description.trim() === '') {
    throw wrong(name, 'description', 'says in a sentence what the tool does');
  }
  const capability = capabilitySpec.safeParse(spec);
  if (!capability.success) {
    const { path, message } = capability.error.issues[0] ?? { path: [], message: 'is wrong' };
    throw wrong(name, ['capability', ...path].join('.'), message);
  }
  if (typeof run !== 'function') throw wrong(name, 'run', 'is a function');
  if (find !== undefined && typeof find !== 'function') throw wrong(name, 'find', 'is a function');
  if (audit !== undefined && typeof audit !== 'function') throw wrong(name, 'audit', 'is a function');
  if (target !== undefined && typeof target !== 'function' && typeof target !== 'string') {
    throw wrong(name, 'target', 'is a text, or a function that makes one');
  }
  if (identity !== undefined && typeof identity !== 'function')
    throw wrong(name, 'identity', 'is a function');
  if (costUsd !== undefined && typeof costUsd !== 'function' && !Number.isFinite(costUsd))
    throw wrong(name, 'costUsd', 'is a number, or a function that makes one');
  const checked = capabilityFrom(capability.data);
  if (checked.kind === 'queryable' && !find)
    throw wrong(name, 'find', 'is missing; a queryable tool needs it');
  if (checked.kind === 'cancelable' && !audit)
    throw wrong(name, 'audit', 'is missing; a cancelable tool needs it');
  return checked;
}

interface Input {
  readonly spec: Json;
  readonly schema: z.core.$ZodType;
}

function inputOf(name: string, input: unknown): Input {
  try {
    const read = isZod(input) ? fromZod(input) : fromJsonSchema(input);
    if (isRecord(read.spec) && read.spec.type === 'object') return read;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw wrong(name, 'input', `cannot be used as a JSON Schema: ${why}`, cause);
  }
  throw wrong(name, 'input', 'is a Zod object, or a JSON Schema of type object');
}

/** By its mark and not by class: the caller may have another copy of Zod. */
const isZod = (input: unknown): input is z.core.$ZodType =>
  typeof input === 'object' && input !== null && '_zod' in input;

function fromZod(schema: z.core.$ZodType): Input {
  z.toJSONSchema(schema, { io: 'output' }); // throws for what JSON cannot hold: arguments are stored as JSON
  const { $schema: _, ...spec } = z.toJSONSchema(schema, { io: 'input' });
  return { spec: toJson(spec), schema };
}

function fromJsonSchema(input: unknown): Input {
  const spec = toJson(input);
  const schema = isRecord(spec) ? z.fromJSONSchema(spec as z.core.JSONSchema.JSONSchema) : z.never();
  return { spec, schema };
}

function wrong(tool: string, place: string, what: string, cause?: unknown): OutlastError {
  return new OutlastError('tool.invalid', `${tool}.${place} ${what}.`, {
    next: 'correct the definition',
    cause,
  });
}

function invalidCall(name: string, error: z.core.$ZodError): Refusal {
  const found = error.issues.map(({ path, message }) =>
    path.length > 0 ? `${path.join('.')}: ${message}` : message,
  );
  return { refused: { code: 'call.invalid', message: `${name} was not called. ${found.join('; ')}.` } };
}

/** As much as an answer of `fetch` may have: a result stands in the log and in the state for good. */
const RESULT_MAX = 1_000_000;

/** Y3. */
function answerOf(returned: unknown): Answer {
  if (returned instanceof Failure)
    return { status: 'failed', code: returned.code, message: returned.message };
  try {
    const result = wellFormedJson(toJson(returned));
    const text = JSON.stringify(result);
    if (text.length <= RESULT_MAX) return { status: 'done', result };
    const note = `It is done; the result has ${text.length} characters and is kept in part.`;
    return { status: 'done', result: { note, result: clip(text, RESULT_MAX) } };
  } catch {
    // It ran: an unknown outcome, or a failure, would be untrue.
    return { status: 'done', result: { note: 'It is done; the result cannot be written as JSON.' } };
  }
}
