/**
 * The table of routes: what the server serves, the client calls and the OpenAPI document describes. Nothing else does.
 *
 * R1  A call is in the product when it is in this table; the server does not compile without a handler for each.
 * R2  Every POST takes an `Idempotency-Key`. `keyed` says what a repeat with the same key means.
 */

import type { z } from 'zod';
import type { Event, ForeignEvent } from '../core/event.ts';
import * as budget from './budget.ts';
import * as conversation from './conversation.ts';
import * as files from './files.ts';
import * as retention from './retention.ts';
import * as schema from './schema.ts';

export interface Route {
  readonly method: 'GET' | 'POST';
  /** With `:id` for the session. */
  readonly path: string;
  readonly summary: string;
  readonly query: z.ZodType;
  readonly body: z.ZodType | null;
  readonly answer: z.ZodType;
  /** What comes instead, one by one, with `Accept: text/event-stream`. */
  readonly stream?: string;
  readonly status: 200 | 201;
  /**
   * `log`: the key stands in the log, and a repeat gets the first answer in any process, for ever.
   * `process`: the running server remembers the answer; after a restart the call is made again.
   */
  readonly keyed: 'log' | 'process' | null;
}

const get = { method: 'GET', query: schema.noQuery, body: null, status: 200, keyed: null } as const;
const post = { method: 'POST', query: schema.noQuery, status: 200, keyed: 'process' } as const;
const turnTo = { ...post, body: schema.emptyBody, answer: schema.phaseAnswer } as const;

