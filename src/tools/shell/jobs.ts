/** `shell_jobs`: what runs in the background of a session, looked at, written to, and ended. */

import { z } from 'zod';
import type { Capability } from '../../core/capability.ts';
import type { Json } from '../../lib/json.ts';
import type { Processes } from '../../sandbox/process/port.ts';
import { defineTool, failure } from '../own.ts';
import { isRefusal, type Tool } from '../port.ts';
import { opened } from './shell.ts';
import { toldOf } from './told.ts';

const input = z.strictObject({
  job: z.string().max(20).optional().describe('j1, j2 …; without one, all that run are listed.'),
  do: z
    .enum(['look', 'input', 'kill'])
    .default('look')
    .describe('look: its output; input: write to its terminal; kill: end it with all that it started.'),
  input: z
    .string()
    .max(100_000)
    .optional()
    .describe('What is written. A line ends with \\n; Ctrl-C is \\u0003.'),
});

/** Ended twice is ended, and what was written under a reference is not written again. */
const KEPT_MS = 24 * 3_600_000;

export function jobsTool(processes: Processes): Tool {
  const tool = defineTool({
    name: 'shell_jobs',
    description: 'What runs in the background of this task: list it, read its output, write to it, end it.',
    input,
    capability: 'read',
    target: 'sandbox:jobs',
    async run({ job, do: verb, input: text }, context) {
      const box = await opened(processes, context);
      if (job === undefined) {
        const running = await box.jobs();
        return { running: running.map((one) => ({ job: one.job, command: one.command, ...toldOf(one) })) };
      }
      const unknown = failure('job.unknown', `There is no job ${job}.`);
      switch (verb) {
        case 'look': {
          const report = await box.look(job);
          return report ? toldOf(report) : unknown;
        }
        case 'kill': {
          const report = await box.kill(job);
          return report ? toldOf(report) : unknown;
        }
        case 'input': {
          const isWritten = await box.input(job, text ?? '', context.reference);
          if (isWritten) return { written: true };
          return failure('job.deaf', `Nobody reads there: ${job} has ended, or has no terminal.`);
        }
      }
    },
  });
  const plan: Tool['plan'] = (args) => {
    const planned = tool.plan(args);
    if (isRefusal(planned)) return planned;
    return { ...planned, capability: capabilityOf(planned.args) };
  };
  return { ...tool, plan };
}

function capabilityOf(args: Json): Capability {
  const { job, do: verb } = args as unknown as z.output<typeof input>;
  const isLook = job === undefined || verb === 'look';
  return isLook ? { kind: 'read' } : { kind: 'keyed', retentionMs: KEPT_MS };
}
