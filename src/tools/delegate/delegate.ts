/**
 * Children of a task: start one, go on with one, stop one. What they do is theirs; what comes of it is reported to the
 * call that waits for it, or like a message.
 */

import { z } from 'zod';
import { OutlastError } from '../../core/error.ts';
import type { FamilyUse } from '../../core/family/event.ts';
import { isRecord, type Json } from '../../lib/json.ts';
import { oneLine } from '../../lib/text.ts';
import { defineTool, type Failure, failure } from '../own.ts';
import { isRefusal, type SpawnRequest, type Tool } from '../port.ts';

/** An order is known by its effect for as long as the logs stand. */
const FOR_EVER = { kind: 'keyed', retentionMs: Number.MAX_SAFE_INTEGER } as const;

const text = (what: string) => z.string().trim().min(1).max(100_000).describe(what);
const childId = z.string().max(60).describe('Its id: ses_…');
const wait = z
  .boolean()
  .default(true)
  .describe('true: the call waits for what comes of it. false: go on; it is reported when it is there.');

const delegate = defineTool({
  name: 'delegate',
  description:
    'Give a piece of work that can be done by itself to a child: a task of its own, with its own sandbox, files and ' +
    'context. It knows nothing but what you write, unless it begins as a fork. Several calls in one step work side by ' +
    'side. It stays there afterwards: continue_child goes on with it.',
  input: z.strictObject({
    task: text('The whole order, with all that is needed to do it.'),
    title: z.string().trim().min(1).max(80).optional().describe('A few words.'),
    from: z
      .enum(['nothing', 'fork'])
      .default('nothing')
      .describe('fork: it begins with your transcript, files and live objects, as copies.'),
    wait,
  }),
  capability: 'blind',
  target: 'a child',
  identity: ({ task }) => oneLine(task, 200),
  run: ({ task, title = oneLine(task, 60), from, ...rest }, context) =>
    ordered(() => {
      const request = { task, title, persist: false, fork: from === 'fork' };
      return context.kin().spawn({ ...request, share: shareIn(rest) });
    }),
});

const continueChild = defineTool({
  name: 'continue_child',
  description:
    'Say something to a child that is there: another order, a correction, an answer. It has all that it had.',
  input: z.strictObject({ child: childId, message: text('What it is told.'), wait }),
  capability: 'blind',
  target: ({ child }) => child,
  run: ({ child, message, ...rest }, context) =>
    ordered(() => context.kin().instruct(child, message, shareIn(rest))),
});

const stopChild = defineTool({
  name: 'stop_child',
  description: 'Stop a child whose work is not wanted any more.',
  input: z.strictObject({ child: childId }),
  capability: 'blind',
  target: ({ child }) => child,
  run: ({ child }, context) => ordered(() => context.kin().stop(child)),
});

/** The tools of a task that may have children. */
export const DELEGATION: readonly Tool[] = [
  ofFamily(delegate, 'spawns'),
  ofFamily(continueChild, 'instructs'),
  ofFamily(stopChild, 'stops'),
];

/** What an order is to its family, which its arguments alone cannot say; `wait` where the call does not say it. */
export function ofFamily(tool: Tool, family: FamilyUse, wait?: boolean): Tool {
  return {
    ...tool,
    plan(given) {
      const plan = tool.plan(given);
      if (isRefusal(plan)) return plan;
      const args = wait === undefined || !isRecord(plan.args) ? plan.args : { ...plan.args, wait };
      return { ...plan, args, capability: FOR_EVER, family };
    },
  };
}

/** What is clearly refused was not done; whatever else goes wrong, nobody knows. */
export async function ordered<T>(order: () => Promise<T>): Promise<T | Failure> {
  try {
    return await order();
  } catch (error) {
    if (!(error instanceof OutlastError) || error.code.startsWith('store.')) throw error;
    return failure(error.code, error.next ? `${error.message} ${error.next}.` : error.message);
  }
}

/** What the loop has added to the arguments. */
export function shareIn(args: object): SpawnRequest['share'] {
  const { share } = args as { share?: Json };
  return isRecord(share) ? (share as SpawnRequest['share']) : {};
}
