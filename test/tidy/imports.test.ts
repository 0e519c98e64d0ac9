// Owns: the direction of imports (DESIGN, layout). The table below is the rule; tests of a room may import anything.
import { expect, test } from 'vitest';
import { finding, sourceFiles } from './files.ts';
import { type Reference, references, resolve } from './syntax.ts';

interface Rule {
  /** Rooms that this room may import, besides itself. `port` is every `src/<room>/port.ts`. */
  readonly from: readonly string[] | 'all';
  /** What it may import that is not a file of ours. */
  readonly packages: 'any' | 'node' | 'npm' | 'none';
}

const pure = { packages: 'none' } as const;
const adapter: Rule = { from: ['lib', 'core'], packages: 'any' };

const rules: Readonly<Record<string, Rule>> = {
  lib: { from: [], packages: 'node' },
  core: { from: ['lib'], ...pure },
  projections: { from: ['lib', 'core'], ...pure },
  context: { from: ['lib', 'core', 'projections'], ...pure },
  // A port may speak of what another one gives: a tool is handed the files of its session.
  port: { from: ['lib', 'core', 'projections', 'port'], packages: 'any' },
  store: adapter,
  models: adapter,
  tools: { ...adapter, from: ['lib', 'core', 'port'] },
  sandbox: adapter,
  workspace: adapter,
  // Files and processes of another machine, over the wire: both ends of it.
  hands: { from: ['lib', 'core', 'port', 'protocol', 'server', 'sandbox', 'workspace'], packages: 'any' },
  loop: { from: ['lib', 'core', 'projections', 'context', 'port'], packages: 'any' },
  runtime: { from: ['lib', 'core', 'projections', 'context', 'port', 'loop'], packages: 'any' },
  driver: { from: ['lib', 'core', 'port'], packages: 'any' },
  conversation: { from: ['lib', 'core', 'port', 'loop', 'tools'], packages: 'any' },
  protocol: { from: ['lib', 'core'], packages: 'npm' },
  server: { from: ['lib', 'core', 'projections', 'protocol', 'runtime'], packages: 'any' },
  client: { from: ['lib', 'core', 'protocol'], packages: 'npm' },
  cli: { from: ['lib', 'core', 'protocol', 'client', 'compose', 'demo', 'break', 'serve'], packages: 'any' },
  // The verbs that are no clients: they put servers together.
  serve: {
    from: ['lib', 'core', 'cli', 'client', 'protocol', 'compose', 'server', 'services', 'tools', 'hands'],
    packages: 'any',
  },
  services: { from: ['lib'], packages: 'any' },
  break: {
    from: [
      'lib',
      'core',
      'projections',
      'port',
      'loop',
      'runtime',
      'driver',
      'store',
      'models',
      'tools',
      'sandbox',
      'workspace',
    ],
    packages: 'node',
  },
  testing: { from: 'all', packages: 'any' },
  demo: { from: 'all', packages: 'any' },
  compose: { from: 'all', packages: 'any' },
  index: { from: 'all', packages: 'any' },
};

test('imports point one way', () => {
  expect(sourceFiles().flatMap((path) => references(path).flatMap((ref) => judge(path, ref)))).toEqual([]);
});

test('every room is in the table', () => {
  const unknown = sourceFiles().filter((path) => rules[roomOf(path)] === undefined);
  expect(
    unknown.map((path) => finding(path, 1, 'is in a room that test/tidy/imports.test.ts does not know')),
  ).toEqual([]);
});

function judge(path: string, { specifier, line }: Reference): string[] {
  const room = isPort(path) ? 'port' : roomOf(path);
  const rule = rules[room];
  if (rule === undefined) return [];
  if (!specifier.startsWith('.')) {
    const isAllowed = allowsPackage(rule.packages, specifier);
    return isAllowed
      ? []
      : [finding(path, line, `${room} may not import '${specifier}' (packages: ${rule.packages})`)];
  }
  const target = resolve(path, specifier);
  if (target === undefined) return [finding(path, line, `imports '${specifier}', which is not there`)];
  if (rule.from === 'all' || roomOf(target) === room) return [];
  const allowed = isPort(target) ? rule.from.includes('port') : rule.from.includes(roomOf(target));
  return allowed
    ? []
    : [finding(path, line, `${room} may not import ${target} (allowed: ${rule.from.join(', ')})`)];
}

function allowsPackage(packages: Rule['packages'], specifier: string): boolean {
  if (packages === 'any') return true;
  return packages === (specifier.startsWith('node:') ? 'node' : 'npm');
}

function roomOf(path: string): string {
  if (/^src\/cli\/verbs\/(serve|hands)\.ts$/.test(path)) return 'serve';
  return /^src\/([^/.]+)/.exec(path)?.[1] ?? '';
}

function isPort(path: string): boolean {
  return /^src\/([^/]+|sandbox\/process)\/port\.ts$/.test(path);
}
