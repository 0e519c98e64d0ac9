/**
 * The HTTP face of a runtime: a handler of requests that can be served, or mounted in another server.
 *
 * H1  Every call is made as one owner. Another owner's id answers exactly as an unknown one, by the runtime.
 * H2  Nothing is acted on before its sender is known, and its query, body and key are checked.
 * H3  Every answer that is no success is `{ error: { code, message, next } }`.
 *
 * @example
 * ```ts
 * const server = app(await createOutlast({ dataDir: './.outlast' }));
 * export default { fetch: server.fetch };
 * ```
 */

import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { OutlastError } from '../core/error.ts';
import { SHOWN_BYTES } from '../core/file.ts';
import type { Owner } from '../core/ids.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { errorBody, HttpRefusal, statusOf } from '../protocol/error.ts';
import { openapi } from '../protocol/openapi.ts';
import { type QueryOf, ROUTES, type Route, type RouteId } from '../protocol/routes.ts';
import type { Outlast } from '../runtime/runtime.ts';
import { authenticate, LOCAL, type Token, unauthorized } from './auth.ts';
import type { Stream } from './frames.ts';
import { guardContentType, guardOrigin, guardTasks } from './guard.ts';
import { type Call, handlers } from './handlers.ts';
import { type About, healthOf } from './health.ts';
import { readBody, readKey, readQuery } from './input.ts';
import { pageFile, pagePaths } from './page.ts';
import { repeats } from './repeats.ts';
import { eventStream, inboxStream } from './stream.ts';

export interface AppOptions {
  /** Whose tokens are accepted. With none, every request is `local`, and only loopback names are answered. */
  readonly tokens?: readonly Token[];
  readonly version?: string;
  /** Aborts when the server goes: streams end with a last comment, waiting calls answer. */
  readonly closing?: AbortSignal;
  readonly clock?: Pick<Clock, 'sleep'>;
  readonly heartbeatMs?: number;
  readonly report?: (line: string, cause?: unknown) => void;
}

const BODY_MAX = 2 * 1024 * 1024;
/** Of a message, whose images come in base64. */
const MESSAGE_BODY_MAX = BODY_MAX + Math.ceil((SHOWN_BYTES * 4) / 3);
const HEARTBEAT_MS = 15_000;
const STREAM = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };

export function app(outlast: Outlast & { readonly about?: About }, options: AppOptions = {}): Hono {
  const { tokens = [], version, clock = systemClock, heartbeatMs = HEARTBEAT_MS } = options;
  const closing = options.closing ?? new AbortController().signal;
  const report = options.report ?? (() => {});
  const streaming = { clock, heartbeatMs, closing, report };
  const known = repeats();
  const server = new Hono();

  const callerOf = (c: Context): Owner | null =>
    tokens.length === 0 ? LOCAL : authenticate(tokens, c.req.header('authorization'));

  async function respond(c: Context, id: RouteId): Promise<Response> {
    const owner = callerOf(c);
    if (owner === null && id !== 'health') throw unauthorized();
    const route: Route = ROUTES[id];
    if (route.method === 'POST') guardContentType(c.req.raw);
    const key = route.keyed === null ? null : readKey(c.req.raw);
    const query = readQuery(route.query, new URL(c.req.url));
    const body = route.body === null ? null : await readBody(route.body, c.req.raw);
    const call = {
      sessions: outlast.as(owner ?? LOCAL),
      id: c.req.param('id') ?? '',
      key,
      body,
      query,
      /** Made for the few calls that wait for something. */
      get signal() {
        return AbortSignal.any([c.req.raw.signal, closing]);
      },
      health: healthOf(owner, outlast.about, version),
    };
    const stream = wantsStream(c) ? await streamOf(c, id, call) : null;
    if (stream) return c.body(stream, 200, STREAM);
    const act = () => (handlers[id] as (call: unknown) => Promise<unknown>)(call);
    const name = `${owner} ${id} ${call.id} ${key}`;
    const isRemembered = route.keyed === 'process' && key !== null;
    const answer = await (isRemembered ? known.once(name, JSON.stringify(body), act) : act());
    return c.json(answer as object, route.status);
  }

  /** Of the two routes whose answer goes on. */
  async function streamOf(c: Context, route: RouteId, call: unknown): Promise<Stream | null> {
    if (route === 'inbox') return inboxStream((call as Call<'inbox'>).sessions, streaming);
    if (route !== 'events') return null;
    const { sessions, id, query } = call as Call<'events'>;
    const whispers = query.whispers === 'true';
    return eventStream(sessions, id, { after: resumeFrom(c, query), whispers, ...streaming });
  }

  server.use(async (c, next) => {
    guardTasks(c.req.raw);
    if (tokens.length === 0) guardOrigin(c.req.raw);
    await next();
    c.header('x-content-type-options', 'nosniff');
    c.header('cross-origin-resource-policy', 'same-origin');
    if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
  });
  for (const path of pagePaths) server.get(path, () => pageFile(path));
  const document = openapi();
  server.get('/v1/openapi.json', (c) => c.json(document));
  for (const [id, { method, path }] of Object.entries(ROUTES)) {
    server.on(method, path, limited(id as RouteId), (c) => respond(c, id as RouteId));
  }
  server.notFound((c) => refused(c, noSuchRoute(c)));
  server.onError((error, c) => {
    if (statusOf(error) >= 500) report(`${c.req.method} ${c.req.path} failed`, error);
    return refused(c, error);
  });
  return server;
}

function refused(c: Context, error: unknown): Response {
  const status = statusOf(error) as ContentfulStatusCode;
  return c.json(errorBody(error), status, status === 401 ? { 'www-authenticate': 'Bearer' } : {});
}

function noSuchRoute(c: Context): OutlastError {
  return new OutlastError('route.unknown', `There is no ${c.req.method} ${c.req.path} here.`, {
    next: 'see GET /v1/openapi.json for what there is',
  });
}

function limited(id: RouteId): MiddlewareHandler {
  const maxSize = id === 'start' || id === 'send' ? MESSAGE_BODY_MAX : BODY_MAX;
  const tooLarge = (): never => {
    const most = `A body has at most ${maxSize} bytes here.`;
    throw new HttpRefusal(413, 'request.invalid', most, 'put the long part where the task can read it');
  };
  const counted = bodyLimit({ maxSize, onError: tooLarge });
  return async (c, next) => {
    if (ROUTES[id].method === 'GET') return next();
    const length = c.req.header('content-length');
    const isNamed = length !== undefined && c.req.header('transfer-encoding') === undefined;
    // Counting makes a web stream of the body, which takes longer than all the rest of a call: a length is believed,
    // since no more than that is read.
    if (!isNamed) return counted(c, next);
    return Number.parseInt(length, 10) > maxSize ? tooLarge() : next();
  };
}

function wantsStream(c: Context): boolean {
  return (c.req.header('accept') ?? '').includes('text/event-stream');
}

/** A browser that comes back names its place in a header and repeats the old address: the header is newer. */
function resumeFrom(c: Context, { after }: QueryOf<'events'>): number {
  const last = c.req.header('last-event-id');
  if (last === undefined || last === '') return after;
  if (/^-?\d{1,15}$/.test(last)) return Number(last);
  throw new OutlastError('request.invalid', 'Last-Event-ID: not the id of an event.', {
    next: 'send the id of the last event that you have, or none',
  });
}
