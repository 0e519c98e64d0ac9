// Owns: the bench room does what its README says: the names are the same in the list, in the README, in what is printed and
// in the results that are committed. No figure is judged here; a test that knows a time fails on a slow day.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { fold } from '../src/core/evolve.ts';
import { checkLog } from '../src/projections/invariant/invariant.ts';
import { textOf } from '../src/projections/recall/passages.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const namesOf = async (suite: string): Promise<readonly string[]> =>
  ((await import(new URL(`./${suite}.mjs`, import.meta.url).href)) as { NAMES: readonly string[] }).NAMES;
const SUITES = {
  steps: await namesOf('steps'),
  retention: await namesOf('retention'),
  workspace: await namesOf('workspace'),
  parked: await namesOf('parked'),
  followup: await namesOf('followup'),
  rungs: await namesOf('rungs'),
};

// biome-ignore lint/suspicious/noExplicitAny: the modules of the bench are plain JavaScript
const load = async (path: string): Promise<any> => import(new URL(path, import.meta.url).href);

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
    const results = readdirSync(at('results')).filter(
      (name) => name.startsWith(`${suite}-`) && name.endsWith('.json'),
    );
    expect(results.length).toBeGreaterThan(0);
    for (const name of results) {
      const { machine, figures } = JSON.parse(readFileSync(at(`results/${name}`), 'utf8'));
      expect(Object.keys(figures).sort(), name).toEqual([...names].sort());
      expect(Object.keys(machine).sort(), name).toEqual(['cores', 'date', 'driver', 'node', 'platform']);
    }
  },
);

test('the committed picture of a follow-up shows the committed figures', async () => {
  const { plot } = await load('followup/show.mjs');
  const [name = ''] = readdirSync(at('results')).filter((one) => /^followup-.*\.json$/.test(one));
  const { figures, details } = JSON.parse(readFileSync(at(`results/${name}`), 'utf8'));
  const picture = readFileSync(at(`results/${name.replace('.json', '.svg')}`), 'utf8');
  expect(picture).toBe(plot(figures, details.newTask.priced));
});

test('followup: a session that goes on authenticates no more, also after a kill, and a request without its past is answered wrong', async () => {
  const { JOBS, play } = await load('followup/price.mjs');
  const { newTask, asSaid, summary, warm, killed } = await play(JOBS.billing, 3);
  expect([newTask, summary, warm, killed].map(({ right }) => right)).toEqual([true, true, true, true]);
  expect(asSaid.right).toBe(false);
  expect([newTask, summary, warm, killed].map(({ authCalls }) => authCalls)).toEqual([3, 3, 0, 0]);
  expect([warm.heap, killed.heap]).toEqual(['attached', 'exact']);
  expect(warm.modelCalls).toBeLessThan(newTask.modelCalls);
  expect(warm.usd).toBeLessThan(newTask.usd);
}, 120_000);

test('followup: what a request shares with one before it is priced as cached, and not when the cache is cold', async () => {
  const { bill } = await load('followup/bill.mjs');
  const part = (hash: string) => ({ hash, chars: 4_000_000 / 100 });
  const call = (...hashes: readonly string[]) => ({
    ...{ parts: hashes.map(part), stable: hashes.length - 1, output: 4_000, isCompaction: false },
  });
  const before = [call('tools', 'old', 'present')];
  // Ten thousand tokens a part: in dollars for a million, cached 0.3, written 3.75, plain 3; a thousand out at 15.
  const alone = bill([call('tools', 'new', 'present')], before);
  expect(alone.tokensCached).toBe(10_000);
  expect(alone.usd).toBeCloseTo(0.003 + 0.0375 + 0.03 + 0.015, 9);
  expect(alone.coldUsd).toBeCloseTo(0.0375 * 2 + 0.03 + 0.015, 9);
  // What stood in the present of a call before is cached by nobody.
  const twice = bill([call('tools', 'present'), call('tools', 'present', 'present')], []);
  expect(twice.tokensCached).toBe(10_000);
  expect(twice.tokens).toBe(52_000);
});

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
  const { findabilityByKind: kinds, findabilityByLength: lengths } = figures;
  expect(Object.keys(kinds)).toHaveLength(7);
  expect(Object.keys(lengths)).toEqual(['30000 tokens']);
  expect(lengths['30000 tokens']).toEqual({
    ...{ ours: figures.findability, plainBm25: figures.findabilityBm25, byKind: kinds },
  });
  expect(figures.turn50Tokens).toBeGreaterThan(1_000);
  expect(figures.locomo).toBeNull();
});

test('retention: a generated history is a log that a runtime could have written, and the same each time', async () => {
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
