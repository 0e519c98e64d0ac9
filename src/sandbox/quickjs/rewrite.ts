/**
 * A cell as a script whose top-level names are globals, so that cells behave like those of a notebook.
 *
 * V1  `let`, `const` and `class` at the top level become `var`: the next cell may declare the name again, closures of
 *     earlier cells see the change, and a cell that throws leaves no name that can never be used.
 * V2  `let x;` sets `x` to undefined, as a new binding would.
 * V3  The value of a cell is that of its last statement; a declaration has none.
 * V4  Lines stay where they are, and columns up to the keyword that was replaced.
 */

import { type ImportDeclaration, type Node, type Program, parse, type VariableDeclaration } from 'acorn';
import MagicString from 'magic-string';

/** What is wrong with the source, and where: lines and columns from 1. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly line: number;
  readonly column: number;

  constructor(message: string, line: number, column: number) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

export function rewrite(source: string): string {
  const { body } = parseScript(source);
  const text = new MagicString(source);
  for (const node of body) rewriteStatement(text, node, source);
  const last = body.at(-1);
  if (last && isDeclaration(last)) text.append('\n;void 0;');
  return text.toString();
}

/** Whether all of the source is one object literal, which as a script would be a block. */
export function isObjectLiteral(source: string): boolean {
  try {
    const { body } = parseScript(`(${source}\n)`);
    const [only] = body;
    return (
      body.length === 1 && only?.type === 'ExpressionStatement' && only.expression.type === 'ObjectExpression'
    );
  } catch {
    return false;
  }
}

export function parseScript(source: string): Program {
  try {
    return parse(source, {
      ecmaVersion: 'latest',
      sourceType: 'script',
      allowAwaitOutsideFunction: true,
      allowImportExportEverywhere: true,
      allowHashBang: false,
    });
  } catch (error) {
    throw sourceError(error);
  }
}

type Statement = Program['body'][number];

function isDeclaration(node: Statement): boolean {
  return !node.type.endsWith('Statement') && node.type !== 'ExportDefaultDeclaration';
}

function rewriteStatement(text: MagicString, node: Statement, source: string): void {
  switch (node.type) {
    case 'VariableDeclaration':
      rewriteVariables(text, node);
      return;
    case 'ClassDeclaration':
      text.prependLeft(node.start, `var ${node.id.name} = `);
      text.appendRight(node.end, ';');
      return;
    case 'ImportDeclaration':
      text.overwrite(node.start, node.end, imported(node) + lineBreaks(source, node));
      return;
    case 'ExportNamedDeclaration':
      if (!node.declaration) blank(text, source, node);
      else {
        text.remove(node.start, node.declaration.start);
        rewriteStatement(text, node.declaration, source);
      }
      return;
    case 'ExportDefaultDeclaration': {
      const { declaration } = node;
      text.remove(node.start, declaration.start);
      const isNamed =
        'id' in declaration && declaration.id !== null && declaration.type.endsWith('Declaration');
      if (isNamed) rewriteStatement(text, declaration as Statement, source);
      else text.appendLeft(declaration.start, '(').prependRight(declaration.end, ')');
      return;
    }
    case 'ExportAllDeclaration':
      blank(text, source, node);
      return;
    default:
      return;
  }
}

function rewriteVariables(text: MagicString, { kind, start, declarations }: VariableDeclaration): void {
  if (kind !== 'let' && kind !== 'const') return;
  text.overwrite(start, start + kind.length, 'var');
  for (const { init, id } of declarations) if (!init) text.appendLeft(id.end, ' = void 0');
}

/** An import becomes a dynamic one. The sandbox has no modules, so it fails when the cell runs, and says so. */
function imported({ specifiers, source }: ImportDeclaration): string {
  const module = `await import(${JSON.stringify(source.value)});`;
  const named = specifiers.flatMap((specifier) => {
    if (specifier.type === 'ImportNamespaceSpecifier') return [];
    if (specifier.type === 'ImportDefaultSpecifier') return [`default: ${specifier.local.name}`];
    const { imported, local } = specifier;
    return [
      `${imported.type === 'Identifier' ? imported.name : JSON.stringify(imported.value)}: ${local.name}`,
    ];
  });
  const space = specifiers.find((specifier) => specifier.type === 'ImportNamespaceSpecifier');
  if (space) return `var ${space.local.name} = ${module}`;
  return named.length > 0 ? `var {${named.join(', ')}} = ${module}` : module;
}

function blank(text: MagicString, source: string, node: Node): void {
  text.overwrite(node.start, node.end, `;${lineBreaks(source, node)}`);
}

function lineBreaks(source: string, { start, end }: Node): string {
  return source.slice(start, end).replace(/[^\n]/g, '');
}

function sourceError(error: unknown): SourceError {
  if (error instanceof SyntaxError && 'loc' in error) {
    const { line, column } = error.loc as { line: number; column: number };
    return new SourceError(error.message.replace(/ \(\d+:\d+\)$/, ''), line, column + 1);
  }
  return new SourceError('the cell is nested too deeply to be read', 1, 1);
}
