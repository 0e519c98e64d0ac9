/**
 * Where a piece of text stands in a file. Exactly, or forgiving about line ends, white space at the end of lines and
 * indentation; the forgiving ways only where there is one place. Pure.
 */

export interface Edit {
  readonly text: string;
  /** How it was found, in words. */
  readonly how: string;
}

export type Matched = Edit | { readonly refused: { readonly code: string; readonly message: string } };

export function edited(text: string, old: string, replacement: string, isAll: boolean): Matched {
  const exact = placesOf(text, old);
  if (exact.length === 1 || (exact.length > 1 && isAll)) {
    const inserted = inStyleOf(text, replacement);
    const count = exact.length === 1 ? '' : `${exact.length} places, `;
    const lines = exact.map((at) => lineAt(text, at));
    return { text: text.split(old).join(inserted), how: `${count}line ${shown(lines)}` };
  }
  if (exact.length > 1)
    return ambiguous(
      exact.map((at) => lineAt(text, at)),
      '',
    );
  for (const way of WAYS) {
    const lines = linesOf(text);
    const wanted = linesOf(old).map(({ content }) => content);
    // The text ends with a line end: so does what stands for it.
    const isWhole = wanted.length > 1 && wanted.at(-1) === '';
    if (isWhole) wanted.pop();
    if (wanted.every((line) => line.trim() === '')) break;
    const places = startsOf(lines, wanted, way.same);
    const [at] = places;
    if (at === undefined) continue;
    if (places.length > 1)
      return ambiguous(
        places.map((place) => place + 1),
        ` ${way.name}`,
      );
    return {
      text: replaced(text, lines, at, wanted, replacement, isWhole, way.isIndented),
      how: `lines ${at + 1} to ${at + wanted.length}, ${way.name}`,
    };
  }
  return {
    refused: {
      code: 'edit.no_match',
      message:
        'The text to replace does not stand in the file, not even with other white space. Next: read the file again.',
    },
  };
}

interface Line {
  readonly content: string;
  /** `\n`, `\r\n`, or nothing at the end of the file. */
  readonly end: string;
  readonly at: number;
}

const WAYS = [
  { name: 'but for line ends', same: (a: string, b: string) => a === b, isIndented: false },
  {
    name: 'but for white space at the end of lines',
    same: (a: string, b: string) => a.trimEnd() === b.trimEnd(),
    isIndented: false,
  },
  { name: 'but for indentation', same: (a: string, b: string) => a.trim() === b.trim(), isIndented: true },
] as const;

function placesOf(text: string, old: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(old); at !== -1; at = text.indexOf(old, at + old.length)) places.push(at);
  return places;
}

const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length;

function linesOf(text: string): readonly Line[] & { pop(): unknown } {
  const lines: Line[] = [];
  let at = 0;
  for (const part of text.split('\n')) {
    const isLast = at + part.length >= text.length && !text.endsWith('\n', at + part.length + 1);
    const content = part.endsWith('\r') ? part.slice(0, -1) : part;
    const end = text.slice(at + content.length, at + part.length + 1);
    lines.push({ content, end: isLast ? '' : end, at });
    at += part.length + 1;
  }
  return lines;
}

function startsOf(
  lines: readonly Line[],
  wanted: readonly string[],
  same: (a: string, b: string) => boolean,
): readonly number[] {
  const starts: number[] = [];
  for (let at = 0; at + wanted.length <= lines.length; at++) {
    if (wanted.every((line, i) => same((lines[at + i] as Line).content, line))) starts.push(at);
  }
  return starts;
}

function replaced(
  text: string,
  lines: readonly Line[],
  at: number,
  wanted: readonly string[],
  replacement: string,
  isWhole: boolean,
  isIndented: boolean,
): string {
  const first = lines[at] as Line;
  const last = lines[at + wanted.length - 1] as Line;
  const news = isIndented ? shifted(replacement, wanted, lines.slice(at, at + wanted.length)) : replacement;
  // The file ends without a line end, and goes on so.
  const isOpen = isWhole && last.end === '';
  const end = last.at + last.content.length + (isWhole ? last.end.length : 0);
  return (
    text.slice(0, first.at) + inStyleOf(text, isOpen ? news.replace(/\r?\n$/, '') : news) + text.slice(end)
  );
}

/** By as much as the file is indented otherwise than what was looked for, line for line of the first that says so. */
function shifted(replacement: string, wanted: readonly string[], found: readonly Line[]): string {
  const i = wanted.findIndex((line) => line.trim() !== '');
  const had = indentOf(wanted[i] ?? '');
  const has = indentOf(found[i]?.content ?? '');
  const shift = (line: string): string =>
    line.trim() === '' ? line : line.startsWith(had) ? has + line.slice(had.length) : line;
  return replacement.split('\n').map(shift).join('\n');
}

const indentOf = (line: string): string => line.slice(0, line.length - line.trimStart().length);

/** With the line ends of the file, where it has but one kind. */
function inStyleOf(text: string, replacement: string): string {
  const isCrLf = /\r\n/.test(text) && !/(^|[^\r])\n/.test(text);
  return isCrLf ? replacement.replace(/\r?\n/g, '\r\n') : replacement;
}

const ambiguous = (lines: readonly number[], how: string): Matched => ({
  refused: {
    code: 'edit.ambiguous',
    message: `The text to replace stands in ${lines.length} places${how}: lines ${shown(lines)}. Next: name more of what is around it, or use replace_all.`,
  },
});

const shown = (lines: readonly number[]): string =>
  lines.slice(0, 10).join(', ') + (lines.length > 10 ? ' …' : '');
