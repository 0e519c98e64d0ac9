/**
 * What the file tools have in common: a tool on the files of its session, and what it cannot do as a failure in words.
 *
 * Nothing here reaches beyond the session's own folder: the workspace refuses every path that leads out.
 */

import type { z } from 'zod';
import { OutlastError } from '../../core/error.ts';
import type { Workspace } from '../../workspace/port.ts';
import { defineTool, type Failure, failure } from '../own.ts';
import type { RunContext, Tool } from '../port.ts';

interface FileTool<Input extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  /** A failure that is thrown ends the call in words. */
  readonly run: (args: z.output<Input>, files: Workspace, context: RunContext) => Promise<string>;
}

/** What tools cannot do, as they say it: thrown where it is found, and told as a failure. */
export class Refused extends Error {
  readonly failure: Failure;

  constructor(code: string, message: string) {
    super(message);
    this.failure = failure(code, message);
  }
}

export function readingTool<Input extends z.ZodObject>(tool: FileTool<Input>): Tool {
  return { ...defined(tool, 'read'), readsFiles: true };
}

/**
 * The files are a service that knows what it has done: a call that is repeated finds its note and its file (`change.ts`).
 * The notes last as long as the folder, and without the folder there is nothing that could be done twice.
 */
export function changingTool<Input extends z.ZodObject>(tool: FileTool<Input>): Tool {
  return { ...defined(tool, { kind: 'keyed', retentionMs: YEAR_MS }), changesFiles: true };
}

const YEAR_MS = 365 * 24 * 3_600_000;

function defined<Input extends z.ZodObject>(
  { name, description, input, run }: FileTool<Input>,
  capability: Parameters<typeof defineTool>[0]['capability'],
): Tool {
  return defineTool({
    ...{ name, description, input, capability },
    target: 'workspace',
    identity: (args) => String((args as { path?: unknown }).path ?? ''),
    run: (args, context) => told(() => run(args as z.output<Input>, context.workspace(), context)),
  });
}

async function told(work: () => Promise<string>): Promise<string | Failure> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused) return error.failure;
    const isKnown =
      error instanceof OutlastError && (error.code.startsWith('files.') || error.code === 'path.outside');
    if (!isKnown) throw error;
    return failure(error.code, `${error.message} Next: ${error.next}.`);
  }
}
