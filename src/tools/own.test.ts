import { expect, test } from 'vitest';
import { z } from 'zod';
import { OutlastError } from '../core/error.ts';
import type { Json } from '../lib/json.ts';
import { noFiles } from '../testing/no-files.ts';
import { defineTool, failure, type JsonSchema, type OwnTool } from './own.ts';
import { NotSent, type RunContext } from './port.ts';

const context: RunContext = {
  reference: 'ses_1.e1',
  epoch: 3,
  attempt: 1,
  signal: new AbortController().signal,
  ...noFiles,
};
const base = { name: 'charge', description: 'Charges a card.', capability: 'blind' } as const;
const anything: JsonSchema = { type: 'object' };

test('a tool with a Zod schema: offered to the model, arguments checked, defaults filled in', async () => {
  const tool = defineTool({
    ...base,
    input: z.object({ to: z.string().min(1), cents: z.int(), note: z.string().default('none') }),
    capability: { kind: 'keyed', retentionMs: 5 },
    target: ({ to }) => `charge ${to}`,
    identity: ({ to, cents }) => `${to} ${cents}`,
    run: async ({ cents, note }, { reference }) => ({ cents: cents + 1, note, reference }),
  });
  expect(tool.direct).toBe(true);
  expect(tool.spec).toEqual({
    name: 'charge',
    description: 'Charges a card.',
    input: {
      type: 'object',
      properties: {
        to: { type: 'string', minLength: 1 },
        cents: expect.objectContaining({ type: 'integer' }),
        note: { type: 'string', default: 'none' },
      },
      required: ['to', 'cents'],
    },
  });
  const plan = tool.plan({ to: 'a', cents: 7, unknown: 1 });
  expect(plan).toEqual({
    capability: { kind: 'keyed', retentionMs: 5 },
    target: 'charge a',
    identity: 'a 7',
    args: { to: 'a', cents: 7, note: 'none' },
  });
  const { args } = plan as { args: Json };
  expect(await tool.run(args, context)).toEqual({
    status: 'done',
    result: { cents: 8, note: 'none', reference: 'ses_1.e1' },
  });
  expect(tool.plan({ to: '', cents: 1.5 })).toEqual({
    refused: {
      code: 'call.invalid',
      message: expect.stringMatching(/^charge was not called\. to: .*; cents: .*\.$/),
    },
  });
});

test('a tool with a JSON Schema is checked by it', () => {
  const tool = defineTool({
    ...base,
    input: {
      type: 'object',
      properties: { to: { type: 'string' }, lines: { type: 'array', items: { type: 'integer' } } },
      required: ['to'],
      additionalProperties: false,
    },
    run: (args) => args.to,
  });
  expect(tool.plan({ to: 'a', lines: [1] })).toEqual({
    capability: { kind: 'blind' },
    target: 'tools.charge',
    identity: null,
    args: { to: 'a', lines: [1] },
  });
  for (const args of [{}, { to: 1 }, { to: 'a', lines: ['x'] }, { to: 'a', more: 1 }, null, []] as Json[]) {
    expect([args, 'refused' in tool.plan(args)]).toEqual([args, true]);
  }
});

test('Y3: a value is done, a failure is failed, and what is thrown stays thrown', async () => {
  const returning = (run: OwnTool<JsonSchema>['run']) =>
    defineTool({ ...base, input: anything, run }).run({}, context);
  expect(await returning(() => undefined)).toEqual({ status: 'done', result: null });
  expect(await returning(() => 'half \ud800')).toEqual({ status: 'done', result: 'half \ufffd' });
  expect(await returning(() => ({ a: new Date(0), b: undefined }))).toEqual({
    status: 'done',
    result: { a: '1970-01-01T00:00:00.000Z' },
  });
  expect(await returning(() => 1n)).toMatchObject({ status: 'done', result: { note: expect.any(String) } });
  expect(await returning(async () => failure('stock.none', 'None left.'))).toEqual({
    status: 'failed',
    code: 'stock.none',
    message: 'None left.',
  });
  await expect(returning(() => Promise.reject(new NotSent('no line')))).rejects.toBeInstanceOf(NotSent);
  await expect(
    returning(() => {
      throw new Error('torn');
    }),
  ).rejects.toThrow('torn');
});

