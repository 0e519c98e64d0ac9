// Owns: B3 where an image came with the instruction.
import { expect, test } from 'vitest';
import type { RequestMessage } from '../../core/message.ts';
import { plan } from './planner.ts';

const images = [{ mediaType: 'image/png', data: new Uint8Array(1) }];
const user = (text: string, more: object = {}): RequestMessage => ({ role: 'user', text, ...more });

function answer(...messages: RequestMessage[]): string {
  const present = user('[outlast] The present\ntime: 2026-05-20T00:00:00.000Z');
  const { parts } = plan({ system: '', tools: [], messages: [...messages, present] });
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join();
}

test('B3 it sees no image, and says so where one came with the instruction it answers', () => {
  const blind = 'I did not look at the image: I am a scripted planner and no model';
  expect(answer(user('What is this?', { images }))).toContain(blind);
  expect(answer(user('What is this?'))).not.toContain(blind);
  const before = [
    user('What is this?', { images }),
    { role: 'assistant', parts: [{ type: 'text', text: 'No.' }] },
  ];
  expect(answer(...(before as RequestMessage[]), user('What is the weather?'))).not.toContain(blind);
});
