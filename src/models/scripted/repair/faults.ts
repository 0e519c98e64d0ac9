/**
 * What can be behind a number that is wrong: four kinds of fault, each with what in the files has to say so. None is an
 * answer known before: a place is taken only when it is the only one, and what stands beside it agrees.
 */

import { type Hit, type Plan, read, search } from './looks.ts';
import { none, type Verdict } from './verdict.ts';

interface About {
  /** What the test compares, as it stands there. */
  readonly subject: string;
  readonly expected: number;
  readonly actual: number;
  readonly name: string;
}

const SOURCES = 'src/**/*.js';

/** One too few: something at the edge is left out. */
export function* boundary({ subject, expected, actual }: About): Plan<Verdict> {
  const hits = yield* search(
    '<\\s*(\\w+\\.)?(end|last|until|to)\\b',
    SOURCES,
    `${subject} is ${actual} instead of ${expected}, one too few: I look for a comparison that leaves out an end.`,
  );
  const place = only(hits);
  if (!place) return none(`${hits.length} comparisons leave out an end`);
  const text = yield* read(
    place.path,
    `${place.path}:${place.line} leaves out its end; I read what it should do.`,
  );
  const says = (text ?? '').split('\n').find((line) => /both belong|inclusive|last day/i.test(line));
  const line = lineAt(text, place);
  if (says === undefined || line === null)
    return none(`${place.path} does not say that the end belongs to it`);
  return {
    kind: 'edit',
    path: place.path,
    old: line.trim(),
    replacement: line.trim().replace(/<(\s*(?:\w+\.)?(?:end|last|until|to)\b)/, '<=$1'),
    why: 'the end of a period belongs to it, as its comment says, and the comparison leaves it out',
  };
}

/** An amount that is one off: a part of a cent was cut off. */
export function* rounding({ subject, expected, actual }: About): Plan<Verdict> {
  const hits = yield* search(
    'Math\\.(trunc|floor|ceil)\\(',
    SOURCES,
    `${subject} is ${actual} instead of ${expected}, off by the smallest unit: I look for what cuts off parts.`,
  );
  const products = hits.filter(({ text }) => /Math\.\w+\([^)]*\*/.test(text));
  const place = only(products);
  if (!place) return none(`${products.length} places cut off parts of a product`);
  const text = yield* read(
    place.path,
    `${place.path}:${place.line} cuts off a product; I read what it should do.`,
  );
  const line = lineAt(text, place);
  if (line === null || !/nearest/i.test(text ?? '')) return none(`${place.path} does not say that it rounds`);
  return {
    kind: 'edit',
    path: place.path,
    old: line.trim(),
    replacement: line.trim().replace(/Math\.\w+\(/, 'Math.round('),
    why: 'amounts go to the nearest cent, as the comment says, and the product is cut off',
  };
}

/** What came out is what the same test had asked for before: something was kept under too short a name. */
export function* staleValue({ subject, actual }: About): Plan<Verdict> {
  const hits = yield* search(
    '\\w*[kK]ey\\w*\\(\\{',
    SOURCES,
    `${subject} is ${actual}, which is what the test had got before: I look for keys of what is kept.`,
  );
  const definition = only(hits.filter(({ text }) => /\bfunction \w+\(\{/.test(text)));
  const [, name, taken] = /function (\w+)\(\{([^}]*)\}\)/.exec(definition?.text ?? '') ?? [];
  const call = hits.find((hit) => hit !== definition && hit.text.includes(`${name}({`));
  const given = call && new RegExp(`${name}\\(\\{([^}]*)\\}`).exec(call.text)?.[1];
  if (!definition || name === undefined || !given) return none('no key is made of named parts');
  const missing = namesIn(given).filter((one) => !namesIn(taken ?? '').includes(one));
  if (missing.length === 0) return none(`${name} takes all that it is given`);
  const { path } = definition;
  const text = yield* read(
    path,
    `${call.path} gives ${name} ${missing.join(', ')} too; I read what it makes of that.`,
  );
  const [block, list] =
    new RegExp(`function ${name}\\(\\{[^}]*\\}\\) \\{\\n.*\\[([\\w, ]+)\\].*`).exec(text ?? '') ?? [];
  if (block === undefined || list === undefined)
    return none(`${path} makes its key in a way that I cannot read`);
  const all = [...namesIn(taken ?? ''), ...missing].join(', ');
  return {
    kind: 'edit',
    path,
    old: block,
    replacement: block
      .replace(/\{[^}]*\}/, `{ ${all} }`)
      .replace(`[${list}]`, `[${[list, ...missing].join(', ')}]`),
    why: `the key leaves out ${missing.join(', ')}, which its caller gives, so what was kept for another one comes back`,
  };
}

/** An exit code that is not the one of the README. */
export function* exitCode({ subject, expected, actual }: About): Plan<Verdict> {
  const rows = yield* search(
    '^\\|\\s*\\d+\\s*\\|',
    '*.md',
    `${subject} is ${actual} instead of ${expected}: I look up which exit codes are promised.`,
  );
  const promised = new Map(
    rows.flatMap(({ text }): [string, number][] => {
      const [, code, name] = /^\|\s*(\d+)\s*\|\s*(\w+)\s*\|/.exec(text) ?? [];
      return name === undefined ? [] : [[name, Number(code)]];
    }),
  );
  const hits = yield* search('^\\s*\\w+: \\d+,', SOURCES, 'I look for the constants behind them.');
  const wrong = hits.flatMap((hit) => {
    const [, name = '', value] = /^(\w+): (\d+),/.exec(hit.text) ?? [];
    const right = promised.get(name);
    const isIt = right === expected && Number(value) === actual;
    return isIt ? [{ hit, name }] : [];
  });
  const place = only(wrong);
  if (!place) return none(`${wrong.length} constants are ${actual} and promised to be ${expected}`);
  const { path } = place.hit;
  const text = yield* read(
    path,
    `${place.name} is ${actual} in ${path}, and the README has ${expected}; I read it.`,
  );
  const line = lineAt(text, place.hit);
  if (line === null) return none(`${path} is not as the search has found it`);
  return {
    kind: 'edit',
    path,
    old: line.trim(),
    replacement: line.trim().replace(/\d+/, String(expected)),
    why: `the README promises ${expected} for "${place.name}", and the constant is ${actual}`,
  };
}

// ── details ────────────────────────────────────────────────────────────────────────────────────────────────

const only = <Value>(all: readonly Value[]): Value | undefined => (all.length === 1 ? all[0] : undefined);

const lineAt = (text: string | null, { line, text: found }: Hit): string | null => {
  const there = (text ?? '').split('\n')[line - 1];
  return there?.trim() === found ? there : null;
};

const namesIn = (list: string): readonly string[] => list.match(/\w+/g) ?? [];
