import { describe, expect, it } from 'vitest';
import { prepare } from './transform.ts';

const codeOf = (source: string) => {
  const prepared = prepare(source);
  return prepared.ok ? prepared.code : prepared.message;
};

describe('prepare', () => {
  const CASES: Record<string, [string, string]> = {
    'V1 makes globals of let and const': ['let a = 1\nconst b = a\nb', 'var a = 1\nvar b = a\nb'],
    'V1 makes a global of a class': ['class A { #p = 1 }\nA', 'var A = class A { #p = 1 };\nA'],
    'V1 leaves inner declarations': ['for (const x of y) { let z = x }', 'for (const x of y) { let z = x }'],
    'V2 unsets a name that is declared anew': ['let a, b = 2; a', 'var a = void 0, b = 2; a'],
    'V3 gives declarations no value': ['1; function f() {}', '1; function f() {}\n;void 0;'],
    'V3 reads an object literal as one': ['{ a: 1 }', '({ a: 1 }\n)'],
    'V3 leaves a block a block': ['{ let z = 1; z }', '{ let z = 1; z }'],
    'V4 keeps the lines of an import': [
      'import d, {\n  e as f,\n} from "m"\nf',
      'var {default: d, e: f} = await import("m");\n\n\nf',
    ],
    'takes exports off': ['export const q = 3; const r = 1; export { r }; q', 'var q = 3; var r = 1; ; q'],
    'takes a default export as its value': ['export default [1]', '([1])'],
    'Y1 leaves JavaScript untouched': ['const s = `a`; s', 'var s = `a`; s'],
    'Y1 knows type arguments from comparisons': ['f<number>(3)', 'f        (3)'],
    'Y2 rewrites what cannot be blanked': [
      'class P { constructor(private x: number) {} }\nnew P(1)',
      'var P = class P {\n    x;\n    constructor(x){\n        this.x = x;\n    }\n};\nnew P(1);\n',
    ],
  };
  for (const [what, [source, code]] of Object.entries(CASES))
    it(what, () => expect(codeOf(source)).toBe(code));

  it('V4 keeps lines and columns of TypeScript', () => {
    const source = 'interface A {\n  n: number;\n}\nconst a: A = { n: 1 };\nfail(a);';
    const code = codeOf(source);
    expect(code.split('\n')).toHaveLength(5);
    expect(code.split('\n')[4]).toBe('fail(a);');
  });

  const WRONG = [
    'let x = ;',
    'return 5',
    'let a = 1; let a = 2',
    'const s = "a\nb"',
    '('.repeat(20_000),
    '`${',
    'const x: = 1',
    'await = 1',
    '\u0000',
    '<<<',
    'x'.repeat(2 ** 21),
  ];
  for (const source of WRONG)
    it(`T1 refuses in one line: ${JSON.stringify(source.slice(0, 20))}`, () => {
      const prepared = prepare(source);
      expect(prepared).toMatchObject({ ok: false, message: expect.stringMatching(/^[^\n]{5,400}$/) });
    });

  it('T1 says where', () => {
    expect(codeOf('const a = 1;\n  a b')).toMatch(/\(line 2, column 5\)$/);
    expect(codeOf('const a: number = 1;\n  a b')).toMatch(/\(line 2, column 5\)$/);
  });
});
