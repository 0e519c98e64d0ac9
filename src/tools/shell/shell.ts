/**
 * `shell`: a command in the session's own sandbox of processes.
 *
 * L1  The reference of the effect is the key under which its sandbox knows a command: run again after a crash it is not,
 *     it is asked for. So it is `queryable`, and at once: whoever asks is the holder, and no former one can send any more.
 * L2  Where nothing outside can be reached, a command whose sandbox was lost with all that could tell of it has changed
 *     nothing that is still there, and is told so. Where the network is open nobody knows: then it is `blind`.
 */

import { z } from 'zod';
import type { Capability, Finding } from '../../core/capability.ts';
import type { Json } from '../../lib/json.ts';
import type { Command, Found, ProcessBox, Processes } from '../../sandbox/process/port.ts';
import { defineTool, failure } from '../own.ts';
import { type Answer, NotSent, type RunContext, type Tool } from '../port.ts';
import { kept } from './kept.ts';
import { toldOf } from './told.ts';

const DEFAULT_MS = 60_000;
const LONGEST_MS = 30 * 60_000;
/** A server that is started and forgotten must not run for ever. */
const BACKGROUND_MS = 4 * 3_600_000;
/** For starting the sandbox, and for the end of what has to be killed. */
const MORE_MS = 15_000;

const input = z.strictObject({
  command: z.string().min(1).max(100_000).describe('For bash.'),
  cwd: z.string().min(1).max(4_000).default('.').describe('Folder, relative to /workspace.'),
  timeoutMs: z
    .int()
    .min(100)
    .max(LONGEST_MS)
    .optional()
    .describe('The command is ended after so long; 60,000 by default, in the background four hours.'),
  background: z.boolean().default(false).describe('Come back at once; shell_jobs shows how it goes on.'),
  input: z.string().max(1_000_000).optional().describe('What it reads from stdin, which is empty otherwise.'),
  pty: z
    .boolean()
    .default(false)
    .describe('Give it a terminal. Together with background: shell_jobs writes to it.'),
});

export function shellTool(processes: Processes): Tool {
  const tool = defineTool({
    name: 'shell',
    description: describe(processes),
    input,
    capability: capabilityOf(processes),
    target: 'sandbox:shell',
    async run(args, context) {
      if (args.pty && !processes.abilities.pty) return failure('pty.missing', 'There are no terminals here.');
      const box = await opened(processes, context);
      const ran = await box.run(commandOf(args, context.reference), context.signal);
      const report = await kept(ran, box, context);
      return { ...toldOf(report), ...(await othersOf(box, report.job)) };
    },
    find: (_, context) => found(processes, context),
  });
  return { ...tool, changesFiles: true, heedsSignal: true, limitMs: limitOf };
}

function describe({ abilities: { confinement, network } }: Processes): string {
  const walls =
    confinement === 'none'
      ? 'It is not confined: it sees and can change this machine.'
      : 'It runs confined: it sees the programs of this machine and /workspace, and can write there and in /tmp.';
  const reach =
    network === 'denied'
      ? ' There is no network but a loopback of its own.'
      : network === 'listed'
        ? ' The network is reached by the proxy that the environment names, and only the hosts that are allowed.'
        : '';
  return (
    `Run a command in the workspace of this task. ${walls}${reach} Files stay; variables and the current folder do not. ` +
    'A command that leaves processes behind comes back when it ends itself, and they go on.'
  );
}

/** L2. */
function capabilityOf({ abilities: { network } }: Processes): Capability {
  return network === 'denied' ? { kind: 'queryable', lateMs: 0 } : { kind: 'blind' };
}

type Args = z.output<typeof input>;

const commandOf = (
  { command, cwd, timeoutMs, background, input: given, pty }: Args,
  reference: string,
): Command => ({
  ...{ reference, command, cwd, background, pty, input: given ?? null },
  timeoutMs: timeoutMs ?? (background ? BACKGROUND_MS : DEFAULT_MS),
});

/** Until the call itself is over; what goes on in the background has limits of its own. */
function limitOf(args: Json): number {
  const { background, timeoutMs = DEFAULT_MS } = args as unknown as Args;
  return MORE_MS + (background ? 0 : timeoutMs);
}

/** The sandbox of the session. Where it cannot be had, nothing was sent. */
export async function opened(processes: Processes, context: RunContext): Promise<ProcessBox> {
  try {
    return await processes.open(context.session, context.epoch, await context.workspace().folder());
  } catch (cause) {
    throw new NotSent(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** What else runs, so that nothing is forgotten behind the work. Of a sandbox that is ended just then, nothing. */
async function othersOf(box: ProcessBox, job: string): Promise<{ readonly alsoRunning?: readonly string[] }> {
  const running = await box.jobs().catch(() => []);
  const others = running.filter((other) => other.job !== job).map((other) => other.job);
  return others.length === 0 ? {} : { alsoRunning: others };
}

async function found(processes: Processes, context: RunContext): Promise<Finding> {
  const { session, epoch, reference, signal } = context;
  return findingOf(await processes.find(session, epoch, reference, signal));
}

/** L2. */
export function findingOf(found: Found): Finding | Answer {
  switch (found.status) {
    case 'absent':
      return { status: 'absent' };
    case 'gone':
      return lost('Its sandbox is gone, with all that could say whether it ran.');
    case 'known':
      return found.report.ending === 'lost'
        ? lost(`Its sandbox was lost while it ran (${found.report.job}), and nobody saw its end.`)
        : { status: 'done', result: toldOf(found.report) };
  }
}

const lost = (what: string): Finding => ({
  status: 'failed',
  code: 'sandbox.lost',
  message: `${what} Nothing outside the workspace can have come of it; what it did there, look for.`,
});
