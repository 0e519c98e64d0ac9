/** `outlast list`: your sessions, newest first, one line each. */

import { systemClock } from '../../lib/clock.ts';
import { given } from '../../lib/given.ts';
import { oneLine, ordinal } from '../../lib/text.ts';
import { phase as phases, type Row } from '../../protocol/schema.ts';
import { EXIT, UsageError } from '../exit.ts';
import { ago, coloured, table } from '../layout.ts';
import { COMMAND } from '../name.ts';
import { pages } from '../pages.ts';
import { reach } from '../reach.ts';
import { clean } from '../terminal.ts';
import { text, type Verb, whole } from '../verb.ts';

const PHASES: readonly string[] = phases.options;

export const run: Verb = async ({ options, terminal }) => {
  const { paint, width } = terminal;
  const limit = whole('--limit', text(options.limit) ?? '20', 1, 'use --limit 20');
  const phase = text(options.phase);
  if (phase !== undefined && !PHASES.includes(phase))
    throw new UsageError(`--phase ${phase} is not known.`, `use one of ${PHASES.join(', ')}`);
  const outlast = reach(options);
  const rows: Row[] = [];
  for await (const page of pages((query) => outlast.list({ ...query, ...given({ phase }) }), limit + 1)) {
    rows.push(...page.sessions);
    if (rows.length > limit) break;
  }
  const sessions = rows.slice(0, limit);
  const after = rows.length > limit ? (sessions.at(-1)?.id ?? null) : null;
  const now = systemClock.now();
  const room = Math.max(20, width - 70);
  const lines = below(sessions).map(({ row, depth }) => [
    `${'  '.repeat(depth)}${row.id}`,
    coloured(row.phase, paint) + paint.dim(besides(row)),
    paint.dim(`turn ${row.turn}`),
    paint.dim(ago(now - row.updatedAt)),
    `${row.profile === undefined ? '' : paint.cyan('talks  ')}${oneLine(clean(row.title), room)}${paint.dim(origin(row, depth))}${needs(row, paint.yellow)}`,
  ]);
  if (lines.length === 0) terminal.say(paint.dim(`No sessions. Start one: ${COMMAND} start "…"`));
  for (const line of table(lines)) terminal.say(line);
  if (after !== null) terminal.say(paint.dim(`… and more: ${COMMAND} list --limit ${limit * 5}`));
  terminal.result({ sessions, after });
  return EXIT.ok;
};

function besides({ phase, place, residency }: Row): string {
  if (phase === 'deleted') return '';
  if (place !== undefined) return ` waits for a slot: ${ordinal(place)}`;
  return residency === undefined || residency === 'resident' ? '' : ` ${residency}`;
}

interface Placed {
  readonly row: Row;
  readonly depth: number;
}

/** Children below their parent, where that is listed as well. */
function below(rows: readonly Row[]): readonly Placed[] {
  const ids = new Set(rows.map(({ id }) => id));
  const placed = (row: Row, depth: number): readonly Placed[] => [
    { row, depth },
    ...rows.filter(({ parent }) => parent === row.id).flatMap((child) => placed(child, depth + 1)),
  ];
  return rows
    .filter(({ parent }) => parent === undefined || !ids.has(parent))
    .flatMap((row) => placed(row, 0));
}

function origin({ forkedFrom, parent }: Row, depth: number): string {
  if (parent !== undefined) return depth > 0 ? '  child' : `  child of ${parent}`;
  return forkedFrom === undefined ? '' : `  fork of ${forkedFrom}`;
}

function needs({ openDecisions, unknownEffects }: Row, yellow: (text: string) => string): string {
  const parts = [
    openDecisions > 0 ? `${openDecisions} open decision${openDecisions > 1 ? 's' : ''}` : '',
    unknownEffects > 0 ? `${unknownEffects} unknown` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? '' : yellow(`  ${parts.join(', ')}`);
}
