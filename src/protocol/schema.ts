/**
 * The shapes that cross HTTP, as zod schemas: bodies and queries are checked with them, answers are described by
 * them, and the types of server and client are taken from them.
 *
 * S1  A body with an unknown member is refused: a misspelt option is never silently ignored.
 * S2  Answers have the very shapes of the runtime; the server's types do not compile otherwise.
 */

import { z } from 'zod';
import { AUTHORITY } from '../core/event.ts';
import { FILE_BYTES, IMAGE_TYPES, MESSAGE_IMAGES, SHOWN_BYTES, sizeOf } from '../core/file.ts';
import { fromBase64 } from '../lib/base64.ts';
import { boundOf } from '../lib/instant.ts';
import { sessionBudget, startBudget } from './budget.ts';
import { child, childrenBudget } from './family.ts';
import { kernel } from './kernel.ts';
import { limits } from './limits.ts';
import { retention } from './retention.ts';
import { workspace } from './workspace.ts';

const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();
const count = z.int().min(0);
const positive = z.int().min(1);
const when = z.enum(['next', 'later', 'now']);
const answer = z.enum(['approve', 'reject', 'done', 'not-done', 'answer']);

export const phase = z.enum([
  'working',
  'awaiting_input',
  'awaiting_decision',
  'sleeping',
  'paused',
  'stopping',
  'stopped',
  'deleting',
  'deleted',
  'completed',
]);

// ── what comes in ────────────────────────────────────────────────────────────────────────────────────────────

const image = z.strictObject({
  mediaType: z.string().describe(`One of ${IMAGE_TYPES.join(', ')}.`),
  data: z
    .string()
    .meta({ contentEncoding: 'base64', description: 'The bytes in base64.' })
    .transform((text, { addIssue }) => {
      const data = fromBase64(text);
      if (data) return data;
      addIssue('no base64');
      return z.NEVER;
    }),
});

const images = list(image)
  .optional()
  .describe(
    `At most ${MESSAGE_IMAGES}, of ${sizeOf(FILE_BYTES)} each and ${sizeOf(SHOWN_BYTES)} together. They reach the model ` +
      'behind the words.',
  );

export const startBody = z.strictObject({
  message: z.string().describe('What to do.'),
  images,
  persist: z.boolean().default(false).describe('Keep the session open after its first response.'),
  title: z.string().min(1).max(200).optional(),
  workspace: z
    .string()
    .min(1)
    .max(4_000)
    .optional()
    .describe(
      "A folder of the server's machine, or a git remote: its files stand in the workspace from the start.",
    ),
  limits: limits.optional(),
  budget: startBudget,
});

export const sendBody = z.strictObject({
  message: z.string(),
  images,
  when: when
    .default('next')
    .describe(
      '`next`: before the next model call; `later`: after the response; `now`: the generation is aborted.',
    ),
});

export const askBody = z.strictObject({ question: z.string() });

export const decisionBody = z.strictObject({
  decision: z.string().min(1).max(64),
  answer,
  text: z.string().max(20_000).default(''),
  digest: z
    .string()
    .max(128)
    .optional()
    .describe('Of the action that you have seen; a decision about another one is refused.'),
});

export const stopBody = z.strictObject({
  waitMs: count.max(60_000).optional().describe('How long to wait for live resources to go.'),
});

export const forkBody = z.strictObject({
  at: positive.optional().describe('The last event that the fork shares; by default the newest.'),
  title: z.string().min(1).max(200).optional(),
  message: z
    .string()
    .optional()
    .describe('What to say to the fork; without it, it awaits its first message.'),
});

export const emptyBody = z.strictObject({});

const number = (from: number, to: number) => z.coerce.number().pipe(z.int().min(from).max(to));

export const listQuery = z.strictObject({
  phase: phase.optional(),
  after: z.string().optional().describe('The last id of the page before.'),
  limit: number(1, 500).default(50),
});

export const inboxQuery = z.strictObject({
  after: z.string().optional().describe('The last session of the page before.'),
  limit: number(1, 500).default(50).describe('Sessions of a page; a stream has no limit.'),
});

