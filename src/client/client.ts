/**
 * Outlast from anywhere that has `fetch`: a browser, a script, the command line.
 *
 * C1  A POST carries a key of its own, and is repeated under it when its answer was lost: it is done once.
 * C2  `follow` yields every event once and in order, through any number of broken connections.
 * C3  What the server refuses is thrown as the `OutlastError` that it threw, with what to do next.
 *
 * @example
 * ```ts
 * const outlast = client({ url: 'http://127.0.0.1:4747' });
 * const { session } = await outlast.start({ message: "Report on February's invoices", persist: true });
 * for await (const event of outlast.follow(session)) console.log(event.kind);
 * ```
 */

import type { BudgetChange, Budgets } from '../core/budget/budget.ts';
import type { DecisionAnswer, Event, ForeignEvent } from '../core/event.ts';
import type { FileData } from '../core/file.ts';
import type { Limits } from '../core/limits.ts';
import type { When } from '../core/message.ts';
import { toBase64 } from '../lib/base64.ts';
import { given } from '../lib/given.ts';
import type { Deleted } from '../protocol/retention.ts';
import { type AnswerOf, type EventsPage, pathOf } from '../protocol/routes.ts';
import type {
  Asked,
  Forked,
  Health,
  Inbox,
  Inspection,
  PassageKind,
  PhaseAnswer,
  Recalled,
  Receipt,
  Report,
  Rows,
  Started,
  Stopped,
  Verification,
} from '../protocol/schema.ts';
import type { Whisper } from '../protocol/sse.ts';
import { type FollowOptions, follow } from './follow.ts';
import { type Connection, request } from './request.ts';

export interface ClientOptions {
  /** Where the server is; a function when it may move. */
  readonly url: string | (() => string | Promise<string>);
  readonly token?: string;
  readonly fetch?: typeof globalThis.fetch;
}

export interface StartOptions {
  readonly message: string;
  /** PNG, JPEG, GIF or WebP: at most 8, of 5 MB each and 14 MB together. */
  readonly images?: readonly FileData[];
  readonly persist?: boolean;
  readonly title?: string;
  /** A folder of the server's machine, or a git remote: its files stand in the workspace from the start. */
  readonly workspace?: string;
  readonly limits?: Partial<Limits>;
  /** What each turn, and the whole session, may use. Money is in micro-dollars. */
  readonly budget?: Partial<Budgets>;
  /** A repeated start with the same key finds the session of the first. */
  readonly key?: string;
}

/** Every call takes a signal; aborting one ends the waiting, and stops nothing. */
export interface Waiting {
  readonly signal?: AbortSignal;
}

