// Owns: which files the tidy tests look at, and how a finding is worded. Knows no rule.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Every file that belongs to the repository, new ones included, as sorted paths from its root. */
export function trackedFiles(): string[] {
  return (listedByGit() ?? walk('.')).filter((path) => existsSync(join(root, path))).sort();
}

/** The TypeScript files of the product: `src/**`, without tests unless asked for. */
export function sourceFiles({ tests = false } = {}): string[] {
  return trackedFiles().filter((path) => /^src\/.*\.ts$/.test(path) && (tests || !isTest(path)));
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts');
}

/** The text of a file, or undefined when it is not text. */
export function textOf(path: string): string | undefined {
  const content = readFileSync(join(root, path));
  return content.includes(0) ? undefined : content.toString('utf8');
}

export function exists(path: string): boolean {
  return existsSync(join(root, path));
}

/** One finding, as editors and terminals like it: `src/core/next.ts:12 what is wrong`. */
export function finding(path: string, line: number, what: string): string {
  return `${path}:${line} ${what}`;
}

/** A finding for each match of `pattern`, line by line. */
export function matches(path: string, pattern: RegExp, what: string): string[] {
  const lines = textOf(path)?.split('\n') ?? [];
  return lines.flatMap((line, index) => (pattern.test(line) ? [finding(path, index + 1, what)] : []));
}

function listedByGit(): string[] | undefined {
  try {
    const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const listed = execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return [...new Set(listed.split('\0').filter((path) => path !== ''))];
  } catch {
    return undefined; // A tarball, or a machine without git.
  }
}

function walk(folder: string): string[] {
  const skipped = new Set(['node_modules', 'dist', '.git', '.outlast', 'coverage']);
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '.' ? entry.name : `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return skipped.has(entry.name) ? [] : walk(path);
  });
}
