/** The evaluation judged: its labels, and its scorer with conversations that are known to be good or bad. */

import { expect, test } from 'vitest';
import type { ModelRequest } from '../../core/message.ts';
import type { Json } from '../../lib/json.ts';
import type { Model, ModelReply } from '../../models/port.ts';
import { calls, say } from '../sim/reply.ts';
import { CASES, type Case } from './cases.ts';
import { play } from './play.ts';
import { faults, tally } from './score.ts';

const model = (generate: (request: ModelRequest) => ModelReply): Model => ({
  name: 'scripted/judged',
  scripted: true,
  generate: async (request) => generate(request),
});

/** Makes these calls at the first look, and then says so. */
function doing(decide: (tail: string, says: string) => readonly (readonly [string, Json])[]): Model {
  return model((request) => {
    const { messages } = request;
    const since = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
    if (since.some(({ role }) => role === 'tool')) return say('Done so.');
    const [said, tail] = since.flatMap((m) => (m.role === 'user' ? [m.text] : []));
    if (said?.startsWith('[outlast]')) return calls(['let_pass', {}]);
    const asked = decide(tail ?? '', said ?? '');
    return asked.length === 0 ? say('All right.') : calls(...asked);
  });
}

const idOf = (tail: string, title: string): string =>
  new RegExp(`- (ses_\\w+) "${title}"`).exec(tail)?.[1] ?? 'ses_none';
const start = (keep_open: boolean) => ['start_task', { task: 'x', title: 'x', keep_open }] as const;

/** Does what the label says. */
const good = ({ wanted: { starts = [], tells = [], stops = [] } }: Case): Model =>
  doing((tail) => [
    ...starts.map((one) => start(one === 'open')),
    ...tells.map((title) => ['tell_task', { task: idOf(tail, title), message: 'x' }] as const),
    ...stops.map((title) => ['stop_task', { task: idOf(tail, title) }] as const),
  ]);

const caseOf = (says: string): Case => {
  const found = CASES.find((one) => one.says.startsWith(says));
  if (!found) throw new Error(`no case says ${says}`);
  return found;
};

const faultsOf = async (says: string, judged: Model) =>
  faults(caseOf(says), await play(caseOf(says), judged));

test('there are enough requests, each once, and none hints at keeping anything open', () => {
  expect(CASES.length).toBeGreaterThanOrEqual(80);
  expect(new Set(CASES.map(({ says }) => says)).size).toBe(CASES.length);
  const hints =
    /\b(?:keep|kept|stay|leave) (?:it |this |that )?open\b|\blater\b|\bcome back\b|\bfollow[- ]up\b|\bpersist/i;
  expect(CASES.filter(({ says }) => hints.test(says))).toEqual([]);
  const count = (name: 'open' | 'one-shot') =>
    CASES.filter(({ wanted }) => wanted.starts?.length === 1 && wanted.starts[0] === name).length;
  expect(count('open')).toBeGreaterThanOrEqual(20);
  expect(count('one-shot')).toBeGreaterThanOrEqual(20);
});

test('a conversation that does as labelled is right everywhere', async () => {
  const scored = [];
  for (const one of CASES)
    scored.push({ case: one, did: null, faults: faults(one, await play(one, good(one))) });
  expect(scored.filter((one) => one.faults.length > 0)).toEqual([]);
  expect(tally(scored).at(-1)).toBe(`${`${CASES.length} of ${CASES.length}`.padEnd(10)} all`);
}, 60_000);

test.each([
  ['What is the capital', doing(() => [start(true)]), ['kept for nothing']],
  ['Walk me through', doing(() => [start(false)]), ['closed too early']],
  ['Walk me through', doing(() => []), ['started too few']],
  ['Load the sales table', doing(() => [start(true), start(true), start(true)]), ['started too many']],
  ['Now do the same', doing(() => [start(true)]), ['started too many', 'told no task']],
  [
    'Now do the same',
    doing((tail) => [['tell_task', { task: idOf(tail, 'Board slides'), message: 'March' }]]),
    ['told the wrong task'],
  ],
  ['Now do the same', doing(() => [['tell_task', { task: 'ses_none', message: 'March' }]]), ['told no task']],
  ['Stop looking', doing(() => []), ['stopped no task']],
  [
    'Stop looking',
    doing((tail) =>
      ['Memory leak', 'Lisbon trip'].map((title) => ['stop_task', { task: idOf(tail, title) }] as const),
    ),
    ['stopped the wrong task'],
  ],
  ['Thanks!', doing(() => [start(false)]), ['started too many']],
])('a bad one is told by what it did: %s', async (says, judged, wanted) => {
  expect(await faultsOf(says, judged)).toEqual(wanted);
});

test('words alone are no deed, and silence is no answer', async () => {
  expect(
    await faultsOf(
      'What is the capital',
      model(() => say('I have started a task for it.')),
    ),
  ).toEqual(['started too few']);
  const mute = model(() => ({
    parts: [],
    finish: 'stop',
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
  }));
  expect(await faultsOf('Thanks!', mute)).toEqual(['no answer']);
});
