/** Providers load lazily: naming a model loads no provider's package, and calling one loads that one's only. */

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../server/process.ts';

const PROVIDERS = new URL('../../dist/models/ai-sdk/providers.js', import.meta.url).href;
const KEYS = {
  OPENAI_API_KEY: 'k',
  ANTHROPIC_API_KEY: 'k',
  GOOGLE_GENERATIVE_AI_API_KEY: 'k',
  OPENAI_BASE_URL: 'http://127.0.0.1:9',
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
  GOOGLE_GENERATIVE_AI_BASE_URL: 'http://127.0.0.1:9',
  OUTLAST_BASE_URL: 'http://127.0.0.1:9',
};
const SPECS = ['openai/a', 'anthropic/a', 'google/a', 'compatible/a'];

/** The provider packages that a process has loaded at its end. */
function loadedBy(called: string | null): readonly string[] {
  const folder = temporaryFolder();
  const script = `
    import { providerModel } from '${PROVIDERS}';
    const models = ${JSON.stringify(SPECS)}.map((spec) => providerModel(spec, ${JSON.stringify(KEYS)}));
    const request = { system: '', tools: [], messages: [{ role: 'user', text: 'go' }] };
    const model = models.find(({ name }) => name === ${JSON.stringify(called)});
    await model?.generate(request, { signal: new AbortController().signal }).catch(() => {});
  `;
  execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, NODE_V8_COVERAGE: folder.path },
  });
  const reports = readdirSync(folder.path).map((file) => readFileSync(join(folder.path, file), 'utf8'));
  folder.remove();
  const names = reports.flatMap((text) => [...text.matchAll(/node_modules\/@ai-sdk\/([\w-]+)\//g)]);
  const shared = ['provider', 'provider-utils'];
  return [...new Set(names.map(([, name = '']) => name))].filter((name) => !shared.includes(name));
}

it.each<[string | null, readonly string[]]>([
  [null, []],
  ['openai/a', ['openai']],
  ['anthropic/a', ['anthropic']],
  ['google/a', ['google']],
  ['compatible/a', ['openai-compatible']],
])('V2 calling %s loads %j', (called, packages) => {
  expect(loadedBy(called)).toEqual(packages);
});
