/** `outlast inspect`: a session in one look. */

import { budgetInWords, isLimited, spentInWords } from '../../core/budget/budget.ts';
import { systemClock } from '../../lib/clock.ts';
import { oneLine } from '../../lib/text.ts';
import type { Inspection } from '../../protocol/schema.ts';
import { answersTo } from '../answers.ts';
import { partialLines } from '../claims.ts';
import { EXIT } from '../exit.ts';
import { ago, bytes, coloured, type Facts, facts, table } from '../layout.ts';
import { COMMAND } from '../name.ts';
import { reach } from '../reach.ts';
import { clean, type Paint, type Terminal } from '../terminal.ts';
import type { Verb } from '../verb.ts';
import { whichSession } from '../which.ts';

const INDENT = '  ';

export const run: Verb = async ({ args: [which = ''], options, terminal }) => {
  const outlast = reach(options);
  const seen = await outlast.inspect(await whichSession(outlast, which));
  show(seen, terminal);
  terminal.result(seen);
  return EXIT.ok;
};

export function show(seen: Inspection, terminal: Terminal): void {
  const { paint, width } = terminal;
  const sections = [
    heading(seen, paint),
    unread(seen, paint),
    decisions(seen, paint),
    children(seen, paint, width),
    ledger(seen, paint, width),
    live(seen, paint),
    python(seen, paint),
    files(seen, paint),
    response(seen, paint),
  ];
  for (const line of sections.filter((lines) => lines.length > 0).flatMap((lines) => [...lines, ''])) {
    terminal.say(line);
  }
}

function heading(seen: Inspection, paint: Paint): string[] {
  const now = systemClock.now();
  const { turn, lastTurn } = seen;
  const kind = `  ${seen.residency}${seen.persist ? '' : '  one-shot'}`;
  const before = lastTurn ? `${lastTurn.number}, ${lastTurn.end}` : 'none yet';
  const rows: Facts = [
    ['phase', coloured(seen.phase, paint) + paint.dim(kind)],
    ['turn', turn ? `${turn.number}, step ${turn.step}: ${clean(turn.doing)}` : before],
    ['fork', seen.forkedFrom && `of ${seen.forkedFrom.session} at ${seen.forkedFrom.at}`],
    ['parent', seen.parent],
    ['model', seen.model],
    ['spent', seen.budget.words + paint.dim(limitsOf(seen))],
    ['context', contextOf(seen)],
    ['log', `${seen.head} events, epoch ${seen.epoch}`],
    ['woke', wokeOf(seen)],
    ['started', ago(now - seen.startedAt)],
    ['changed', ago(now - seen.updatedAt)],
    ['goes on', seen.wakesAt === null ? null : `by itself at ${new Date(seen.wakesAt).toISOString()}`],
  ];
  const reason = seen.reason === null ? [] : [paint.yellow(clean(seen.reason))];
  return [
    `${paint.bold(clean(seen.title))}  ${paint.dim(seen.id)}`,
    ...indent([...facts(rows, paint), ...reason]),
  ];
}

function wokeOf({ woke }: Inspection): string | null {
  if (woke === null || woke.from === 'resident') return null;
  return `from ${woke.from}${woke.ms === null ? '' : ` in ${woke.ms} ms`}`;
}

function contextOf({ context }: Inspection): string {
  const { tokens, compactAt, compactions, compacted } = context;
  const before = compactions === 0 ? '' : `; compacted ${compactions} times, ${compacted} older entries`;
  return `about ${grouped(tokens)} tokens of ${grouped(compactAt)}${before}`;
}

const grouped = (n: number): string => n.toLocaleString('en-US');

function limitsOf({ budget: { session, turn } }: Inspection): string {
  const parts = [
    ...(isLimited(session) ? [budgetInWords(session)] : []),
    ...(isLimited(turn) ? [`${budgetInWords(turn)} a turn`] : []),
  ];
  return parts.length === 0 ? '' : `  of ${parts.join('; ')}`;
}

function unread({ unread }: Inspection, paint: Paint): string[] {
  if (unread.length === 0) return [];
  return [
    paint.bold('Not read yet'),
    ...unread.map(({ id, when, text }) => `${INDENT}${id} (${when}) ${short(text, 80)}`),
  ];
}

function decisions({ id, decisions }: Inspection, paint: Paint): string[] {
  if (decisions.length === 0) return [];
  return [
    paint.bold(paint.yellow('Open decisions')),
    ...decisions.flatMap((decision) => [
      `${INDENT}${paint.bold(decision.id)} ${decision.effect === null ? 'is asked' : `about ${decision.effect}`}: ${clean(decision.question)}`,
      ...answersTo(decision).map(
        (answer) => `${INDENT}  ${paint.dim(`${COMMAND} decide ${id} ${decision.id} ${answer}`)}`,
      ),
      ...asking(decision).map((line) => `${INDENT}  ${paint.dim(line)}`),
    ]),
  ];
}

/** Why, since when, until when, and what exactly. */
function asking({ why, since, expiresAt, digest }: Inspection['decisions'][number]): string[] {
  const now = systemClock.now();
  const over = expiresAt === null ? '' : `, until ${new Date(expiresAt).toISOString()}`;
  return [
    `${why === '' ? 'asked' : `because ${clean(why)}; asked`} ${ago(now - since)}${over}`,
    ...(digest === null ? [] : [`digest ${digest}`]),
  ];
}

