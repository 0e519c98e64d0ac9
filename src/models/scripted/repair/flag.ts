/**
 * A flag that was spoken of before. What it is called and what it does is looked up in the log, where in the program it goes
 * is read from its files; where they are built otherwise than this plan knows, it says so.
 */

import { commandIn, list, type Plan, read, search, shell } from './looks.ts';
import { type Flag, flagIn } from './orders.ts';
import { readTap } from './tap.ts';

const SOURCES = 'src/**/*.js';

export function* withFlag(root: string): Plan<string> {
  const flag = yield* spokenOf();
  if (flag === null) return 'I found no flag in the log that we had talked about. Which one do you mean?';
  if (!/\btotals\b.*\bJSON\b/i.test(flag.does))
    return `You spoke of ${flag.name}, which ${flag.does}; I know only how totals are printed as JSON.`;
  const trouble = (yield* option(flag)) ?? (yield* output(flag)) ?? (yield* help(flag));
  if (trouble !== null) return `I could not add ${flag.name}: ${trouble}.`;
  return yield* shown(flag, root);
}

function* spokenOf(): Plan<Flag | null> {
  const found = yield {
    tool: 'recall',
    input: { words: 'flag that we will want later', kind: 'message' },
    say: 'Which flag we talked about is not for me to guess: I recall it.',
  };
  return flagIn(found ?? '');
}

type Trouble = string | null;

/** Among the options that the command line knows. */
function* option({ name }: Flag): Plan<Trouble> {
  const hits = yield* search("type: 'boolean'", SOURCES, 'I look for where options are declared.');
  const [hit] = hits;
  if (!hit) return 'no options are declared in a way that I know';
  const text = (yield* read(hit.path, `I read ${hit.path}, where the options are.`)) ?? '';
  const bare = name.slice(2);
  if (new RegExp(`^\\s*['"]?${bare}['"]?: \\{`, 'm').test(text)) return null;
  const key = /^\w+$/.test(bare) ? bare : `'${bare}'`;
  const line = `${key}: { type: 'boolean', default: false },`;
  return yield* edit(hit.path, hit.text, `${line}\n  ${hit.text}`, `${name} becomes an option`);
}

/** Where a report is written. */
function* output({ name }: Flag): Plan<Trouble> {
  const hits = yield* search('write\\(render\\w+\\(', SOURCES, 'I look for where a report is written.');
  const [hit] = hits;
  const bare = name.slice(2);
  const use = `values${/^\w+$/.test(bare) ? `.${bare}` : `['${bare}']`}`;
  if (!hit) {
    const done = yield* search(
      `${use.replaceAll(/[.[\]]/g, '\\$&')} \\?`,
      SOURCES,
      `I look whether ${name} is used already.`,
    );
    return done.length > 0 ? null : 'no place writes a report in a way that I know';
  }
  const [whole, render, report] = /write\((render\w+)\((\w+)\)\)/.exec(hit.text) ?? [];
  const text = (yield* read(hit.path, `I read ${hit.path}, where it is written.`)) ?? '';
  if (whole === undefined || !text.includes('values'))
    return `${hit.path} writes its report in a way that I do not know`;
  const now = hit.text.replace(
    whole,
    `write(${use} ? JSON.stringify(${report}.totals) : ${render}(${report}))`,
  );
  return yield* edit(hit.path, hit.text, now, `with ${name} the totals are written as JSON`);
}

function* help({ name, does }: Flag): Plan<Trouble> {
  const hits = yield* search('^ +--help ', SOURCES, 'I look for the help text.');
  const [hit] = hits;
  if (!hit) return null;
  const text = (yield* read(hit.path, `I read ${hit.path}.`)) ?? '';
  if (new RegExp(`^ +${name} `, 'm').test(text)) return null;
  const width = /^--help +/.exec(hit.text)?.[0].length ?? 0;
  const line = `${name.padEnd(width)}${does}`;
  return yield* edit(hit.path, hit.text, `${line}\n  ${hit.text}`, `the help text names ${name}`);
}

function* edit(path: string, old: string, now: string, why: string): Plan<Trouble> {
  const input = { path, old_string: old, new_string: now };
  const done = yield { tool: 'edit_file', input, say: `${path}: ${why}.`, why };
  return done === null ? `the edit of ${path} was refused` : null;
}

/** The tests, and the flag itself on a file that is there. */
function* shown({ name, does }: Flag, root: string): Plan<string> {
  const about = (yield* read('package.json', 'I read package.json for how the tests are run.')) ?? '';
  const test = /"test":\s*"([^"]+)"/.exec(about)?.[1] ?? '';
  const tests = commandIn((yield shell(test, 'I run the tests.')) ?? '');
  const run = tests && readTap(tests.output, root);
  if (!run || run.failed > 0 || tests.exitCode !== 0)
    return `I added ${name}, and the tests do not pass with it: ${run ? `${run.failed} fail` : 'they came to no result'}.`;
  const readme = (yield* read('README.md', 'I read the README for how the program is called.')) ?? '';
  const [, example = '', file = ''] = /^ +(node \S+ \w+ (\S+\.csv) --month \S+)$/m.exec(readme) ?? [];
  const [sample] = file === '' ? [] : yield* list({ glob: `**/${file}` }, `I look for a ${file}.`);
  if (sample === undefined)
    return `I added ${name} and all ${run.passed} tests pass; I found no example to try it on.`;
  const command = `${example.replace(file, sample)} ${name}`;
  const tried = commandIn((yield shell(command, `I try ${name}.`)) ?? '');
  if (tried?.exitCode !== 0 || !isJson(tried.output))
    return `I added ${name} and all ${run.passed} tests pass, but \`${command}\` does not print JSON.`;
  return [
    `Added ${name}, which ${does}, as you had said earlier. All ${run.passed} tests pass.`,
    `\`${command}\` prints \`${tried.output.trim()}\`.`,
  ].join('\n\n');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