export const ROUTES = {
  start: {
    ...post,
    path: '/v1/sessions',
    summary: 'Start a session. Answers once it is durable.',
    body: schema.startBody,
    answer: schema.started,
    status: 201,
    keyed: 'log',
  },
  list: {
    ...get,
    path: '/v1/sessions',
    summary: 'Your sessions, newest first.',
    query: schema.listQuery,
    answer: schema.rows,
  },
  inspect: {
    ...get,
    path: '/v1/sessions/:id',
    summary: 'A session in one look: phase, ledger, open decisions, live objects.',
    query: schema.inspectQuery,
    answer: schema.inspection,
  },
  send: {
    ...post,
    path: '/v1/sessions/:id/messages',
    summary: 'Say something to a session, whatever it is doing. Answers with a receipt once it is durable.',
    body: schema.sendBody,
    answer: schema.receipt,
    keyed: 'log',
  },
  decide: {
    ...post,
    path: '/v1/sessions/:id/decisions',
    summary: 'Answer an open question. The first answer stands.',
    body: schema.decisionBody,
    answer: schema.phaseAnswer,
  },
  converse: {
    ...post,
    path: '/v1/conversations',
    summary: 'Say something to your conversation, which starts with the first word. It is a session as well.',
    body: conversation.converseBody,
    answer: schema.started,
    keyed: 'log',
  },
  conversation: {
    ...get,
    path: '/v1/conversations',
    summary: 'Which session your conversation is.',
    query: conversation.conversationQuery,
    answer: conversation.conversation,
  },
  ask: {
    ...post,
    path: '/v1/sessions/:id/ask',
    summary: 'A question about the work. It changes neither transcript nor course nor cost of the task.',
    body: schema.askBody,
    answer: schema.asked,
  },
  pause: { ...turnTo, path: '/v1/sessions/:id/pause', summary: 'Hold it where it is.' },
  resume: { ...turnTo, path: '/v1/sessions/:id/resume', summary: 'Go on, also after a quarantine.' },
  interrupt: {
    ...turnTo,
    path: '/v1/sessions/:id/interrupt',
    summary: 'End the running turn and keep the session.',
  },
  stop: {
    ...post,
    path: '/v1/sessions/:id/stop',
    summary: 'End the session. Answers once its live resources are gone, or says that they are going.',
    body: schema.stopBody,
    answer: schema.stopped,
  },
  delete: {
    ...post,
    path: '/v1/sessions/:id/delete',
    summary:
      'Delete a session that is over, for good, with its children. A tombstone stays; refused while anything is open.',
    body: retention.deleteBody,
    answer: retention.deleted,
  },
  reopen: { ...turnTo, path: '/v1/sessions/:id/reopen', summary: 'Open a stopped session again.' },
  fork: {
    ...post,
    path: '/v1/sessions/:id/fork',
    summary:
      'A new session that shares the log up to an event: transcript, files, live objects. What was in flight stays with the original.',
    body: schema.forkBody,
    answer: schema.forked,
    status: 201,
    keyed: 'log',
  },
  setBudget: {
    ...post,
    path: '/v1/sessions/:id/budget',
    summary: 'Raise or lower what a session may use. One that rests on a budget tries again, enough or not.',
    body: budget.budgetBody,
    answer: schema.phaseAnswer,
  },
  ownerBudget: {
    ...get,
    path: '/v1/budget',
    summary: 'What all your sessions together may use, and have used.',
    answer: budget.ownerBudget,
  },
  setOwnerBudget: {
    ...post,
    path: '/v1/budget',
    summary: 'Change that. Sessions that rest on it try again.',
    body: budget.ownerBudgetBody,
    answer: budget.ownerBudget,
  },
  stats: {
    ...get,
    path: '/v1/stats',
    summary: 'Where your sessions rest, which guesses about them were wrong, and what that cost.',
    answer: budget.stats,
  },
  slots: {
    ...get,
    path: '/v1/slots',
    summary: 'How many of your sessions may work at once, how many do, and how many wait.',
    answer: budget.ownerSlots,
  },
  setSlots: {
    ...post,
    path: '/v1/slots',
    summary: 'Change that. Waiting, sleeping and undecided sessions hold no slot.',
    body: budget.slotsBody,
    answer: budget.ownerSlots,
  },
  verify: {
    ...post,
    path: '/v1/sessions/:id/verify',
    summary: 'Check the log, replay it, and compare the sandbox bit for bit. Changes nothing.',
    body: schema.emptyBody,
    answer: schema.verification,
  },
  inbox: {
    ...get,
    path: '/v1/inbox',
    summary: 'Everything that awaits a person, over all your sessions.',
    query: schema.inboxQuery,
    answer: schema.inbox,
    stream: 'Server-sent events: `inbox` frames, each with the whole list; another one whenever it changes.',
  },
  recall: {
    ...get,
    path: '/v1/sessions/:id/recall',
    summary: 'What its log says, word for word: by id, by words, by kind and time.',
    query: schema.recallQuery,
    answer: schema.recalled,
  },
  report: {
    ...get,
    path: '/v1/sessions/:id/report',
    summary:
      'The recovery report: what survived, was rebuilt, re-observed, is unknown or was lost, and how that is known.',
    answer: schema.report,
  },
  files: {
    ...get,
    path: '/v1/sessions/:id/files',
    summary: 'The files of a session, as they were committed.',
    query: files.filesQuery,
    answer: files.files,
  },
  file: {
    ...get,
    path: '/v1/sessions/:id/file',
    summary: 'A piece of one of its files.',
    query: files.fileQuery,
    answer: files.file,
  },
  diffFiles: {
    ...get,
    path: '/v1/sessions/:id/files/diff',
    summary: 'What differs between the files at two events.',
    query: files.diffQuery,
    answer: files.diff,
  },
  importFiles: {
    ...post,
    path: '/v1/sessions/:id/files/import',
    summary:
      "Put the files of a folder of the server's machine, or of a git remote, on top of what is there. For the server's own owner.",
    body: files.importBody,
    answer: files.placed,
  },
  exportFiles: {
    ...post,
    path: '/v1/sessions/:id/files/export',
    summary:
      "Put its files into a folder of the server's machine, or on a branch of a git remote. For the server's own owner.",
    body: files.exportBody,
    answer: files.exported,
  },
  restoreFiles: {
    ...post,
    path: '/v1/sessions/:id/files/restore',
    summary: 'Bring back the files as they stood at an event; what is there is kept as a commit.',
    body: files.restoreBody,
    answer: files.placed,
  },
  events: {
    ...get,
    path: '/v1/sessions/:id/events',
    summary: 'The log after a cursor: a page of JSON, or a stream with `Accept: text/event-stream`.',
    query: schema.eventsQuery,
    answer: schema.eventsPage,
    stream:
      'Server-sent events: id = seq, event = kind. `whisper` frames carry text while it is written and have no id; ' +
      '`stale` says that the cursor is of another log. Resumes by `Last-Event-ID` or `after`.',
  },
  health: {
    ...get,
    path: '/healthz',
    summary: 'Whether the server serves, and who it is.',
    answer: schema.health,
  },
} as const satisfies Record<string, Route>;

export type RouteId = keyof typeof ROUTES;
export type BodyOf<Id extends RouteId> = (typeof ROUTES)[Id]['body'] extends z.ZodType
  ? z.output<(typeof ROUTES)[Id]['body']>
  : null;
export type QueryOf<Id extends RouteId> = z.output<(typeof ROUTES)[Id]['query']>;
export type AnswerOf<Id extends RouteId> = Id extends 'events'
  ? EventsPage
  : z.output<(typeof ROUTES)[Id]['answer']>;

export interface EventsPage {
  readonly events: readonly (Event | ForeignEvent)[];
  readonly after: number;
  readonly more: boolean;
}

/** `pathOf('send', 'ses_1')` is `/v1/sessions/ses_1/messages`. An id can never become another path. */
export function pathOf(route: RouteId, session = ''): string {
  return ROUTES[route].path.replace(':id', encodeURIComponent(session));
}