export interface Client {
  start(options: StartOptions & Waiting): Promise<Started>;
  send(
    session: string,
    message: string,
    options?: { key?: string; when?: When; images?: readonly FileData[] } & Waiting,
  ): Promise<Receipt>;
  /** Says something to the conversation of this name (`main`), which starts with the first word. */
  converse(message: string, options?: { name?: string } & Keyed): Promise<Started>;
  /** Which session it is; null until the first word. */
  conversation(options?: { name?: string } & Waiting): Promise<{ session: string | null }>;
  /** A question about the work; the session does not notice. */
  ask(session: string, question: string, options?: Keyed): Promise<Asked>;
  /** With `at`, as it stood once that event was in its log. */
  inspect(session: string, options?: { at?: number } & Waiting): Promise<Inspection>;
  list(query?: { phase?: string; after?: string; limit?: number } & Waiting): Promise<Rows>;
  events(session: string, query?: { after?: number; limit?: number } & Waiting): Promise<EventsPage>;
  follow(
    session: string,
    options?: FollowOptions,
  ): AsyncGenerator<Event | ForeignEvent | Whisper, void, void>;
  /** Resolves once the session rests: it does nothing more until something comes in. */
  rest(session: string, options?: FollowOptions): Promise<Inspection>;
  pause(session: string, options?: Keyed): Promise<PhaseAnswer>;
  resume(session: string, options?: Keyed): Promise<PhaseAnswer>;
  interrupt(session: string, options?: Keyed): Promise<PhaseAnswer>;
  reopen(session: string, options?: Keyed): Promise<PhaseAnswer>;
  stop(session: string, options?: { waitMs?: number } & Keyed): Promise<Stopped>;
  /** Deletes what is stopped or completed, with its children, for good; a tombstone stays. */
  delete(session: string, options?: { waitMs?: number } & Keyed): Promise<Deleted>;
  decide(
    session: string,
    decision: string,
    answer: DecisionAnswer,
    options?: { text?: string; digest?: string } & Keyed,
  ): Promise<PhaseAnswer>;
  /** What is named is set, null lifts a limit. One that rests on a budget tries again. */
  setBudget(
    session: string,
    changes: { turn?: BudgetChange; session?: BudgetChange },
    options?: Keyed,
  ): Promise<PhaseAnswer>;
  ownerBudget(options?: Waiting): Promise<AnswerOf<'ownerBudget'>>;
  setOwnerBudget(limits: BudgetChange | null, options?: Keyed): Promise<AnswerOf<'ownerBudget'>>;
  /** Where your sessions rest, which guesses about them were wrong, and what that cost. */
  stats(options?: Waiting): Promise<AnswerOf<'stats'>>;
  /** How many of your sessions may work at once, how many do, and how many wait. */
  slots(options?: Waiting): Promise<AnswerOf<'slots'>>;
  /** null goes back to the number of the server. */
  setSlots(slots: number | null, options?: Keyed): Promise<AnswerOf<'setSlots'>>;
  verify(session: string, options?: Waiting): Promise<Verification>;
  report(session: string, options?: Waiting): Promise<Report>;
  /** What the log says: by id, by words, by kind and time. `from` and `to` are days or instants, as ISO 8601. */
  recall(session: string, query?: RecallOptions & Waiting): Promise<Recalled>;
  /** The files, as they were committed; by default the newest. */
  files(
    session: string,
    query?: { at?: number; after?: string; limit?: number } & Waiting,
  ): Promise<AnswerOf<'files'>>;
  /** A piece of one of them. */
  file(
    session: string,
    path: string,
    query?: { at?: number; from?: number } & Waiting,
  ): Promise<AnswerOf<'file'>>;
  diffFiles(
    session: string,
    query?: { from?: number; to?: number; path?: string } & Waiting,
  ): Promise<AnswerOf<'diffFiles'>>;
  /** Of the server's machine, or a git remote: on top of what is there. */
  importFiles(session: string, from: string, options?: Keyed): Promise<AnswerOf<'importFiles'>>;
  exportFiles(
    session: string,
    to: string,
    options?: { at?: number } & Keyed,
  ): Promise<AnswerOf<'exportFiles'>>;
  restoreFiles(session: string, at: number, options?: Keyed): Promise<AnswerOf<'restoreFiles'>>;
  /** A new session that shares the log up to an event; what was in flight stays with the original. */
  fork(session: string, options?: ForkOptions & Keyed): Promise<Forked>;
  /** Everything that awaits a person, over all sessions. */
  inbox(query?: { after?: string; limit?: number } & Waiting): Promise<Inbox>;
  health(options?: Waiting): Promise<Health>;
}

export interface RecallOptions {
  /** A citation, as `#41` or `#41.2`. */
  readonly id?: string;
  readonly words?: string;
  readonly kind?: PassageKind;
  readonly from?: string;
  readonly to?: string;
  /** Of an original, characters; of a list, newer passages. */
  readonly offset?: number;
  readonly limit?: number;
}

export interface ForkOptions {
  /** The last event that the fork shares; by default the newest. */
  readonly at?: number;
  readonly title?: string;
  /** What to say to the fork. */
  readonly message?: string;
}

export interface Keyed extends Waiting {
  readonly key?: string;
}

const REST_MS = 25_000;

