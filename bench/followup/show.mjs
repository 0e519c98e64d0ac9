// Owns: how the price of a follow-up is shown: the table on the terminal, and the plot as an SVG.

const TITLES = {
  newTask: 'new task from the request',
  summary: 'new task from a summary',
  warm: 'warm session',
  killed: 'session woken after a kill',
};
const JOBS = { billing: 'The billing job', long: 'The long job' };
const dollars = (usd) => `$${usd.toFixed(usd < 0.01 ? 4 : 3)}`;

const COLUMNS = [
  ['calls', ({ modelCalls }) => modelCalls],
  ['tokens in', ({ tokensIn }) => tokensIn],
  ['cached', ({ tokensCached }) => tokensCached],
  ['out', ({ tokensOut }) => tokensOut],
  ['auth calls', ({ authCalls }) => authCalls],
  ['ms', ({ wallMs }) => wallMs],
  ['of it start', ({ startMs }) => startMs],
  ['money', ({ usd }) => dollars(usd)],
  ['cold', ({ coldUsd }) => dollars(coldUsd)],
  ['', ({ right }) => (right ? 'right' : 'WRONG')],
];

/** Lines for people. */
export function table(ways, asSaid) {
  return Object.entries(JOBS).flatMap(([job, title]) => {
    const rows = Object.entries(TITLES).map(([way, name]) => [name, ways[way][job]]);
    if (job === 'billing') rows.splice(1, 0, ['  the same, in the words of the follow-up', asSaid]);
    return [
      '',
      row(
        title,
        COLUMNS.map(([name]) => name),
      ),
      ...rows.map(lineOf),
    ];
  });
}

const lineOf = ([name, found]) =>
  row(
    name,
    COLUMNS.map(([, of]) => of(found)),
  );
const row = (name, cells) => `${name.padEnd(42)}${cells.map((cell) => String(cell).padStart(12)).join('')}`;

// ── the plot ───────────────────────────────────────────────────────────────────────────────────────────────

const TITLE = 'The price of a follow-up';
const WIDTH = 860;
const LEFT = 200;
const BAR = 22;
const GAP = 8;
const MOST = 360;
const COLOURS = { newTask: '#8a8f98', summary: '#b9a15c', warm: '#2f7d5b', killed: '#3b6ea5' };

/** Dollars of each way, a panel for each job; behind each bar what it would be with a cold cache. */
export function plot(ways, { model, prices }) {
  const panels = Object.entries(JOBS).map(([job, title], at) => panel(ways, job, title, 62 + at * 160));
  const height = 62 + panels.length * 160;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13" fill="#222">`,
    `<title>${TITLE}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="16" y="24" font-size="16" font-weight="bold">${TITLE}</text>`,
    `<text x="16" y="42" fill="#666">requests of the runtime, scripted planner; ${model}, ${prices}; outlined: cold cache</text>`,
    ...panels,
    '</svg>',
    '',
  ].join('\n');
}

function panel(ways, job, title, top) {
  const all = Object.keys(TITLES).map((way) => [way, ways[way][job]]);
  const most = Math.max(...all.flatMap(([, { usd, coldUsd }]) => [usd, coldUsd]));
  const width = (usd) => Math.max(1, Math.round((usd / most) * MOST));
  const bars = all.map(([way, { usd, coldUsd, modelCalls, authCalls, right }], at) => {
    const y = top + 14 + at * (BAR + GAP);
    const told = `${dollars(usd)} (${dollars(coldUsd)}), ${modelCalls} calls, ${authCalls} auth, ${right ? 'right' : 'wrong'}`;
    const cold = width(coldUsd);
    return [
      `<text x="${LEFT - 8}" y="${y + 16}" text-anchor="end">${TITLES[way]}</text>`,
      `<rect x="${LEFT}" y="${y}" width="${width(usd)}" height="${BAR}" fill="${COLOURS[way]}"/>`,
      `<rect x="${LEFT}" y="${y}" width="${cold}" height="${BAR}" fill="none" stroke="${COLOURS[way]}"/>`,
      `<text x="${LEFT + Math.max(cold, width(usd)) + 8}" y="${y + 16}" font-size="11">${told}</text>`,
    ].join('\n');
  });
  return [`<text x="16" y="${top + 4}" font-weight="bold">${title}</text>`, ...bars].join('\n');
}
