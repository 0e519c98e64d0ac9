import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { answersTo } from './answers.ts';

/** What a shell makes of a line. */
const words = (line: string): readonly string[] =>
  execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

test('each way to answer is one line for the command line', () => {
  expect(answersTo({ options: ['done', 'not-done'], choices: [] })).toEqual(['done', 'not-done']);
  expect(answersTo({ options: ['answer'], choices: [] })).toEqual(['answer "…"']);
  expect(answersTo({ options: ['answer'], choices: ['a b', 'c'] })).toEqual(["answer 'a b'", "answer 'c'"]);
});

test('whatever a model has put into a choice, a shell makes one word of it and runs nothing', () => {
  const choices = [
    "it's",
    "'; echo ran; '",
    '$(echo ran)',
    '`echo ran`',
    '"$HOME" \\',
    'a\\',
    '!!',
    '*',
    '~',
    '# x',
  ];
  for (const choice of choices) {
    const [line = ''] = answersTo({ options: ['answer'], choices: [choice] });
    expect(words(line)).toEqual(['answer', choice]);
  }
});

test('a choice that looks like an option is none', () => {
  const [line = ''] = answersTo({ options: ['answer'], choices: ['--url=http://elsewhere'] });
  expect(line).toBe("answer -- '--url=http://elsewhere'");
});