function children({ children: all }: Inspection, paint: Paint, width: number): string[] {
  if (all.length === 0) return [];
  const now = systemClock.now();
  const lines = table(
    all.map(({ id, title, phase, since, last, spent }) => [
      id,
      coloured(phase, paint),
      paint.dim(ago(now - since)),
      short(title, 40),
      paint.dim(last === null ? '' : short(`${last.end}: ${last.text}`, Math.max(30, width - 100))),
      paint.dim(spent === null ? '' : spentInWords(spent)),
    ]),
  );
  return [
    paint.bold('Children'),
    ...all.flatMap((child, i) => indent([lines[i] ?? '', ...openOf(child, paint)])),
  ];
}

/** Questions of a child are answered in the session that asks. */
const openOf = ({ questions, unknown, notices }: Inspection['children'][number], paint: Paint): string[] => [
  ...questions.flatMap((one) => [
    paint.yellow(`  ${one.decision} of ${one.session}: ${short(one.question, 200)}`),
    ...answersTo(one).map((answer) =>
      paint.dim(`    ${COMMAND} decide ${one.session} ${one.decision} ${answer}`),
    ),
  ]),
  ...notices.map(({ session, until, what }) =>
    paint.yellow(`  ${session} gives up at ${new Date(until).toISOString()}: ${short(what, 100)}`),
  ),
  ...unknown.map(({ session, effect, target }) =>
    paint.yellow(`  ${effect} of ${session}: ${short(target, 100)}: outcome unknown`),
  ),
];

function ledger({ ledger: rows }: Inspection, paint: Paint, width: number): string[] {
  if (rows.length === 0) return [];
  const lines = rows.map(({ effect, status, tool, capability, attempts, target, evidence, error }) => [
    effect,
    statusColour(status, paint)(status),
    paint.dim(capability),
    paint.dim(attempts === 1 ? '' : `${attempts}×`),
    clean(tool),
    short(target, Math.max(30, width - 40)) + how(evidence, error, paint),
  ]);
  return [paint.bold('Ledger'), ...indent(table(lines))];
}

function how(evidence: string | null, error: string | null, paint: Paint): string {
  const known = evidence === null ? '' : paint.cyan(`  known by ${clean(evidence)}`);
  return known + (error === null ? '' : paint.red(`  ${short(error, 80)}`));
}

function live({ heap }: Inspection, paint: Paint): string[] {
  if (heap.live.length === 0) return [];
  const rows = heap.live.map(({ name, type, size, cell }) => [
    name,
    size === null ? type : `${type}(${size})`,
    paint.dim(`from ${cell}`),
  ]);
  const images = heap.images === 1 ? '1 image' : `${heap.images} images`;
  const about = `generation ${heap.generation}, ${images}, ${bytes(heap.bytes)}`;
  const restored = heap.restored?.note
    ? [paint.dim(`restored (${heap.restored.rung}): ${clean(heap.restored.note)}`)]
    : [];
  return [`${paint.bold('Live objects')} ${paint.dim(about)}`, ...indent(table(rows)), ...indent(restored)];
}

function python({ kernel }: Inspection, paint: Paint): string[] {
  if (kernel === null) return [];
  const { live: objects, generation, notice } = kernel;
  const rows = objects.map(({ name, type, size, effect }) => [
    clean(name),
    clean(size === null ? type : `${type}(${size})`),
    paint.dim(`from ${effect}`),
  ]);
  const going = (notice?.unsaved ?? []).map(({ name, why }) =>
    paint.yellow(`  ${clean(name)}: ${short(why, 100)}`),
  );
  const when = notice && new Date(notice.until).toISOString();
  const told =
    notice && paint.yellow(`given up at ${when} by the owner's policy, unless something comes in:`);
  return [
    `${paint.bold('Python objects')} ${paint.dim(`generation ${generation}`)}`,
    ...indent(table(rows)),
    ...indent(told === null ? [] : [told, ...going]),
  ];
}

function files({ workspace }: Inspection, paint: Paint): string[] {
  if (workspace === null) return [];
  const { files: count, bytes: size, commits, drift, restored, lost, left } = workspace;
  const rows = commits
    .slice(-5)
    .map(({ seq, why, effect, changes }) => [
      paint.dim(String(seq)),
      effect ?? why,
      short(changes === '' ? 'nothing' : changes, 100),
    ]);
  return [
    `${paint.bold('Files')} ${paint.dim(`${count}, ${bytes(size)}`)}`,
    ...indent(drift === null ? [] : [paint.yellow(`changed by somebody else: ${clean(drift)}`)]),
    ...indent(table(rows)),
    ...indent(restored?.note ? [paint.dim(`${restored.rung}: ${clean(restored.note)}`)] : []),
    ...indent([...lost, ...left].map(({ path, why }) => paint.yellow(`${clean(path)}: ${clean(why)}`))),
  ];
}

function response({ lastTurn }: Inspection, paint: Paint): string[] {
  if (lastTurn?.end !== 'surfaced') return [];
  const lines = [...clean(lastTurn.text).split('\n'), ...partialLines(lastTurn.partial, paint)];
  return [paint.bold('Last response'), ...indent(lines)];
}

function statusColour(status: string, paint: Paint): (text: string) => string {
  if (status === 'done') return paint.green;
  if (status === 'unknown' || status === 'dispatched') return paint.yellow;
  return status === 'failed' ? paint.red : paint.dim;
}

const short = (text: string, max: number): string => oneLine(clean(text), max);
const indent = (lines: readonly string[]): string[] => lines.map((line) => `${INDENT}${line}`);
