// Owns: the bench room does what its README says: the names are the same in the list, in the README, in what is printed and
// in the results that are committed. No figure is judged here; a test that knows a time fails on a slow day.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { fold } from '../src/core/evolve.ts';
import { checkLog } from '../src/projections/invariant.ts';
import { textOf } from '../src/projections/passages.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const namesOf = async (suite: string): Promise<readonly string[]> =>
  ((await import(new URL(`./${suite}.mjs`, import.meta.url).href)) as { NAMES: readonly string[] }).NAMES;
const SUITES = {
  steps: await namesOf('steps'),
  retention: await namesOf('retention'),
  workspace: await namesOf('workspace'),
  parked: await namesOf('parked'),
};

function bench(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [at('main.mjs'), ...args], {
    encoding: 'utf8',
    timeout: 85_000,
  });
  return { status, stdout, stderr };
}

test('the README explains every figure, and none that is not there', () => {
  const rows = readFileSync(at('README.md'), 'utf8').matchAll(/^\| `(\w+)` \|/gm);
  expect([...rows].map(([, name]) => name).sort()).toEqual(Object.values(SUITES).flat().sort());
});

test.each(Object.entries(SUITES))(
  'the committed results of %s have every figure, and name no machine',
  (suite, names) => {
    const results = readdirSync(at('results')).filter((name) => name.startsWith(`${suite}-`));
    expect(results.length).toBeGreaterThan(0);
    for (const name of results) {
      const { machine, figures } = JSON.parse(readFileSync(at(`results/${name}`), 'utf8'));
      expect(Object.keys(figures).sort(), name).toEqual([...names].sort());
      expect(Object.keys(machine).sort(), name).toEqual(['cores', 'date', 'driver', 'node', 'platform']);
    }
  },
);

test('--json ends with one object of the figures that were asked for', () => {
  const { status, stdout, stderr } = bench('steps', '--json', '--quick', '--only', 'cellCommitMs');
  expect(status, stderr).toBe(0);
  const figures = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  expect(Object.keys(figures)).toEqual(['cellCommitMs', 'cellCommitBytes']);
  for (const value of Object.values(figures)) expect(value).toBeGreaterThan(0);
});

test('a small workspace is kept, and brought back, as the figures say', () => {
  const { status, stdout, stderr } = bench('workspace', '--json', '--quick');
  expect(status, stderr).toBe(0);
  const figures = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  expect(Object.keys(figures)).toEqual([...SUITES.workspace]);
  // Five of two hundred files, and the pages that name them.
  expect(figures.filesFiveBytes).toBeLessThan(figures.filesFirstBytes / 20);
});

test('a small crowd is parked, woken and due at once, as the figures say', { timeout: 90_000 }, () => {
  const { status, stdout, stderr } = bench('parked', '--json', '--quick', '--count', '200');
  expect(status, stderr).toBe(0);
  const figures = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  expect(Object.keys(figures)).toEqual([...SUITES.parked]);
  expect(figures).toMatchObject({ parked: 200, timers: 60, workerMbAt1000: null });
  expect(figures.timersAtOnce).toBeLessThanOrEqual(20);
  expect(figures.storeBytesPerSession).toBeGreaterThan(10_000);
});

test('a figure that is not there is refused with the ones that are', () => {
  const { status, stderr } = bench('steps', '--only', 'stepsPerFortnight');
  expect(status).toBe(2);
  for (const name of SUITES.steps) expect(stderr).toContain(name);
});

test('retention: every event comes back as it was, and its evidence is found more often than by plain BM25', () => {
  const { status, stdout, stderr } = bench('retention', '--json', '--quick');
  expect(status, stderr).toBe(0);
  const figures = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  expect(Object.keys(figures).sort()).toEqual([...SUITES.retention].sort());
  expect(figures.eventsIdentical).toBe(figures.events);
  expect(figures.findability).toBeGreaterThan(figures.findabilityBm25);
  expect(figures.locomo).toBeNull();
});

test('retention: a generated history is a log that a runtime could have written, and the same each time', async () => {
  const load = async (path: string) => import(new URL(path, import.meta.url).href);
  const [{ history }, { eventsOf, questionsOf }] = [
    await load('retention/generate.mjs'),
    await load('retention/events.mjs'),
  ];
  const made = () => history({ seed: 3, half: 'held', tokens: 20_000, perKind: 3 });
  const { events, places } = eventsOf(made().turns);
  expect(eventsOf(made().turns).events).toEqual(events);
  expect(checkLog(events)).toEqual([]);
  expect(fold(events).turn).toBeNull();
  const questions = questionsOf(made().asked, places) as { kind: string; evidence: number[] }[];
  expect(new Set(questions.map(({ kind }) => kind)).size).toBe(7);
  for (const { evidence } of questions) {
    expect(evidence.length).toBeGreaterThan(0);
    for (const seq of evidence) expect(textOf(events[seq - 1])).not.toBe('');
  }
});

test('retention: the public sets are read as they come', async () => {
  const { locomoIn, beamIn } = await import(new URL('retention/public.mjs', import.meta.url).href);
  const dir = mkdtempSync(join(tmpdir(), 'outlast-'));
  try {
    const locomo = join(dir, 'locomo10.json');
    const said = (id: string, text: string) => ({ speaker: 'Ann', dia_id: id, text });
    const conversation = {
      session_1_date_time: '1:56 pm on 8 May, 2023',
      session_1: [said('D1:1', 'Hello'), said('D1:2', 'I bought a kayak')],
      session_2_date_time: '9:05 am on 9 May, 2023',
      session_2: [{ ...said('D2:1', 'Look'), blip_caption: 'a lake' }],
    };
    const qa = [
      { question: 'What did Ann buy?', evidence: ['D1:2'], category: 4 },
      { question: 'When?', evidence: ['D1:2; D2:1'], category: 2 },
      { question: 'What did Ben buy?', evidence: ['D1:2'], category: 5 },
    ];
    writeFileSync(locomo, JSON.stringify([{ conversation, qa }]));
    const [{ events, questions }] = locomoIn(locomo);
    expect(
      questions.map(({ kind, evidence }: { kind: string; evidence: number[] }) => [kind, ...evidence]),
    ).toEqual([
      ['single-hop', 2],
      ['temporal', 2, 3],
    ]);
    expect(events[2]).toMatchObject({ text: 'Ann: Look [shows a lake]', at: Date.UTC(2023, 4, 9, 9, 5) });

    mkdirSync(join(dir, 'chats/100K/1/probing_questions'), { recursive: true });
    const turns = [[{ id: 7, role: 'user', content: 'My code is cobalt', time_anchor: 'March-15-2024' }]];
    writeFileSync(join(dir, 'chats/100K/1/chat.json'), JSON.stringify([{ batch_number: 1, turns }]));
    const asks = {
      information_extraction: [{ question: 'Which code?', source_chat_ids: { all: [7] } }],
      abstention: [{ question: '?' }],
    };
    writeFileSync(join(dir, 'chats/100K/1/probing_questions/probing_questions.json'), JSON.stringify(asks));
    expect(beamIn(dir)).toMatchObject([
      {
        events: [{ text: 'My code is cobalt', at: Date.UTC(2024, 2, 15) }],
        questions: [{ kind: 'information_extraction', words: 'Which code?', evidence: [1] }],
      },
    ]);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