export function client({ url, token, fetch = globalThis.fetch }: ClientOptions): Client {
  const to: Connection = {
    base: async () => (typeof url === 'function' ? await url() : url).replace(/\/+$/, ''),
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    fetch: (...args) => fetch(...args),
  };
  const turnTo =
    (route: 'pause' | 'resume' | 'interrupt' | 'reopen') =>
    (session: string, options: Keyed = {}): Promise<PhaseAnswer> =>
      request(to, { path: pathOf(route, session), body: {}, ...options });

  return {
    start: ({ key, signal, images, ...rest }) => {
      const body = { ...rest, ...encoded(images) };
      return request(to, { path: pathOf('start'), body, ...given({ key, signal }) });
    },
    send: (session, message, { when = 'next', images, ...options } = {}) =>
      request(to, { path: pathOf('send', session), body: { message, when, ...encoded(images) }, ...options }),
    ask: (session, question, options = {}) =>
      request(to, { path: pathOf('ask', session), body: { question }, ...options }),
    inspect: (session, { at, ...options } = {}) =>
      request(to, { path: pathOf('inspect', session), query: { at }, ...options }),
    list: ({ signal, ...query } = {}) => request(to, { path: pathOf('list'), query, ...given({ signal }) }),
    events: (session, { signal, ...query } = {}) =>
      request(to, { path: pathOf('events', session), query, ...given({ signal }) }),
    follow: (session, options = {}) => follow(to, session, options),
    rest: (session, options = {}) => rest(to, session, options),
    pause: turnTo('pause'),
    resume: turnTo('resume'),
    interrupt: turnTo('interrupt'),
    reopen: turnTo('reopen'),
    delete: (session, { key, signal, ...body } = {}) =>
      request(to, { path: pathOf('delete', session), body, ...given({ key, signal }) }),
    stop: (session, { key, signal, ...body } = {}) =>
      request(to, { path: pathOf('stop', session), body, ...given({ key, signal }) }),
    decide: (session, decision, answer, { text = '', digest, ...options } = {}) =>
      request(to, {
        path: pathOf('decide', session),
        body: { decision, answer, text, ...given({ digest }) },
        ...options,
      }),
    fork: (session, { key, signal, ...body } = {}) =>
      request(to, { path: pathOf('fork', session), body, ...given({ key, signal }) }),
    setBudget: (session, body, options = {}) =>
      request(to, { path: pathOf('setBudget', session), body, ...options }),
    ownerBudget: (options = {}) => request(to, { path: pathOf('ownerBudget'), ...options }),
    setOwnerBudget: (limits, options = {}) =>
      request(to, { path: pathOf('setOwnerBudget'), body: { limits }, ...options }),
    stats: (options = {}) => request(to, { path: pathOf('stats'), ...options }),
    slots: (options = {}) => request(to, { path: pathOf('slots'), ...options }),
    setSlots: (slots, options = {}) => request(to, { path: pathOf('setSlots'), body: { slots }, ...options }),
    converse: (message, { key, signal, ...name } = {}) =>
      request(to, { path: pathOf('converse'), body: { message, ...name }, ...given({ key, signal }) }),
    conversation: ({ signal, ...query } = {}) =>
      request(to, { path: pathOf('conversation'), query, ...given({ signal }) }),
    verify: (session, options = {}) => request(to, { path: pathOf('verify', session), body: {}, ...options }),
    inbox: ({ signal, ...query } = {}) => request(to, { path: pathOf('inbox'), query, ...given({ signal }) }),
    report: (session, options = {}) => request(to, { path: pathOf('report', session), ...options }),
    recall: (session, { signal, ...query } = {}) =>
      request(to, { path: pathOf('recall', session), query, ...given({ signal }) }),
    files: (session, { signal, ...query } = {}) =>
      request(to, { path: pathOf('files', session), query, ...given({ signal }) }),
    file: (session, path, { signal, ...query } = {}) =>
      request(to, { path: pathOf('file', session), query: { path, ...query }, ...given({ signal }) }),
    diffFiles: (session, { signal, ...query } = {}) =>
      request(to, { path: pathOf('diffFiles', session), query, ...given({ signal }) }),
    importFiles: (session, from, options = {}) =>
      request(to, { path: pathOf('importFiles', session), body: { from }, ...options }),
    exportFiles: (session, place, { at, ...options } = {}) =>
      request(to, {
        path: pathOf('exportFiles', session),
        body: { to: place, ...given({ at }) },
        ...options,
      }),
    restoreFiles: (session, at, options = {}) =>
      request(to, { path: pathOf('restoreFiles', session), body: { at }, ...options }),
    health: (options = {}) => request(to, { path: pathOf('health'), ...options }),
  };
}

/** Asks again and again, each time for as long as the server lets one wait. */
async function rest(to: Connection, session: string, options: FollowOptions): Promise<Inspection> {
  for (;;) {
    const seen = await request<Inspection>(to, {
      path: pathOf('inspect', session),
      query: { waitMs: REST_MS },
      ...options,
    });
    if (seen.rests) return seen;
    options.signal?.throwIfAborted();
  }
}

function encoded(images: readonly FileData[] = []): { images?: object } {
  if (images.length === 0) return {};
  return { images: images.map(({ mediaType, data }) => ({ mediaType, data: toBase64(data) })) };
}
