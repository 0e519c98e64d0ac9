/** What a test run says (TAP, as `node --test --test-reporter=tap` writes it). Pure. */

export interface Failure {
  readonly name: string;
  /** Where the assertion stands, from the root of the repository; null where the output does not say. */
  readonly file: string | null;
  readonly line: number;
  readonly expected: string | null;
  readonly actual: string | null;
  readonly operator: string | null;
}

export interface Missing {
  readonly module: string;
  readonly from: string;
}

export interface TestRun {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly Failure[];
  /** Modules that were imported and are not there, each once. */
  readonly missing: readonly Missing[];
}

/** Null when the output is no complete test run. `root` is the folder that it ran in. */
export function readTap(output: string, root: string): TestRun | null {
  const passed = count(output, 'pass');
  const failed = count(output, 'fail');
  if (passed === null || failed === null) return null;
  const inside = (path: string): string => (path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path);
  const blocks = [...output.matchAll(/^( *)not ok \d+ - (.+)\n\1 {2}---\n([\s\S]*?)\n\1 {2}\.\.\.$/gm)];
  const missing = [
    ...output.matchAll(/Cannot find module '(?:file:\/\/)?([^']+)' imported from '?([^'\s]+)/g),
  ].map(([, module = '', from = '']) => ({ module: inside(module), from: inside(from) }));
  return {
    passed,
    failed,
    failures: blocks.map(([, , name = '', yaml = '']) => failureIn(name, yaml, inside)),
    missing: missing.filter((one, at) => missing.findIndex(({ module }) => module === one.module) === at),
  };
}

function failureIn(name: string, yaml: string, inside: (path: string) => string): Failure {
  const scalar = (key: string): string | null =>
    new RegExp(`^ *${key}: ('?)(.+?)\\1$`, 'm').exec(yaml)?.[2] ?? null;
  const [, path, line] = /\(?file:\/\/([^\s)]+?):(\d+):\d+\)?/.exec(yaml) ?? [];
  return {
    name,
    file: path === undefined ? null : inside(path),
    line: Number(line ?? 0),
    expected: scalar('expected'),
    actual: scalar('actual'),
    operator: scalar('operator'),
  };
}

const count = (output: string, what: string): number | null => {
  const [, found] = new RegExp(`^# ${what} (\\d+)$`, 'm').exec(output) ?? [];
  return found === undefined ? null : Number(found);
};
