/** Tables and times for people: columns that fit their content, ages instead of dates. */

import { stripVTControlCharacters } from 'node:util';
import type { Paint } from './terminal.ts';

/** Lines of columns, each as wide as its widest cell; the last runs on. */
export function table(rows: readonly (readonly string[])[], gap = '  '): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => seenWidth(row[column] ?? ''))),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : pad(cell, widths[column] ?? 0)))
      .join(gap)
      .trimEnd(),
  );
}

/** What there is to say of one thing, by name. What is null is not said. */
export type Facts = readonly (readonly [name: string, value: string | null])[];

export function facts(all: Facts, { dim }: Paint): string[] {
  return table(all.flatMap(([name, value]) => (value === null ? [] : [[dim(name), value]])));
}

export function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3_600)} h ago`;
  return `${Math.round(seconds / 86_400)} d ago`;
}

export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  return n < 1024 * 1024 ? `${(n / 1024).toFixed(0)} kB` : `${(n / 1024 / 1024).toFixed(1)} MB`;
}

export function coloured(phase: string, paint: Paint): string {
  if (phase === 'working' || phase === 'sleeping') return paint.green(phase);
  if (phase === 'awaiting_decision' || phase === 'paused' || phase === 'stopping') return paint.yellow(phase);
  return phase === 'awaiting_input' ? paint.cyan(phase) : paint.dim(phase);
}

function pad(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - seenWidth(cell)));
}

function seenWidth(cell: string): number {
  return [...stripVTControlCharacters(cell)].length;
}
