import { expect, it } from 'vitest';
import type { ModelRequest } from '../../core/message.ts';
import { inputTokens } from './estimate.ts';

const request = (messages: ModelRequest['messages'], tools: ModelRequest['tools'] = []): ModelRequest => ({
  ...{ system: 's'.repeat(300), tools, messages },
});

it('takes a third of the bytes of all that is sent, in any script', () => {
  const empty = inputTokens(request([]));
  expect(empty).toBeGreaterThanOrEqual(100);
  const said = (text: string) => inputTokens(request([{ role: 'user', text }])) - empty;
  expect(said('a'.repeat(3_000))).toBeGreaterThanOrEqual(1_000);
  expect(said('a'.repeat(3_000))).toBeLessThan(1_050);
  expect(said('日'.repeat(1_000))).toBeGreaterThanOrEqual(1_000);
  const spec = { name: 'look', description: 'd'.repeat(600), input: {} };
  expect(inputTokens(request([], [spec])) - empty).toBeGreaterThanOrEqual(200);
});

it('takes a round number for a file and not its bytes', () => {
  const image = { mediaType: 'image/png', data: new Uint8Array(5_000_000) };
  const user = { role: 'user', text: '', images: [image, image] } as const;
  const drawn = { role: 'assistant', parts: [{ type: 'file', ...image }] } as const;
  const tokens = inputTokens(request([user, drawn])) - inputTokens(request([]));
  expect(tokens).toBeGreaterThanOrEqual(9_000);
  expect(tokens).toBeLessThan(9_200);
});

it('measures a message once, however many requests it stands in', () => {
  let looks = 0;
  const message = {
    role: 'user' as const,
    get text() {
      looks++;
      return 'hello';
    },
  };
  for (let i = 0; i < 5; i++) inputTokens(request([message]));
  expect(looks).toBe(1);
});
