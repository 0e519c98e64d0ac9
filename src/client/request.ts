/**
 * One call over HTTP, made until its answer is known or the server is given up.
 *
 * Q1  A POST is repeated under the same key, so a lost answer never leads to a second call.
 * Q2  Only what may pass is tried again: no connection, or a server that says so (503).
 */

import { OutlastError } from '../core/error.ts';
import { systemClock } from '../lib/clock.ts';
import { errorOf } from '../protocol/error.ts';

export interface Connection {
  readonly base: () => Promise<string>;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
}

/** How long a server that cannot be reached is waited for. */
export interface Patience {
  readonly patienceMs?: number;
  /** Told once when the connection is lost, and once when it is back. */
  readonly onLost?: () => void;
  readonly onBack?: () => void;
}

export interface Request extends Patience {
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** A body makes it a POST. */
  readonly body?: object;
  readonly key?: string;
  readonly signal?: AbortSignal;
}

const PATIENCE_MS = 600;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

export async function request<Answer>(
  to: Connection,
  { path, query, body, key, ...rest }: Request,
): Promise<Answer> {
  const init: RequestInit = { headers: { ...to.headers } };
  if (body !== undefined) {
    init.method = 'POST';
    init.body = JSON.stringify(body);
    init.headers = {
      ...init.headers,
      'content-type': 'application/json',
      'idempotency-key': key ?? newKey(),
    };
  }
  return patiently(rest, async () => {
    const response = await reach(to, `${path}${search(query)}`, init, rest.signal);
    return (await response.json()) as Answer;
  });
}

/** One request to the server, or the error that it answered with. */
export async function reach(
  to: Connection,
  path: string,
  init: RequestInit,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const base = await to.base();
  const response = await to
    .fetch(`${base}${path}`, signal ? { ...init, signal } : init)
    .catch((error: unknown) => {
      signal?.throwIfAborted();
      throw unreachable(base, error);
    });
  if (response.ok) return response;
  const text = await response.text().catch(() => '');
  throw errorOf(parsed(text)) ?? notOutlast(base, response.status);
}

/** Tries again while it may help and the patience lasts; the pauses grow. */
export async function patiently<Answer>(
  { patienceMs = PATIENCE_MS, onLost, onBack, signal }: Patience & { readonly signal?: AbortSignal },
  attempt: () => Promise<Answer>,
): Promise<Answer> {
  let lostAt: number | null = null;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      const answer = await attempt();
      if (lostAt !== null) onBack?.();
      return answer;
    } catch (error) {
      const now = systemClock.monotonic();
      if (!mayPass(error) || now + pauseMs - (lostAt ?? now) > patienceMs) throw error;
      if (lostAt === null) onLost?.();
      lostAt ??= now;
      await systemClock.sleep(pauseMs, signal);
      signal?.throwIfAborted();
    }
  }
}

export function unreachable(base: string, cause: unknown): OutlastError {
  return new OutlastError('server.unreachable', `No server answers at ${base}.`, {
    next: 'start it: npm start',
    cause,
  });
}

const PASSING: readonly string[] = ['server.unreachable', 'server.closing', 'store.busy', 'lease.lost'];

export function mayPass(error: unknown): boolean {
  return error instanceof OutlastError ? PASSING.includes(error.code) : error instanceof TypeError;
}

function notOutlast(base: string, status: number): OutlastError {
  return new OutlastError(
    'server.unreachable',
    `What answers at ${base} is no Outlast server (status ${status}).`,
    {
      next: 'check the address',
    },
  );
}

function search(query: Request['query'] = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** 128 random bits. `crypto.randomUUID` is missing on pages that were not loaded securely. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
