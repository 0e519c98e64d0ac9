/** The same commands with a model: a server of others that speaks a provider's wire, reached as a user would reach one. */

import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOutlast } from './outlast.ts';

const mock = new LLMock({ port: 0 });

beforeAll(async () => {
  // The second request is the one that holds a result.
  mock.on(
    { predicate: (request) => !JSON.stringify(request.messages).includes('"role":"tool"') },
    { content: 'I count.', toolCalls: [{ name: 'code', arguments: '{"source":"[1, 2, 3].length"}' }] },
  );
  mock.on({ predicate: () => true }, { content: 'It is three.' });
  await mock.start();
});
afterAll(() => mock.stop());

const KEY = 'sk-test-key-that-must-not-leak';

it.each([
  { OUTLAST_BASE_URL: '/v1', OUTLAST_MODEL: 'any-model', OUTLAST_API_KEY: KEY },
  { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: '/v1' },
  { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: '/v1' },
])('writes and runs code: %o', async (variables) => {
  const env = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, value === '/v1' ? `${mock.url}/v1` : value]),
  );
  const outlast = await createOutlast({ env });
  try {
    expect(outlast.about.model.scripted).toBe(false);
    const { session } = await outlast.start({ message: 'Count to three, please', persist: true });
    await outlast.rest(session);
    expect((await outlast.inspect(session)).lastTurn).toMatchObject({
      end: 'surfaced',
      text: 'It is three.',
    });
    const log = JSON.stringify(await outlast.events(session, 0, 1_000));
    expect(log).not.toContain(KEY);
  } finally {
    await outlast.close();
  }
});
