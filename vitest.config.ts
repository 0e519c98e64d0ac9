// Owns: which tests there are and how they run. `npm run check` runs tidy, unit and examples; `npm test` all.
import { defineConfig } from 'vitest/config';

const shared = { pool: 'forks', testTimeout: 30_000, hookTimeout: 30_000 } as const;

export default defineConfig({
  test: {
    maxWorkers: 2,
    reporters: ['default', './scripts/vitest-reporter.mjs'],
    projects: [
      { test: { ...shared, name: 'tidy', include: ['test/tidy/**/*.test.ts'] } },
      { test: { ...shared, name: 'unit', include: ['src/**/*.test.ts'] } },
      { test: { ...shared, name: 'examples', include: ['examples/**/*.test.ts'] } },
      {
        test: {
          ...shared,
          name: 'system',
          globalSetup: './scripts/vitest-dist.mjs',
          include: ['test/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/tidy/**'],
        },
      },
    ],
  },
});