export const inspectQuery = z.strictObject({
  waitMs: number(0, 60_000).default(0).describe('Answer once the session rests, or after so long.'),
  at: number(1, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('As it stood once this event was in its log; then it is not waited for anything.'),
});

/** `after` may be out of range here: that is a stale cursor, and it is answered as one. */
export const eventsQuery = z.strictObject({
  after: z.coerce.number().pipe(z.int()).default(0).describe('Seq of the last event that the reader has.'),
  limit: number(1, 1_000).default(200).describe('Events of a JSON page; a stream has no limit.'),
  whispers: z
    .enum(['true', 'false'])
    .default('true')
    .describe('Whether a stream carries text while it is written.'),
});

const bound = z
  .string()
  .refine((text) => !Number.isNaN(boundOf(text, 'from')), 'no day and no instant with a zone')
  .describe('A day in UTC, or an instant with its zone, as ISO 8601.');

export const passageKind = z.enum([
  'message',
  'reply',
  'call',
  'result',
  'output',
  'response',
  'progress',
  'decision',
  'note',
]);

export const recallQuery = z
  .strictObject({
    id: z.string().max(40).describe('A citation, as `#41` or `#41.2`: the original.'),
    words: z.string().max(2_000).describe('The passages that answer this best.'),
    kind: passageKind,
    from: bound,
    to: bound,
    offset: number(0, Number.MAX_SAFE_INTEGER).describe(
      'Of an original, characters; of a list, newer passages.',
    ),
    limit: number(1, Number.MAX_SAFE_INTEGER).describe('The same, at most.'),
  })
  .partial();

export const noQuery = z.strictObject({});

/** Visible ASCII: what a header can carry unchanged. */
export const key = z.string().regex(/^[\x21-\x7e]{1,200}$/, '1 to 200 visible ASCII characters');

// ── what goes out ────────────────────────────────────────────────────────────────────────────────────────────

const residency = z
  .enum(['resident', 'parked', 'archived'])
  .describe('Whether a worker may hold its live objects in memory; a separate axis from the phase.');

export const receipt = z.object({
  message: z.string(),
  seq: positive.describe('Position in the log.'),
  rule: z.string().describe('The rule that applies to this message, in words.'),
  woke: residency.optional().describe('From where it wakes a session that rested.'),
});

export const started = receipt.extend({ session: z.string() });

export const forked = z.object({
  session: z.string(),
  from: z.string(),
  at: positive.describe('The last event that both share.'),
  seq: positive.describe('Position of `session.forked` in the log of the fork: what follows is its own.'),
  rule: z
    .string()
    .describe('Where it starts, in words; says so when that is not the very event that was asked for.'),
});

export const phaseAnswer = z.object({ session: z.string(), phase });

export const asked = z.object({
  answer: z.string(),
  model: z.string().describe('Whose words these are.'),
  asOf: count.describe('The last event that the answer knows of.'),
  usage: z.object({
    inputTokens: count,
    outputTokens: count,
    cachedTokens: count.describe('Of the input, what the provider had in its cache.'),
    cacheWriteTokens: count.optional().describe('Of the input, what it wrote to its cache, if it says so.'),
  }),
});

export const stopped = z.object({
  session: z.string(),
  status: z.enum(['stopped', 'stopping']),
  unknown: list(z.string()).describe('Effects whose outcome nobody knows.'),
  children: list(z.object({ id: z.string(), title: z.string() })).describe('Those that are stopped with it.'),
});

export const row = z.object({
  id: z.string(),
  title: z.string(),
  phase: z.string(),
  residency: residency.optional().describe('Not there for sessions that only an older version has written.'),
  persist: z.boolean(),
  startedAt: z.number(),
  updatedAt: z.number(),
  turn: count,
  head: count,
  lastResponse: z.string().nullable(),
  openDecisions: count,
  unknownEffects: count,
  place: count
    .optional()
    .describe('In the queue for a slot, 1 for the next; only there while it waits for one.'),
  forkedFrom: z.string().optional().describe('The session that it is a fork of; only there for forks.'),
  parent: z.string().optional().describe('The session that it is a child of; only there for children.'),
  profile: z.enum(['conversation']).optional().describe('What it is; not there for tasks.'),
  waitsFor: z.string().optional().describe('What it waits for, in words; not there while it works.'),
});

export const rows = z.object({
  sessions: list(row),
  after: z.string().nullable().describe('Ask for the next page with it; null at the end.'),
});

const ledgerRow = z.object({
  effect: z.string(),
  status: z.enum(['intended', 'dispatched', 'unknown', 'done', 'failed', 'withdrawn', 'left']),
  tool: z.string(),
  target: z.string(),
  capability: z.enum(['read', 'keyed', 'queryable', 'cancelable', 'blind']),
  rule: z.string().describe('The rule of the policy by which it was sent, asked about or denied.'),
  attempts: count,
  evidence: z
    .string()
    .nullable()
    .describe('How the outcome was known when the service did not simply answer.'),
  error: z.string().nullable(),
  at: z.number(),
});

const decision = z.object({
  id: z.string(),
  about: z
    .enum(['approval', 'unknown', 'question'])
    .describe('Whether to send it, whether it happened, or what the work itself wants to know.'),
  effect: z.string().nullable(),
  question: z.string(),
  why: z.string().describe('Why a person is asked; empty for a question of the work.'),
  options: list(z.string()),
  choices: list(z.string()),
  since: z.number(),
  action: z
    .object({ tool: z.string(), target: z.string(), args: z.unknown() })
    .nullable()
    .describe('Of an approval: the exact action.'),
  digest: z.string().nullable().describe('Of that action; a decision can name it.'),
  expiresAt: z.number().nullable().describe('From then on it can be answered no more.'),
});

const heap = z.object({
  generation: count,
  live: list(z.object({ name: z.string(), type: z.string(), size: z.number().nullable(), cell: z.string() })),
  images: count,
  bytes: count,
  restored: z.object({ rung: z.string(), at: z.number(), note: z.string() }).nullable(),
});

export const inspection = z.object({
  id: z.string(),
  title: z.string(),
  objective: z.string(),
  persist: z.boolean(),
  phase,
  rests: z.boolean().describe('Whether nothing more happens until something comes in from a person.'),
  residency,
  woke: z
    .object({ from: residency, at: z.number(), ms: z.number().nullable() })
    .nullable()
    .describe('The last wake by a message, and how long it took until there was all it had.'),
  reason: z.string().nullable().describe('Why it rests, when that is not plain from the phase.'),
  place: count.nullable().describe('In the queue for a slot, 1 for the next; null while it waits for none.'),
  wakesAt: z.number().nullable().describe('When it goes on by itself; null when it has no timer.'),
  model: z.string(),
  budget: sessionBudget.extend({ children: childrenBudget.nullable().describe('Null without children.') }),
  context: z
    .object({
      tokens: count,
      compactAt: count,
      windowTokens: count,
      compactions: count,
      compacted: count.describe('Items of the transcript that were compacted so far.'),
      items: count.describe('Items that stand in the view as they were said.'),
    })
    .describe("The model's view."),
  startedAt: z.number(),
  updatedAt: z.number(),
  head: count,
  forkedFrom: z
    .object({ session: z.string(), at: positive })
    .nullable()
    .describe('The session that it is a fork of, and the last event that they share.'),
  parent: z.string().nullable().describe("The session that it is a child of; null when it is nobody's."),
  children: list(child).describe('Tasks to which it gave work, as far as it knows.'),
  epoch: count,
  turn: z.object({ number: count, step: count, doing: z.string() }).nullable(),
  lastTurn: z
    .object({
      ...{ number: count, end: z.string(), text: z.string() },
      partial: list(z.string()).describe(
        'Titles of children that were cut off in it: the response is partial.',
      ),
    })
    .nullable(),
  unread: list(z.object({ id: z.string(), text: z.string(), when: z.string() })),
  ledger: list(ledgerRow),
  decisions: list(decision),
  heap,
  kernel: kernel.nullable().describe('The objects of Python; null while it never had any.'),
  retention: retention.nullable().describe('Null for one that is kept for ever.'),
  workspace: workspace.nullable().describe('Null while it never had a file.'),
});

export const verification = z.object({
  events: count,
  violations: list(z.object({ invariant: z.string(), seq: count, detail: z.string() })),
  moves: count,
  restores: count,
  identical: z
    .boolean()
    .nullable()
    .describe('Whether every replayed heap is the one in the log; null without a heap.'),
  diverged: z.object({ seq: count, expected: z.string(), found: z.string() }).nullable(),
  image: z.enum(['intact', 'damaged', 'none']),
  problem: z.string().nullable(),
});

export const inbox = z.object({
  items: list(
    z.object({
      session: z.string(),
      title: z.string(),
      parent: z
        .object({ id: z.string(), title: z.string() })
        .nullable()
        .describe('Whose child it is, or of which conversation a task.'),
      id: z.string().describe('The decision; `resume` where the answer is to resume the session.'),
      about: z.enum(['approval', 'unknown', 'question', 'quarantine', 'budget', 'notice']),
      effect: z.string().nullable(),
      question: z.string(),
      why: z.string(),
      evidence: list(z.string()),
      since: z.number(),
      expiresAt: z.number().nullable().describe('From then on it can be answered no more.'),
      answers: list(z.object({ answer: z.string(), brings: z.string().describe('What happens on it.') })),
      choices: list(z.string()).describe('Of a question: the answers that are offered.'),
      action: z.object({ tool: z.string(), target: z.string(), args: z.unknown() }).nullable(),
      digest: z.string().nullable().describe('Of an approval: the action that it is about.'),
    }),
  ),
  after: z.string().nullable().describe('Ask for the next page with it; null at the end.'),
});

export const recalled = z.object({
  by: z.enum(['id', 'words', 'time']),
  passages: list(
    z.object({
      id: z.string().describe('Its citation.'),
      seq: count,
      kind: z.string(),
      at: z.number(),
      standing: z
        .enum(['rule', 'preference'])
        .nullable()
        .describe('What a person asked for beyond this once.'),
      text: z.string(),
      offset: count.describe('Where it begins in the text of its event.'),
      length: count.describe('Of the whole text of its event.'),
    }),
  ).describe('Oldest first.'),
  older: count.describe('How many more a list has before these.'),
  skipped: count,
});

export const report = z.object({
  losses: count.describe('How often a worker or live objects were lost so far.'),
  last: z
    .object({ at: z.number(), head: count, lastAt: z.number() })
    .nullable()
    .describe('The last time: when it was taken over, and the last event that stood in the log by then.'),
  lines: list(
    z.object({
      kind: z.enum([
        'contract',
        'inputs',
        'transcript',
        'position',
        'effects',
        'live objects',
        'files',
        'decisions',
        'children',
        'timers',
        'derived context',
        'answers',
      ]),
      fate: z.enum(['survived', 'rebuilt', 're-observed', 'unknown', 'lost']),
      what: z.string(),
      evidence: z.string().describe('How that is known.'),
    }),
  ),
});

/** Kinds have their own members; `core/event.ts` is their description. */
export const event = z.looseObject({
  seq: positive,
  at: z.number(),
  kind: z.enum([...Object.keys(AUTHORITY), 'foreign']),
});

export const eventsPage = z.object({
  events: list(event),
  after: count.describe('Ask for what follows with it.'),
  more: z.boolean().describe('Whether more events stand in the log already.'),
});

export const health = z.object({
  ok: z.literal(true),
  product: z.literal('outlast'),
  version: z.string().nullable(),
  /** The rest is for those who may use the server; null for others. */
  owner: z.string().nullable(),
  pid: z.number().nullable(),
  data: z.string().nullable(),
  store: z.string().nullable(),
  model: z.object({ name: z.string(), scripted: z.boolean() }).nullable(),
  parking: z.string().nullable().describe('What is kept of a Python kernel that is parked.'),
});

export const errorAnswer = z.object({
  error: z.object({ code: z.string(), message: z.string(), next: z.string() }),
});

export type Row = z.output<typeof row>;
export type Rows = z.output<typeof rows>;
export type Inspection = z.output<typeof inspection>;
export type Inbox = z.output<typeof inbox>;
export type Report = z.output<typeof report>;
export type Recalled = z.output<typeof recalled>;
export type PassageKind = z.output<typeof passageKind>;
export type Verification = z.output<typeof verification>;
export type Started = z.output<typeof started>;
export type Forked = z.output<typeof forked>;
export type Receipt = z.output<typeof receipt>;
export type PhaseAnswer = z.output<typeof phaseAnswer>;
export type Asked = z.output<typeof asked>;
export type Stopped = z.output<typeof stopped>;
export type Health = z.output<typeof health>;
