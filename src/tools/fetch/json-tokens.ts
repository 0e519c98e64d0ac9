/**
 * The strings, numbers and words of a JSON text with their place in it, so that some can be replaced and every
 * other character stays: parsing and writing again would change long numbers and repeated keys.
 *
 * J1  The text has been parsed before and is valid; nothing is checked here.
 */

export interface Token {
  readonly start: number;
  readonly end: number;
  readonly is: 'key' | 'string' | 'other';
  /** Steps to the value, or to the member of a key. The array changes with the next token. */
  readonly path: readonly string[];
}

export function* tokens(text: string): Generator<Token, void, void> {
  const path: string[] = [];
  /** For each open bracket: the index that an array is at, or null for an object. */
  const open: (number | null)[] = [];
  let isKey = false;

  for (let i = 0; i < text.length; ) {
    const c = text.charAt(i);
    if (c === '{' || c === '[') {
      open.push(c === '[' ? 0 : null);
      path.push('0');
      isKey = c === '{';
    } else if (c === '}' || c === ']') {
      open.pop();
      path.pop();
      isKey = false;
    } else if (c === ',') {
      const index = open.at(-1);
      isKey = index === null;
      if (typeof index === 'number') {
        open[open.length - 1] = index + 1;
        path[path.length - 1] = String(index + 1);
      }
    } else if (c === ':') {
      isKey = false;
    } else if (c === '"') {
      const end = endOfString(text, i);
      if (isKey) path[path.length - 1] = JSON.parse(text.slice(i, end)) as string;
      yield { start: i, end, is: isKey ? 'key' : 'string', path };
      i = end;
      continue;
    } else if (!/\s/.test(c)) {
      const end = endOfWord(text, i);
      yield { start: i, end, is: 'other', path };
      i = end;
      continue;
    }
    i += 1;
  }
}

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i += 1) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === '"') return i + 1;
  }
  return text.length;
}

function endOfWord(text: string, start: number): number {
  let end = start;
  while (end < text.length && !/[\s,:[\]{}"]/.test(text.charAt(end))) end += 1;
  return end;
}
