/** The results as one HTML page with two heat maps in SVG, which needs nothing else. */

import type { CellFigures, Results } from './report.ts';
import { BOUNDARIES, SERVICES, STRATEGIES } from './terms.ts';

const CELL = { width: 58, height: 40, gap: 3 };
const LEFT = 200;
const TOP = 214;

interface Axis {
  readonly key: 'boundary' | 'service';
  readonly title: string;
  readonly columns: readonly { readonly name: string; readonly title: string }[];
}

const AXES: readonly Axis[] = [
  {
    key: 'boundary',
    title: 'where the worker dies',
    columns: BOUNDARIES.filter(({ name }) => name !== 'clean'),
  },
  { key: 'service', title: 'what the service can do', columns: SERVICES },
];

export function page(results: Results): string {
  // Of one service there is nothing to compare.
  const isOne = new Set(results.cells.map(({ service }) => service)).size < 2;
  const maps = AXES.filter(({ key }) => key === 'boundary' || !isOne);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>outlast break</title>
<style>
  :root { color-scheme: light; }
  body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1b1f24; background: #fff; margin: 32px auto; max-width: 1240px; padding: 0 24px; }
  h1 { font-size: 26px; margin: 0 0 4px; }
  h2 { font-size: 17px; margin: 30px 0 0; }
  p { margin: 6px 0; max-width: 88ch; }
  .key span { display: inline-block; padding: 1px 9px; border-radius: 3px; margin-right: 6px; }
  svg { display: block; max-width: 100%; height: auto; }
  text { font-family: inherit; fill: #1b1f24; }
  .small { color: #57606a; font-size: 13px; }
</style>
<h1>A worker dies. What do people get?</h1>
<p>${headline(results)}</p>
<p class="key">
  <span style="background:${RIGHT}">right</span><span style="background:${shade(1)};color:#fff">done twice, lost, or told wrongly, in % of runs</span><span style="background:${ASKED}">right, after questions to a person</span>
</p>
${maps.map((axis) => `<h2>By ${axis.title}</h2>\n${heatMap(results, axis)}`).join('\n')}
<p class="small">${small(results)}</p>
</html>
`;
}

function headline({ strategies }: Results): string {
  const { outlast, ask } = strategies;
  if (!outlast) return '';
  const parts = [
    `Outlast: <b>${outlast.wrong}</b> of ${outlast.runs} runs wrong, with <b>${outlast.questions}</b> questions to a person` +
      ` (fewer than ${outlast.questionsMinimum} are not possible without errors).`,
  ];
  if (ask && outlast.questions > 0) {
    const times = (ask.questions / ask.runs / (outlast.questions / outlast.runs)).toFixed(1);
    parts.push(`Always asking is as right and asks <b>${times} times</b> as much.`);
  }
  return parts.join(' ');
}

function small({ runs, coverage, predictions, killed, seed, rounds }: Results): string {
  return (
    `${runs} runs in ${coverage.confirmed} of ${coverage.cells} cells (boundary, service, strategy, variant), ${rounds} of each, seed ${seed}. ` +
    `Predictions written down before: ${predictions.met} met, ${predictions.missed.length} missed. ` +
    `With SIGKILL on real processes: ${killed.runs} runs, ${killed.missed.length} missed. The judge reads the services' own books.`
  );
}

function heatMap({ cells }: Results, { key, columns }: Axis): string {
  const rows = STRATEGIES.filter(({ name }) => cells.some(({ strategy }) => strategy === name));
  const step = { x: CELL.width + CELL.gap, y: CELL.height + CELL.gap };
  const crashed = cells.filter(({ boundary }) => boundary !== 'clean');
  const of = (strategy: string, column: string | null) =>
    summed(crashed.filter((cell) => cell.strategy === strategy && (column === null || cell[key] === column)));
  const right = LEFT + columns.length * step.x + 20;
  const width = right + 2 * step.x + 80;
  const height = TOP + rows.length * step.y + 8;
  const heads = columns.map(
    ({ title }, i) =>
      `<text transform="translate(${LEFT + i * step.x + CELL.width / 2 + 4},${TOP - 10}) rotate(-42)" font-size="13">${asText(title)}</text>`,
  );
  const lines = rows.map(({ name, title }, row) => {
    const y = TOP + row * step.y;
    const bold = name === 'outlast' ? ' font-weight="700"' : '';
    const fields = columns.map((column, i) => field(LEFT + i * step.x, y, of(name, column.name)));
    const all = of(name, null);
    const total = `<text x="${right + 26}" y="${y + 25}" font-size="15" text-anchor="middle"${bold}>${share(all)}</text><text x="${right + 26 + step.x + 10}" y="${y + 25}" font-size="15" text-anchor="middle"${bold}>${all.questions}</text>`;
    return `<text x="${LEFT - 12}" y="${y + 25}" font-size="14" text-anchor="end"${bold}>${asText(title)}</text>${fields.join('')}${total}`;
  });
  const totals =
    `<text x="${right + 26}" y="${TOP - 10}" font-size="13" text-anchor="middle">wrong</text>` +
    `<text x="${right + 36 + step.x}" y="${TOP - 10}" font-size="13" text-anchor="middle">questions</text>`;
  return `<svg viewBox="0 0 ${width} ${height}" width="${width}" role="img">${heads.join('')}${totals}${lines.join('')}</svg>`;
}

interface Field {
  readonly runs: number;
  readonly wrong: number;
  readonly questions: number;
}

const summed = (cells: readonly CellFigures[]): Field =>
  cells.reduce(
    (sum, { runs, wrong, questions }) => ({
      runs: sum.runs + runs,
      wrong: sum.wrong + wrong,
      questions: sum.questions + questions,
    }),
    { runs: 0, wrong: 0, questions: 0 },
  );

const share = ({ runs, wrong }: Field): string =>
  runs === 0 ? '–' : `${Math.round((100 * wrong) / runs)} %`;

function field(x: number, y: number, one: Field): string {
  const { runs, wrong, questions } = one;
  const part = runs === 0 ? 0 : wrong / runs;
  const fill = runs === 0 ? '#f6f8fa' : part > 0 ? shade(part) : questions > 0 ? ASKED : RIGHT;
  const text = runs === 0 ? '' : part > 0 ? `${Math.round(part * 100)}` : questions > 0 ? '?' : '';
  const ink = part > 0.45 ? ' style="fill:#fff"' : '';
  const what = `${runs} runs, ${wrong} wrong, ${questions} questions`;
  return (
    `<g><title>${what}</title><rect x="${x}" y="${y}" width="${CELL.width}" height="${CELL.height}" rx="4" fill="${fill}"/>` +
    `<text x="${x + CELL.width / 2}" y="${y + 25}" font-size="14" text-anchor="middle"${ink}>${text}</text></g>`
  );
}

const RIGHT = '#d7efdc';
const ASKED = '#cfe3fb';

/** From light to dark red. */
function shade(part: number): string {
  const mix = (from: number, to: number): number => Math.round(from + (to - from) * part);
  return `rgb(${mix(255, 164)},${mix(205, 14)},${mix(196, 24)})`;
}

const asText = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
