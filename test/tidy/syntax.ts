// Owns: what the tidy tests know of a file's syntax: what it imports and what it calls. Comments and strings never
// count, because the compiler's own parser reads the file.
import { posix } from 'node:path';
import ts from 'typescript';
import { exists, textOf } from './files.ts';

/** A reference from one file to another: an import, a re-export, `import()`, or `new URL('./x.ts', import.meta.url)`. */
export interface Reference {
  readonly specifier: string;
  readonly line: number;
}

export function references(path: string): Reference[] {
  return nodes(path).flatMap((node) => {
    const specifier = specifierOf(node);
    return specifier === undefined ? [] : [{ specifier, line: lineOf(node) }];
  });
}

/** The file that a relative specifier means, from the root; undefined for a package or for what is not there. */
export function resolve(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  const path = posix.join(posix.dirname(from), specifier);
  return [path, path.replace(/\.js$/, '.ts')].find(exists);
}

/** Calls by their written name, `Date.now` or `fetch`; `new Date` stands for a construction without arguments. */
export function calls(path: string): { readonly name: string; readonly line: number }[] {
  return nodes(path).flatMap((node) => {
    if (ts.isCallExpression(node)) return [{ name: dotted(node.expression), line: lineOf(node) }];
    const isBare = ts.isNewExpression(node) && (node.arguments?.length ?? 0) === 0;
    return isBare ? [{ name: `new ${dotted(node.expression)}`, line: lineOf(node) }] : [];
  });
}

function specifierOf(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return literal(node.moduleSpecifier);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return literal(node.argument.literal);
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return literal(node.arguments[0]);

  const isOurUrl = ts.isNewExpression(node) && node.arguments?.[1]?.getText() === 'import.meta.url';
  return isOurUrl ? literal(node.arguments[0]) : undefined;
}

function literal(node: ts.Node | undefined): string | undefined {
  return node && ts.isStringLiteralLike(node) ? node.text : undefined;
}

function dotted(node: ts.Expression): string {
  const name = node
    .getText()
    .replaceAll('?.', '.')
    .replace(/^(globalThis|global)\./, '');
  return /^[\w.]+$/.test(name) ? name : '';
}

function nodes(path: string): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, textOf(path) ?? '', ts.ScriptTarget.Latest, true));
  return found;
}

function lineOf(node: ts.Node): number {
  return node.getSourceFile().getLineAndCharacterOfPosition(node.getStart()).line + 1;
}
