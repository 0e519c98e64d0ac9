/**
 * One handler for each route of the table: a thin call over the runtime. What came in is checked already, the owner is
 * known, and what goes out has the shape of the table, or this file does not compile.
 */

import { type Spent, spentInWords } from '../core/budget/budget.ts';
import { toBase64 } from '../lib/base64.ts';
import { given } from '../lib/given.ts';
import { boundOf } from '../lib/instant.ts';
import type { AnswerOf, BodyOf, QueryOf, RouteId } from '../protocol/routes.ts';
import type * as schema from '../protocol/schema.ts';
import type { Sessions } from '../runtime/runtime.ts';
import { atRest } from './rest.ts';
import { checkCursor } from './stream.ts';

export interface Call<Id extends RouteId> {
  readonly sessions: Sessions;
  /** The session of the path, unchecked; the runtime knows whose it is. */
  readonly id: string;
  readonly key: string | null;
  readonly body: BodyOf<Id>;
  readonly query: QueryOf<Id>;
  /** The caller is gone, or the server is going. */
  readonly signal: AbortSignal;
  readonly health: schema.Health;
}

export type Handlers = { readonly [Id in RouteId]: (call: Call<Id>) => Promise<AnswerOf<Id>> };

export const handlers: Handlers = {
  start: ({ sessions, key, body: { message, images, persist, title, workspace, limits, budget } }) =>
    sessions.start({
      message,
      persist,
      key,
      ...given({ images, title, workspace, limits: limits && given(limits) }),
      budget: { turn: given(budget?.turn ?? {}), session: given(budget?.session ?? {}) },
    }),

  async list({ sessions, query: { phase, after, limit } }) {
    const rows = await sessions.list({ limit, ...given({ phase, after }) });
    const last = rows.length === limit ? rows.at(-1) : undefined;
    return {
      sessions: rows.map(shownRow),
      after: last?.id ?? null,
    };
  },

  inspect: ({ sessions, id, query, signal }) =>
    query.waitMs === 0 || query.at !== undefined
      ? sessions.inspect(id, given({ at: query.at }))
      : atRest(sessions, id, query.waitMs, signal),

  send: ({ sessions, id, key, body: { message, images, when } }) =>
    sessions.send(id, message, { key, when, ...given({ images }) }),

  async converse({ sessions, key, body: { message, name } }) {
    return sessions.converse(message, { key, name });
  },
  conversation: async ({ sessions, query: { name } }) => ({ session: await sessions.conversation(name) }),

  ask: ({ sessions, id, body: { question }, signal }) => sessions.ask(id, question, { signal }),

  decide: async ({ sessions, id, body: { decision, answer, text, digest } }) => ({
    session: id,
    phase: await sessions.decide(id, decision, answer, text, { digest }),
  }),

  pause: async ({ sessions, id }) => ({ session: id, phase: await sessions.pause(id) }),
  resume: async ({ sessions, id }) => ({ session: id, phase: await sessions.resume(id) }),
  interrupt: async ({ sessions, id }) => ({ session: id, phase: await sessions.interrupt(id) }),
  reopen: async ({ sessions, id }) => ({ session: id, phase: await sessions.reopen(id) }),

  stop: async ({ sessions, id, body }) => ({ session: id, ...(await sessions.stop(id, given(body))) }),

  delete: async ({ sessions, id, body }) => ({ session: id, ...(await sessions.delete(id, given(body))) }),

  fork: ({ sessions, id, key, body }) => sessions.fork(id, { key, ...given(body) }),

  inbox: ({ sessions, query: { after, limit } }) => sessions.inbox({ limit, ...given({ after }) }),

  setBudget: async ({ sessions, id, body: { turn, session } }) => ({
    session: id,
    phase: await sessions.setBudget(id, { turn: given(turn ?? {}), session: given(session ?? {}) }),
  }),
  stats: ({ sessions }) => sessions.stats(),

  slots: ({ sessions }) => sessions.slots(),

  setSlots: ({ sessions, body }) => sessions.setSlots(body.slots),

  ownerBudget: async ({ sessions }) => inWords(await sessions.ownerBudget()),
  setOwnerBudget: async ({ sessions, body: { limits } }) =>
    inWords(await sessions.setOwnerBudget(limits && given(limits))),

  verify: ({ sessions, id }) => sessions.verify(id),
  recall: ({ sessions, id, query: { from, to, ...query } }) =>
    sessions.recall(id, {
      ...query,
      ...(from !== undefined && { from: boundOf(from, 'from') }),
      ...(to !== undefined && { to: boundOf(to, 'to') }),
    }),
  report: ({ sessions, id }) => sessions.report(id),

  files: ({ sessions, id, query }) => sessions.files(id, given(query)),
  async file({ sessions, id, query: { path, at, from } }) {
    const { data, ...piece } = await sessions.file(id, path, { from, ...given({ at }) });
    const end = piece.from + data.length;
    return { ...piece, data: toBase64(data), next: end < piece.size ? end : null };
  },
  diffFiles: ({ sessions, id, query }) => sessions.diffFiles(id, given(query)),
  importFiles: ({ sessions, id, body: { from } }) => sessions.importFiles(id, from),
  exportFiles: ({ sessions, id, body: { to, at } }) => sessions.exportFiles(id, to, given({ at })),
  restoreFiles: ({ sessions, id, body: { at } }) => sessions.restoreFiles(id, at),

  async events({ sessions, id, query: { after, limit } }) {
    await checkCursor(sessions, id, after);
    const events = await sessions.events(id, after, limit);
    const last = events.at(-1)?.seq ?? after;
    const more = events.length === limit && (await sessions.events(id, last, 1)).length > 0;
    return { events, after: last, more };
  },

  health: async ({ health }) => health,
};

const inWords = <Budget extends { readonly spent: Spent }>(budget: Budget) => ({
  ...budget,
  words: spentInWords(budget.spent),
});

/** Without what the store keeps in a row for itself. */
function shownRow({
  owner: _,
  dueAt: __,
  epoch: ___,
  awaiting: ____,
  queuedAt: _____,
  residence: ______,
  spent: _______,
  ...row
}: Awaited<ReturnType<Sessions['list']>>[number]) {
  return row;
}
