import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readTap } from './tap.ts';

const recorded = (n: number) => readFileSync(new URL(`recorded/run-${n}.tap`, import.meta.url), 'utf8');

it('counts, and names each missing module once', () => {
  expect(readTap(recorded(1), '/workspace')).toMatchObject({
    passed: 15,
    failed: 3,
    missing: [{ module: 'src/dates/day.js', from: 'src/dates/period.js' }],
  });
});

it('an assertion has its place and its two values', () => {
  expect(readTap(recorded(2), '/workspace')?.failures).toContainEqual({
    name: 'the last day of a month belongs to it',
    file: 'test/report.test.js',
    line: 14,
    expected: '5',
    actual: '4',
    operator: 'strictEqual',
  });
});

it('a green run has no failures', () => {
  expect(readTap(recorded(6), '/workspace')).toEqual({ passed: 24, failed: 0, failures: [], missing: [] });
});

it('a run that was cut off is no run', () => {
  expect(readTap(recorded(2).slice(0, 3_000), '/workspace')).toBeNull();
  expect(readTap('bash: node: command not found', '/workspace')).toBeNull();
});
