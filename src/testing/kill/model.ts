/**
 * The scripted model of the campaign: a pure function of its request, so a call that is made again after a kill gives the
 * same reply. It runs one cell for each batch that it has not run yet, and then says what the results say, effect by
 * effect; of what no result names it says that it is unknown.
 */

import type { ModelRequest, RequestMessage } from '../../core/message.ts';
import type { Model, ModelReply, ReplyPart } from '../../models/port.ts';
import { type Batch, batchIn, claimsIn, pathOf, type Wanted } from './batch.ts';

export const scriptedModel = (origin: string): Model => ({
  name: 'scripted/kill',
  scripted: true,
  generate: async (request) => reply(request, origin),
});

const USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

function reply({ messages }: ModelRequest, origin: string): ModelReply {
  const asked = messages.flatMap((message) => (message.role === 'user' ? (batchIn(message.text) ?? []) : []));
  const begun = new Set(messages.flatMap(begunIn));
  const left = asked.filter((batch) => !begun.has(batch.id));
  if (left.length === 0) {
    return { parts: [{ type: 'text', text: report(asked, messages) }], finish: 'stop', usage: USAGE };
  }
  const parts = left.map(
    (batch, i): ReplyPart => ({
      type: 'tool-call',
      tool: 'code',
      input: { source: cell(batch, origin, begun.size + i === 0) },
    }),
  );
  return { parts, finish: 'tool-calls', usage: USAGE };
}

/** The first line of a cell names its batch. */
function begunIn(message: RequestMessage): readonly string[] {
  if (message.role !== 'assistant') return [];
  return message.parts.flatMap((part) => {
    const source = part.type === 'tool-call' ? (part.input as { source?: string }).source : undefined;
    return source ? [/^\/\/ batch (\S+)/.exec(source)?.[1] ?? ''] : [];
  });
}

function report(asked: readonly Batch[], messages: readonly RequestMessage[]): string {
  const heard = messages.flatMap((message) => {
    if (message.role === 'tool') return message.results.map((result) => result.text);
    return message.role === 'user' && batchIn(message.text) === null ? [message.text] : [];
  });
  const claims = claimsIn(heard.join('\n'));
  const isSuspended = messages.some(
    (m) => m.role === 'tool' && m.results.some((r) => r.status === 'suspended'),
  );
  const otherwise = isSuspended ? 'suspended' : 'unknown';
  const lines = asked.flatMap(({ wanted }) =>
    wanted.map(({ what }) => `${what}: ${claims.get(what) ?? otherwise}`),
  );
  return lines.join('\n') || 'Nothing was asked for.';
}

function cell({ id, shape, wanted }: Batch, origin: string, isFirst: boolean): string {
  const [first, second, ...rest] = deeds(wanted);
  const inRow = (some: readonly (string | undefined)[]): string =>
    some.flatMap((one) => (one ? [`await ${one};`] : [])).join('\n');
  const pause = 'await new Promise((done) => setTimeout(done, 60));';
  const body = {
    row: inRow([first, second, ...rest]),
    all: `await Promise.all([${[first, second, ...rest].filter(Boolean).join(', ')}]);`,
    timer: `${inRow([first])}\n${pause}\n${inRow([second, ...rest])}`,
    mixed: `await (await fetch('${origin}/look')).json();
await Promise.all([${[first, second].filter(Boolean).join(', ')}, (async () => { ${pause} })()]);
${inRow(rest)}`,
  }[shape];
  // The helper and the list are made once and live in the heap from then on, through every kill.
  return `// batch ${id}
${isFirst ? helper(origin) : ''}kept.push('${id}');
${body}
console.log('kept ' + kept.join(' '));`;
}

/** What is wanted of the batch service goes out together, one request for each item. */
function deeds(wanted: readonly Wanted[]): readonly string[] {
  const deed = (one: Wanted): string => `deed('${pathOf(one)}', '${one.what}')`;
  const items = wanted.filter(({ service }) => service === 'batch').map(deed);
  const singles = wanted.filter(({ service }) => service !== 'batch').map(deed);
  return items.length > 0 ? [...singles, `Promise.all([${items.join(', ')}])`] : singles;
}

const helper = (origin: string): string => `const kept = [];
async function deed(path, what) {
  try {
    const answer = await fetch('${origin}' + path, { method: 'POST', body: JSON.stringify({ what }) });
    console.log(what + ': ' + (answer.ok ? 'done' : 'failed'));
  } catch (error) {
    console.log(what + ': failed ' + error);
  }
}
`;
