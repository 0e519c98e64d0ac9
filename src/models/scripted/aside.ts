/** What the planner says to a question about the work: it is no model, so it repeats what the request tells. */

import type { ModelRequest } from '../../core/message.ts';

export function aside({ messages }: ModelRequest): string {
  const said = messages.flatMap((message) =>
    message.role === 'assistant'
      ? message.parts.flatMap((part) => (part.type === 'text' && part.text.trim() !== '' ? [part.text] : []))
      : [],
  );
  const present = messages.flatMap((message) =>
    message.role === 'user' && message.text.startsWith('[outlast] The present') ? [message.text] : [],
  );
  return [
    'No model answers here: this is the scripted planner, and it cannot answer questions. What the task itself says:',
    said.at(-1) ?? 'Nothing has been said yet.',
    ...(present.at(-1)?.split('\n').slice(1) ?? []),
  ].join('\n');
}
