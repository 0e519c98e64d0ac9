/**
 * A report over several accounts, by script: each account is given to a child, and what the children answer is put
 * together. It stands in for a model as the rest of the planner does, under the same rules (B1 to B3).
 *
 * C1  An account is given away once; what became of it is read from the results, and from what is told later.
 * C2  The answer says of each account what its child said, in its own words, or how the child ended.
 */

import type { ModelRequest } from '../../../core/message.ts';
import type { ModelReply } from '../../port.ts';

const ORDER = /^Report on (\w+)'s invoices for each of these accounts, each by a child of its own: (.+)$/s;
const RUNTIME = '[outlast] ';
const USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

interface Order {
  readonly month: string;
  readonly accounts: readonly string[];
}

/** Null when nobody has ordered what is done here. */
export function delegationReply(request: ModelRequest): ModelReply | null {
  const order = orderIn(request);
  if (order === null || request.isCompaction) return null;
  if (!request.tools.some(({ name }) => name === 'delegate'))
    return said('I cannot give work to children here: delegate is not offered.');
  const given = givenAway(request);
  const missing = order.accounts.filter((account) => !given.has(account));
  if (missing.length > 0) return giving(order, missing);
  return said(reportOf(order, heardIn(request)));
}

function orderIn({ messages }: ModelRequest): Order | null {
  const instruction = messages.findLast(
    ({ role, ...one }) => role === 'user' && !textOf(one).startsWith(RUNTIME),
  );
  const [, month, list = ''] = ORDER.exec(instruction ? textOf(instruction) : '') ?? [];
  const accounts = [...list.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
  return month === undefined || accounts.length === 0 ? null : { month, accounts };
}

const textOf = (message: object): string => ('text' in message ? String(message.text) : '');

/** Titles of the children that were asked for. */
const givenAway = ({ messages }: ModelRequest): ReadonlySet<string> =>
  new Set(
    messages.flatMap((message) =>
      message.role === 'assistant'
        ? message.parts.flatMap((part) =>
            part.type === 'tool-call' && part.tool === 'delegate'
              ? [String((part.input as { title?: unknown }).title)]
              : [],
          )
        : [],
    ),
  );

function giving({ month }: Order, accounts: readonly string[]): ModelReply {
  const text = `I give each of the ${accounts.length} accounts to a child, and wait for what they find.`;
  const calls = accounts.map((account) => ({
    type: 'tool-call' as const,
    tool: 'delegate',
    input: { title: account, task: `Report on ${month}'s invoices for the account "${account}"` },
  }));
  return { parts: [{ type: 'text', text }, ...calls], finish: 'tool-calls', usage: USAGE };
}

/** Everything that was heard of children: results of calls, and what came later like a message. */
const heardIn = ({ messages }: ModelRequest): string =>
  messages
    .flatMap((message) => {
      if (message.role === 'tool') return message.results.map(({ text }) => text);
      return message.role === 'user' && message.text.startsWith(RUNTIME) ? [message.text] : [];
    })
    .join('\n');

/** C2. */
function reportOf({ month, accounts }: Order, heard: string): string {
  const lines = accounts.map((account) => {
    const told = [
      ...heard.matchAll(
        new RegExp(`Child ses_\\w+ \\("${escaped(account)}"\\) ([^\\n]*):\\n((?:> .*\\n?)*)`, 'g'),
      ),
    ];
    const [, end = 'has said nothing', quoted = ''] =
      told.findLast(([, how]) => how?.startsWith('answered')) ?? told.at(-1) ?? [];
    const first = quoted.split('\n').find((line) => /\d+ invoices?\b/.test(line));
    return first === undefined
      ? `- ${account}: no report; its child ${end}.`
      : `- ${first.replace(/^> (?:Report for )?/, '')}`;
  });
  return [`${month}, by ${accounts.length} children, in their words:`, '', ...lines].join('\n');
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const said = (text: string): ModelReply => ({
  parts: [{ type: 'text', text }],
  finish: 'stop',
  usage: USAGE,
});
