/** The results as a table for a terminal. */

import type { Results, StrategyFigures } from './report.ts';

const COLUMNS: readonly (readonly [string, (figures: StrategyFigures) => string])[] = [
  ['runs', ({ runs }) => String(runs)],
  ['wrong', ({ wrongShare }) => `${Math.round(wrongShare * 100)} %`],
  ['twice', ({ duplicates }) => String(duplicates)],
  ['lost', ({ lost }) => String(lost)],
  ['untrue', ({ untrue }) => String(untrue)],
  ['undone', ({ transient }) => String(transient)],
  ['swallowed', ({ suppressed }) => String(suppressed)],
  ['questions', ({ questions }) => String(questions)],
  ['least', ({ questionsMinimum }) => String(questionsMinimum)],
  ['model calls', ({ extraModelCalls }) => `+${extraModelCalls}`],
  ['tokens', ({ extraTokens }) => (extraTokens === null ? '?' : `+${extraTokens}`)],
  ['next step', ({ stepMs }) => (stepMs === null ? '–' : `${stepMs} ms`)],
];

export function table({
  strategies,
  ablations,
  predictions,
  coverage,
  killed,
  seed,
  seconds,
  code,
}: Results): string {
  const rows = [...Object.entries(strategies), ...Object.entries(ablations)];
  const text = [
    ['', ...COLUMNS.map(([head]) => head)],
    ...rows.map(([name, figures]) => [name, ...COLUMNS.map(([, show]) => show(figures))]),
  ];
  const widths = text[0]?.map((_, i) => Math.max(...text.map((row) => row[i]?.length ?? 0))) ?? [];
  const lines = text.map((row) =>
    row
      .map((field, i) => (i === 0 ? field.padEnd(widths[i] ?? 0) : field.padStart(widths[i] ?? 0)))
      .join('  '),
  );
  const breaks = Object.keys(strategies).length;
  if (Object.keys(ablations).length > 0) lines.splice(breaks + 1, 0, '');
  const { cells, confirmed, sampledRuns, unfired } = coverage;
  return [
    ...lines,
    '',
    `${confirmed} of ${cells} cells, each with its fault confirmed; ${sampledRuns} more runs of them; ${unfired} runs whose fault did not happen.`,
    `Predictions: ${predictions.met} met, ${predictions.missed.length} missed.`,
    ...predictions.repeated.map((name) => `  met at the second time only: ${name}`),
    ...predictions.missed.map((name) => `  missed: ${name}`),
    ...(killed.runs > 0
      ? [`With SIGKILL on real processes: ${killed.runs} runs, ${killedLine(killed)}.`]
      : []),
    `Seed ${seed}, ${seconds} s, code ${code}.`,
  ].join('\n');
}

function killedLine({ strategies, missed }: Results['killed']): string {
  const parts = Object.entries(strategies).map(
    ([name, { runs, wrong, questions, questionsMinimum }]) =>
      `${name} ${wrong} of ${runs} wrong (${questions} questions, least ${questionsMinimum})`,
  );
  return `${missed.length} predictions missed: ${parts.join(', ')}`;
}