test('a queryable tool looks for what it did', async () => {
  const tool = defineTool({
    ...base,
    input: anything,
    capability: { kind: 'queryable', lateMs: 1 },
    run: () => null,
    find: (_, { reference }) => ({ status: 'done', result: reference }),
  });
  expect(await tool.find?.({}, context)).toEqual({ status: 'done', result: 'ses_1.e1' });
});

test('a cancelable tool looks for extras, and says what stands', async () => {
  const tool = defineTool({
    ...base,
    input: anything,
    capability: { kind: 'cancelable', lateMs: 1 },
    run: () => null,
    audit: (_, { reference }) => ({ finding: { status: 'done', result: reference }, undone: 2 }),
  });
  expect(tool.plan({})).toMatchObject({ capability: { kind: 'cancelable', lateMs: 1 } });
  expect(await tool.audit?.({}, context)).toEqual({
    finding: { status: 'done', result: 'ses_1.e1' },
    undone: 2,
  });
});

test('a result that is too long is kept in part, and is done all the same', async () => {
  const result = async (returned: unknown) => {
    const answer = await defineTool({ ...base, input: anything, run: () => returned }).run({}, context);
    return answer.status === 'done' ? answer.result : answer;
  };
  const fits = 'x'.repeat(999_998);
  expect(await result(fits)).toBe(fits);
  const cut = (await result({ rows: '\u{1f600}'.repeat(700_000) })) as { note: string; result: string };
  expect(cut.note).toBe('It is done; the result has 1400011 characters and is kept in part.');
  expect(cut.result.length).toBeLessThan(1_000_100);
  expect(cut.result).toMatch(/^\{"rows":"\u{1f600}/u);
  expect(cut.result).not.toMatch(/\p{Surrogate}/u);
});

test('Y1: a wrong definition names its place', () => {
  const cases: readonly [string, object][] = [
    ['defineTool.name ', { name: '1 tool' }],
    ['charge.description ', { description: ' ' }],
    ['charge.capability ', { capability: 'write' }],
    ['charge.capability ', { capability: undefined }],
    ['charge.capability.retentionMs ', { capability: { kind: 'keyed', retentionMs: 0 } }],
    ['charge.find ', { capability: { kind: 'queryable', lateMs: 5 } }],
    ['charge.find ', { find: 7 }],
    ['charge.audit is missing; a cancelable', { capability: { kind: 'cancelable', lateMs: 5 } }],
    ['charge.audit is a function', { audit: 7 }],
    ['charge.capability.lateMs ', { capability: { kind: 'cancelable', lateMs: -1 }, audit: () => null }],
    ['charge.capability ', { capability: 'cancelable', audit: () => null }],
    ['charge.run ', { run: undefined }],
    ['charge.target ', { target: 7 }],
    ['charge.identity ', { identity: 'to' }],
    ['charge.input ', { input: undefined }],
    ['charge.input ', { input: { type: 'array' } }],
    ['charge.input ', { input: { type: 'object', properties: { a: { type: 'strin' } } } }],
    ['charge.input ', { input: z.string() }],
    ['charge.input ', { input: z.object({ when: z.date() }) }],
    ['charge.input ', { input: z.object({ when: z.string().transform(Number) }) }],
  ];
  for (const [place, wrong] of cases) {
    const define = () =>
      defineTool({ ...base, input: anything, run: () => null, ...wrong } as OwnTool<JsonSchema>);
    expect(define).toThrow(place);
    expect(define).toThrow(OutlastError);
  }
});
