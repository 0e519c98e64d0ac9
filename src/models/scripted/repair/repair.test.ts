/** The next step, from requests as they stand after an edit, a loss, a compaction, and days later. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CallId } from '../../../core/ids.ts';
import type { ModelRequest, RequestMessage, ResultStatus } from '../../../core/message.ts';
import { repairReply } from './repair.ts';

const ORDER = 'The tests of this repository fail. Make the tests pass, and change no file under test/.';
const TOOLS = ['shell', 'read_file', 'edit_file', 'list_files', 'search_files', 'recall'];
const TEST = 'node --test --test-reporter=tap';
const PERIOD = { path: 'src/dates/period.js', old_string: 'day < end', new_string: 'day <= end' };

type Call = readonly [
  tool: string,
  input: Record<string, string | number>,
  text: string,
  status?: ResultStatus,
];

const recorded = (n: number): string =>
  readFileSync(new URL(`recorded/run-${n}.tap`, import.meta.url), 'utf8');
const ran = (n: number): Call => [
  'shell',
  { command: TEST },
  JSON.stringify({ exitCode: n === 6 ? 0 : 1, seconds: 1, output: recorded(n) }),
];
const LOOK: Call = ['list_files', { depth: 3 }, 'src/\npackage.json (400 bytes)'];
const PACKAGE: Call = ['read_file', { path: 'package.json' }, `1\t{ "scripts": { "test": "${TEST}" } }`];
const EDIT: Call = ['edit_file', PERIOD, `Edited: ${PERIOD.path}, line 16.`];

let calls = 0;
function exchange([tool, input, text, status = 'done']: Call): readonly RequestMessage[] {
  const call = `call_${++calls}` as CallId;
  const why = tool === 'edit_file' ? { meta: { scripted: { why: 'the end is left out' } } } : {};
  return [
    {
      role: 'assistant',
      parts: [
        { type: 'text', text: `Now: ${tool}.` },
        { type: 'tool-call', call, tool, input, ...why },
      ],
    },
    { role: 'tool', results: [{ call, tool, status, text }] },
  ];
}

const user = (text: string): RequestMessage => ({ role: 'user', text });

interface Scene {
  readonly past?: string;
  readonly said?: string | null;
  readonly made?: readonly Call[];
  readonly later?: readonly RequestMessage[];
  readonly present?: string;
  readonly tools?: readonly string[];
}

function request({
  past,
  said = ORDER,
  made = [],
  later = [],
  present = '',
  tools = TOOLS,
}: Scene): ModelRequest {
  return {
    system: '',
    tools: tools.map((name) => ({ name, description: '', input: {} })),
    messages: [
      ...(past === undefined ? [] : [user(`[outlast] What came before, in short (event #80).\n\n${past}`)]),
      ...(said === null ? [] : [user(said)]),
      ...made.flatMap(exchange),
      ...later,
      user(`[outlast] The present\ntime: 2026-03-01T00:00:00.000Z\n${present}`),
    ],
  };
}

/** The call or the answer that follows. */
function next(scene: Scene): { tool: string; input: unknown } | string {
  const parts = repairReply(request(scene))?.parts ?? [];
  const call = parts.find((part) => part.type === 'tool-call');
  if (call) return { tool: call.tool, input: call.input };
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

const RUN = { tool: 'shell', input: { command: TEST } };
const recalls = (id: string) => ({ tool: 'recall', input: { id } });

const PAST = [
  'What people have said, in order:',
  `- I1 (#3, turn 1, order): ${ORDER}`,
  '- I2 (#9, turn 1, answered): Thank you for looking into this. The shop around the corner asked what we co…',
  '',
  'Done, by the ledger:',
  `- e14 edit_file to workspace {"new_string":"day <= e… is done: "Edited: ${PERIOD.path}, line 16." [#97]`,
  '',
  'What is known:',
  `- decision: ${PERIOD.path}: the end is left out; changed "day < end" to "day <= end" [#95]`,
].join('\n');

describe('what is ordered', () => {
  it('is nothing of its business without such an order', () => {
    expect(repairReply(request({ said: "Report on February's invoices" }))).toBeNull();
  });

  it('what is wanted later and not now changes nothing', () => {
    const later = [user('Later we will want a `--json` flag that prints the totals as JSON, not now.')];
    expect(next({ made: [LOOK, PACKAGE], later })).toEqual(RUN);
  });

  it('says what is missing where there is no shell', () => {
    expect(next({ tools: TOOLS.slice(1) })).toMatch(/^I cannot work on files here: shell is not offered/);
  });
});

describe('R1 only the newest run counts', () => {
  it('runs the tests before anything else', () => {
    expect(next({})).toEqual({ tool: 'list_files', input: { depth: 3 } });
    expect(next({ made: [LOOK, PACKAGE] })).toEqual(RUN);
  });

  it('runs them again after an edit', () => {
    expect(next({ made: [LOOK, PACKAGE, ran(2), EDIT] })).toEqual(RUN);
  });

  it('looks at the files after a loss, whatever it had seen, and then runs the tests', () => {
    const made = [LOOK, PACKAGE, ran(2)];
    const present = 'recovery report: the worker of this session or part of its sandbox was lost.';
    expect(next({ made, present })).toEqual({ tool: 'list_files', input: { depth: 3 } });
    expect(next({ made: [...made, LOOK] })).toEqual(RUN);
  });

  it('after a compaction does not take the summary for how things are', () => {
    expect(next({ past: PAST, said: null, made: [LOOK, PACKAGE] })).toEqual(RUN);
  });

  it('goes on from a run that is still in view', () => {
    expect(next({ past: PAST, said: null, made: [ran(3)] })).toEqual({
      tool: 'read_file',
      input: { path: 'test/report.test.js' },
    });
  });

  it('a run that was lost with its sandbox is made again, and not for ever', () => {
    const lost: Call = ['shell', { command: TEST }, 'Its sandbox is gone. [sandbox.lost]', 'failed'];
    expect(next({ made: [LOOK, PACKAGE, lost] })).toEqual(RUN);
    expect(next({ made: [LOOK, PACKAGE, lost, lost, lost] })).toMatch(
      /could not be run: Its sandbox is gone/,
    );
  });
});

describe('R3 the answer', () => {
  const ORIGINAL = `#95 reply, 2026-03-01 00:00:00\nNow.\nedit_file ${JSON.stringify(PERIOD)}`;

  it('recalls what a compaction has taken out of view, and cites it', () => {
    const scene = { past: PAST, said: null, made: [ran(6)] };
    expect(next(scene)).toEqual(recalls('#95'));
    expect(next({ ...scene, made: [ran(6), ['recall', { id: '#95' }, ORIGINAL]] })).toContain(
      `\`${PERIOD.path}\`: the end is left out. Changed \`day < end\` to \`day <= end\` [#95]`,
    );
  });

  it('does not pass on a line of the summary that the log does not have', () => {
    const made: Call[] = [ran(6), ['recall', { id: '#95' }, 'There is no event 95.', 'failed']];
    const answer = next({ past: PAST.replace(/- e14.+\n/, ''), said: null, made });
    expect(answer).toContain('Noted, and not found again in the log');
    expect(answer).not.toContain('Changed `');
  });

  it('says that no model was at work', () => {
    expect(next({ made: [LOOK, PACKAGE, ran(6)] })).toMatch(/scripted planner and no model/);
  });
});

it('refuses a run that it cannot explain', () => {
  const strange = recorded(5).replace('operator: ', 'operators: ');
  const run: Call = ['shell', { command: TEST }, JSON.stringify({ exitCode: 1, output: strange })];
  expect(next({ made: [LOOK, PACKAGE, run] })).toMatch(
    /^I could not finish: 1 of 24 tests fail, and I know no fix/,
  );
});

describe('the flag that was spoken of', () => {
  const said = 'also add the flag we talked about';

  it('is recalled and not guessed', () => {
    expect(next({ past: PAST, said })).toMatchObject({ tool: 'recall', input: { kind: 'message' } });
  });

  it('is asked for where the log does not have it', () => {
    const first = next({ past: PAST, said });
    if (typeof first === 'string') throw new Error(first);
    const made: Call[] = [
      ['recall', first.input as Call[1], 'Nothing in the log of this session has these words.'],
    ];
    expect(next({ past: PAST, said, made })).toMatch(/Which one do you mean\?/);
  });
});

describe('what is kept of the past', () => {
  const messages = [LOOK, ran(2), EDIT, ran(3)].flatMap(exchange);
  const asked = [
    '[outlast] The oldest part of your view is about to leave it.',
    'The entries:',
    '#20 Now: list_files. | list_files {"depth":3} → done: src/',
    '#24 Now: shell. | shell {"command":"node --test"} → done: …',
    '#30 Now: edit_file. | edit_file {"path":"src/dates/period.js"} → done: Edited',
    '#36 Now: shell. | shell {"command":"node --test"} → done: …',
  ].join('\n');
  const compaction: ModelRequest = {
    ...{ system: '', tools: [], isCompaction: true },
    messages: [user(ORDER), ...messages, user('[outlast] The present\n'), user(asked)],
  };

  it('is each edit as a decision and the last run as a fact, with their numbers', () => {
    const text = repairReply(compaction)?.parts.map((part) => (part.type === 'text' ? part.text : ''));
    expect(text).toEqual([
      [
        `decision: ${PERIOD.path}: the end is left out; changed "day < end" to "day <= end" [#30]`,
        'fact: 21 tests passed and 3 failed at that time: "the exit code says how it went", "sums in another currency are to the nearest cent", "the same month in another currency is another report" [#36]',
      ].join('\n'),
    ]);
  });
});
