/** The tools of a runtime by name; definitions are checked when it starts, not when a model first calls one. */

import { RECALL } from '../../core/effect.ts';
import { OutlastError } from '../../core/error.ts';
import type { ToolSpec } from '../../core/message.ts';
import { isRecord } from '../../lib/json.ts';
import type { Tool } from '../../tools/port.ts';
import { RECALL_TOOL } from '../recall/tool.ts';
import { BUILT_IN, type BuiltIn } from './built-in.ts';

export interface Registry {
  get(name: string): Tool | undefined;
  /** What the model is offered, `code` first, then what is built in, then by name: the same bytes for the same tools. */
  readonly specs: readonly ToolSpec[];
  readonly names: readonly string[];
  /** A verb of the loop itself. */
  verb(name: string): BuiltIn | undefined;
  readonly hasCode: boolean;
}

export interface RegistryOptions {
  readonly hasCode?: boolean;
  readonly verbs?: readonly BuiltIn[];
}

export const CODE = 'code';

const CODE_SPEC: ToolSpec = {
  name: CODE,
  description:
    'Run one cell of JavaScript or TypeScript in the sandbox of this task. Variables stay between cells; top-level ' +
    'await works; the value of the last expression is shown. fetch reaches the granted services.',
  input: {
    type: 'object',
    properties: { source: { type: 'string', description: 'The code of the cell.' } },
    required: ['source'],
    additionalProperties: false,
  },
};

export function registry(
  tools: readonly Tool[],
  { hasCode = true, verbs = BUILT_IN }: RegistryOptions = {},
): Registry {
  const byName = new Map<string, Tool>();
  const byVerb = new Map(verbs.map((verb) => [verb.spec.name, verb]));
  const taken = new Set([...(hasCode ? [CODE] : []), ...byVerb.keys(), RECALL]);
  for (const [index, tool] of tools.entries()) {
    checkTool(tool, index);
    if (byName.has(tool.spec.name) || taken.has(tool.spec.name)) {
      throw invalid(index, `the name "${tool.spec.name}" is taken`);
    }
    byName.set(tool.spec.name, tool);
  }
  const offered = [...byName.values()].filter((tool) => tool.direct).map((tool) => tool.spec);
  const sorted = offered.sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    get: (name) => (name === RECALL ? RECALL_TOOL : byName.get(name)),
    specs: [...(hasCode ? [CODE_SPEC] : []), ...verbs.map(({ spec }) => spec), RECALL_TOOL.spec, ...sorted],
    names: [...taken, ...[...byName.keys()].sort()],
    verb: (name) => byVerb.get(name),
    hasCode,
  };
}

function checkTool(tool: Tool, index: number): void {
  const name: unknown = tool?.spec?.name;
  if (typeof name !== 'string' || !/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name)) {
    throw invalid(index, 'spec.name is 1 to 64 letters, digits, _ or -');
  }
  const input: unknown = tool.spec.input;
  if (!isRecord(input) || input.type !== 'object')
    throw invalid(index, 'spec.input is a JSON Schema of type object');
  if (typeof tool.plan !== 'function') throw invalid(index, 'plan is missing');
  if (typeof tool.run !== 'function') throw invalid(index, 'run is missing');
  if (tool.bookedAs !== undefined && typeof tool.bookedAs !== 'string')
    throw invalid(index, 'bookedAs is the name of a tool');
}

function invalid(index: number, what: string): OutlastError {
  return new OutlastError('tool.invalid', `tools[${index}]: ${what}.`, { next: 'correct the definition' });
}
