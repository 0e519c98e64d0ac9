import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkPrices, knownPrices, pricesIn, SNAPSHOT } from './prices.ts';

const usage = { inputTokens: 1_000, outputTokens: 100, cachedTokens: 0 };

it('knows the models that a key alone chooses, with cached input cheaper, in whole micro-dollars', async () => {
  const prices = knownPrices();
  for (const model of ['openai/gpt-5.5', 'anthropic/claude-sonnet-5', 'google/gemini-3.5-flash']) {
    const cost = await prices.price(model, usage);
    const cached = await prices.price(model, { ...usage, cachedTokens: 1_000 });
    expect(cost?.source).toBe(SNAPSHOT);
    expect(Number.isSafeInteger(cost?.microUsd)).toBe(true);
    expect(cost?.microUsd).toBeGreaterThan(0);
    expect(cached?.microUsd).toBeLessThan(cost?.microUsd ?? 0);
  }
});

it('charges a model of OpenAI the same over both of its APIs, by the snapshot and by own prices', async () => {
  for (const own of [{}, { 'openai/gpt-5.5': { inputPerMTok: 3, outputPerMTok: 3 } }]) {
    const { price } = knownPrices(own);
    const cost = await price('openai/gpt-5.5', usage);
    expect(cost?.microUsd).toBeGreaterThan(0);
    expect(await price('openai-chat/gpt-5.5', usage)).toEqual(cost);
  }
});

it('knows no price for the stand-in, for another server, and for what nobody has named', async () => {
  const { price } = knownPrices();
  for (const model of [
    'scripted/planner',
    'compatible/gpt-5.5',
    'openai/gpt-0',
    'nobody/gpt-5.5',
    'gpt-5.5',
    '',
  ]) {
    expect([model, await price(model, usage)]).toEqual([model, null]);
  }
});

it('takes own prices first, and cached input as other input unless it has a price', async () => {
  const { price } = knownPrices({
    'compatible/llama': { inputPerMTok: 0.3, outputPerMTok: 2 },
    'openai/gpt-5.5': { inputPerMTok: 1, outputPerMTok: 1, cachedPerMTok: 0.1 },
  });
  expect(await price('compatible/llama', { ...usage, cachedTokens: 500 })).toEqual({
    ...{ microUsd: 500, source: 'own price' },
  });
  expect(await price('compatible/llama', { ...usage, inputTokens: 1, outputTokens: 0 })).toMatchObject({
    microUsd: 1,
  });
  expect(await price('openai/gpt-5.5', { ...usage, cachedTokens: 500 })).toMatchObject({ microUsd: 650 });
});

it('charges what was written to a cache as the provider does, and never more tokens than there were', async () => {
  const written = { ...usage, outputTokens: 0, cacheWriteTokens: 1_000 };
  const { price } = knownPrices({
    'compatible/llama': { inputPerMTok: 1, outputPerMTok: 1, cacheWritePerMTok: 1.5, cachedPerMTok: 0 },
  });
  for (const [model, factor] of [
    ['anthropic/claude-sonnet-5', 1.25],
    ['openai/gpt-5.5', 1],
    ['google/gemini-3.5-flash', 1],
    ['compatible/llama', 1.5],
  ] as const) {
    const plain = await price(model, { ...usage, outputTokens: 0 });
    expect([model, (await price(model, written))?.microUsd]).toEqual([
      model,
      (plain?.microUsd ?? 0) * factor,
    ]);
  }
  expect(await price('compatible/llama', { ...written, cachedTokens: 600 })).toMatchObject({ microUsd: 600 });
  expect(await price('anthropic/claude-sonnet-5', { ...written, cachedTokens: 1_000 })).toEqual(
    await price('anthropic/claude-sonnet-5', { ...usage, outputTokens: 0, cachedTokens: 1_000 }),
  );
});

it('reads prices.json, and names the place of what is wrong in it', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'outlast-'));
  const path = join(dir, 'prices.json');
  expect(await pricesIn(path)).toEqual({});
  const prices = { 'compatible/x': { inputPerMTok: 1, outputPerMTok: 2 } };
  writeFileSync(path, JSON.stringify(prices));
  expect(await pricesIn(path)).toEqual(prices);
  writeFileSync(path, '{');
  await expect(pricesIn(path)).rejects.toMatchObject({
    code: 'budget.invalid',
    message: expect.stringContaining(path),
  });
  rmSync(dir, { recursive: true });
  expect(() => checkPrices({ 'compatible/x': { inputPerMTok: -1, outputPerMTok: 2 } }, 'here')).toThrow(
    /compatible\/x\.inputPerMTok/,
  );
  expect(() => checkPrices({ gpt: prices['compatible/x'] }, 'here')).toThrow(/gpt/);
});

it('names the version that is installed', () => {
  const { dependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(SNAPSHOT).toBe(`genai-prices@${dependencies['@pydantic/genai-prices']}`);
});
