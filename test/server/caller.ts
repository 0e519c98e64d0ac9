/** Calls a handler of requests as a well-behaved program would, and holds each answer against the table of routes. */

import { expect } from 'vitest';
import { type AnswerOf, pathOf, ROUTES, type RouteId } from '../../src/protocol/routes.ts';
import type { Inspection } from '../../src/protocol/schema.ts';

export interface Handler {
  request(path: string, init?: RequestInit): Response | Promise<Response>;
}

export interface Refused {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly next: string;
}

type Headers = Readonly<Record<string, string>>;

export interface Caller {
  get(path: string, headers?: Headers): Promise<Response>;
  post(path: string, body?: unknown, headers?: Headers): Promise<Response>;
  /** The answer of a call that must succeed. What a GET asks for is its body here. */
  call<Id extends RouteId>(
    id: Id,
    session?: string,
    body?: unknown,
    headers?: Headers,
  ): Promise<AnswerOf<Id>>;
  start(message: string, options?: object): Promise<string>;
  /** The session in one look, once it rests. */
  rested(session: string): Promise<Inspection>;
}

export function caller(server: Handler, always: Headers = {}): Caller {
  const get = async (path: string, headers: Headers = {}) =>
    server.request(path, { headers: { ...always, ...headers } });
  const post = async (path: string, body: unknown = {}, headers: Headers = {}) =>
    server.request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...always, ...headers },
      body: JSON.stringify(body),
    });
  async function call<Id extends RouteId>(
    id: Id,
    session = '',
    body: unknown = {},
    headers: Headers = {},
  ): Promise<AnswerOf<Id>> {
    const path = pathOf(id, session);
    if (ROUTES[id].method === 'POST') return answer(id, await post(path, body, headers));
    const query = new URLSearchParams(body as Headers).toString();
    return answer(id, await get(query === '' ? path : `${path}?${query}`, headers));
  }
  return {
    get,
    post,
    call,
    start: async (message, options = { persist: true }) =>
      (await call('start', '', { message, ...options })).session,
    rested: async (session) => answer('inspect', await get(`${pathOf('inspect', session)}?waitMs=10000`)),
  };
}

/** The answer of a route, whose schema it must have: what the table does not name does not go out. */
export async function answer<Id extends RouteId>(id: Id, response: Response): Promise<AnswerOf<Id>> {
  const body: unknown = await response.json();
  expect(response.status, JSON.stringify(body)).toBe(ROUTES[id].status);
  const { answer: type } = ROUTES[id];
  const known = type.safeParse(body);
  expect(known.error).toBeUndefined();
  expect(body).toEqual(known.data);
  return body as AnswerOf<Id>;
}

/** What a refusal says; every one has a code, words, and what to do next. */
export async function refusal(response: Response | Promise<Response>): Promise<Refused> {
  const came = await response;
  const body = (await came.json()) as { error: Omit<Refused, 'status'> };
  expect(body).toEqual({
    error: { code: expect.any(String), message: expect.any(String), next: expect.any(String) },
  });
  return { status: came.status, ...body.error };
}
