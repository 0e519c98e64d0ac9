import { describe, expect, it } from 'vitest';
import { edited } from './match.ts';

const FILE = 'function a() {\n  if (x) {\n    return 1;\n  }\n}\n\nfunction b() {\n  return 1;\n}\n';

const text = (found: ReturnType<typeof edited>): string =>
  'text' in found ? found.text : found.refused.code;
const how = (found: ReturnType<typeof edited>): string =>
  'how' in found ? found.how : found.refused.message;

describe('where a piece of text stands', () => {
  it('exactly, once', () => {
    const found = edited(FILE, 'if (x) {', 'if (y) {', false);
    expect(text(found)).toBe(FILE.replace('x', 'y'));
    expect(how(found)).toBe('line 2');
  });

  it('in more places only where all are meant', () => {
    expect(text(edited(FILE, 'return 1;', 'return 2;', false))).toBe('edit.ambiguous');
    expect(how(edited(FILE, 'return 1;', 'return 2;', false))).toContain('lines 3, 8');
    expect(text(edited(FILE, 'return 1;', 'return 2;', true))).toBe(FILE.replaceAll('1', '2'));
  });

  it('a replacement is text, whatever is in it', () => {
    expect(text(edited('a $ b', '$', "$& $1 $'", false))).toBe("a $& $1 $' b");
  });

  it('but for line ends, and keeps those of the file', () => {
    const dos = FILE.replaceAll('\n', '\r\n');
    expect(text(edited(dos, '  if (x) {\n    return 1;\n', '  if (y) {\n    return 2;\n', false))).toBe(
      FILE.replace('x', 'y').replace('1', '2').replaceAll('\n', '\r\n'),
    );
    expect(text(edited('a\r\nb\r\n', 'a', 'c\nd', false))).toBe('c\r\nd\r\nb\r\n');
    expect(text(edited('a\nb\r\n', 'a', 'c\nd', false))).toBe('c\nd\nb\r\n');
  });

  it('but for white space at the end of lines', () => {
    const found = edited('one  \ntwo\t\nthree\n', 'one\ntwo\n', '1\n2\n', false);
    expect(text(found)).toBe('1\n2\nthree\n');
    expect(how(found)).toBe('lines 1 to 2, but for white space at the end of lines');
  });

  it('but for indentation, and indents what comes in its place as the file is', () => {
    const found = edited(FILE, 'if (x) {\n  return 1;\n}', 'if (x) {\n  return 2;\n\n}', false);
    expect(text(found)).toBe(FILE.replace('    return 1;\n', '    return 2;\n\n'));
    expect(how(found)).toContain('but for indentation');
  });

  it('never in two places by guessing', () => {
    expect(text(edited('a {\n  x\n}\nb {\n    x\n}\n', '\tx\n', 'y\n', false))).toBe('edit.ambiguous');
    expect(text(edited('a {\n  x\n}\nb {\n    x\n}\n', '\tx\n', 'y\n', true))).toBe('edit.ambiguous');
  });

  it('white space alone is nowhere but exactly', () => {
    expect(text(edited('a\n\n\nb', '   \n', '', false))).toBe('edit.no_match');
    expect(text(edited(FILE, 'nothing of this', '', false))).toBe('edit.no_match');
  });

  it('a file without an end of line keeps it so', () => {
    expect(text(edited('a\n  b', 'b ', 'c', false))).toBe('a\n  c');
    expect(text(edited('a\nb', 'a\nb\n', 'c\n', false))).toBe('c');
  });
});
