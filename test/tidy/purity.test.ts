// Owns: time, randomness and the outside arrive as arguments in the rooms that the simulator drives.
// The clock and the entropy live in src/lib; adapters may wait and ask the world, these rooms may not.
import { expect, test } from 'vitest';
import { finding, sourceFiles } from './files.ts';
import { calls, references } from './syntax.ts';

const rooms = /^src\/(core|projections|context|loop|runtime|driver)\//;

const instead: ReadonlyMap<string, string> = new Map([
  ...['Date.now', 'new Date', 'Date', 'performance.now'].map((name) => [name, 'the clock'] as const),
  ...['setTimeout', 'setInterval', 'setImmediate'].map((name) => [name, "the clock's timers"] as const),
  ...['Math.random', 'crypto.randomUUID', 'randomUUID', 'crypto.getRandomValues'].map(
    (name) => [name, 'the entropy'] as const,
  ),
  ['fetch', 'a port'],
]);

const worldly = /^node:(timers|crypto|fs|http|https|net|perf_hooks|child_process|worker_threads)(\/|$)/;

test('no clock, randomness, timer or network in the pure rooms', () => {
  const findings = sourceFiles()
    .filter((path) => rooms.test(path))
    .flatMap((path) => [
      ...calls(path).flatMap(({ name, line }) =>
        instead.has(name)
          ? [finding(path, line, `calls ${name}: use ${instead.get(name)}, given as an argument`)]
          : [],
      ),
      ...references(path).flatMap(({ specifier, line }) =>
        worldly.test(specifier)
          ? [finding(path, line, `imports ${specifier}: that belongs to lib or an adapter`)]
          : [],
      ),
    ]);
  expect(findings).toEqual([]);
});
