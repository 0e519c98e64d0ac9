/**
 * How an error crosses HTTP: a status, and one body for all of them.
 *
 * E1  Every error body is `{ error: { code, message, next } }`, and `next` says what to do now.
 * E2  An error that is not one of ours tells nothing about the inside: it crosses as `internal`.
 * E3  The code survives the crossing: what the server threw is what the client throws.
 */

import { ERRORS, type ErrorCode, OutlastError } from '../core/error.ts';
import { isRecord } from '../lib/json.ts';

/** The status of each code. Clients may rely on the code; the status is for everything between. */
export const STATUS = {
  'session.unknown': 404,
  'session.stopped': 409,
  'session.not_stopped': 409,
  'session.quarantined': 409,
  'session.newer_version': 409,
  'children.total': 409,
  'session.deleted': 410,
  'session.unsettled': 409,
  'children.unknown': 404,
  'owner.invalid': 400,
  'owner.unauthorized': 401,
  'key.conflict': 409,
  'message.invalid': 400,
  'decision.unknown': 404,
  'decision.closed': 409,
  'decision.invalid': 400,
  'decision.expired': 409,
  'decision.stale': 409,
  'policy.invalid': 400,
  'turn.none': 409,
  'budget.invalid': 400,
  'budget.exhausted': 402,
  'request.invalid': 400,
  'cursor.stale': 410,
  'route.unknown': 404,
  'log.damaged': 500,
  'log.newer_version': 409,
  'store.locked': 503,
  'store.full': 507,
  'store.busy': 503,
  'store.failed': 503,
  'blob.missing': 500,
  'blob.forged': 500,
  'lease.lost': 503,
  'tool.invalid': 400,
  'path.outside': 400,
  'files.none': 404,
  'files.failed': 500,
  'model.unknown': 400,
  'model.failed': 502,
  'server.unreachable': 503,
  'hands.unreachable': 503,
  'hands.lost': 410,
  'port.taken': 500,
  'server.closing': 503,
  internal: 500,
} as const satisfies Record<ErrorCode, number>;

export interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly next: string };
}

/** A refusal whose status is more exact than that of its code: 403, 413, 415. */
export class HttpRefusal extends OutlastError {
  readonly status: number;

  constructor(status: number, code: ErrorCode, message: string, next: string) {
    super(code, message, { next });
    this.status = status;
  }
}

/** A cursor that no event of this log ever had. It is said aloud: reading on from it would hide a gap. */
export function staleCursor(cursor: number, head: number): OutlastError {
  return new OutlastError(
    'cursor.stale',
    `This log has no event ${cursor}: it ends at ${head}. What is shown may belong to another log.`,
    { next: 'throw away what is shown and read again with after=0' },
  );
}

export function statusOf(error: unknown): number {
  if (error instanceof HttpRefusal) return error.status;
  return error instanceof OutlastError ? STATUS[error.code] : 500;
}

export function errorBody(error: unknown): ErrorBody {
  const { code, message, next } = error instanceof OutlastError ? error : internal();
  return { error: { code, message, next } };
}

/** The error in a body that came over the wire; null when there is none in it. */
export function errorOf(body: unknown): OutlastError | null {
  if (!isRecord(body) || !isRecord(body.error)) return null;
  const { code, message, next } = body.error;
  if (typeof code !== 'string' || typeof message !== 'string') return null;
  return new OutlastError(isKnown(code) ? code : 'internal', message, {
    next: typeof next === 'string' ? next : 'look at the server',
  });
}

function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

function internal(): OutlastError {
  return new OutlastError(
    'internal',
    'The server failed at this request; nothing is known to have changed.',
    {
      next: 'look at the session, then try again; the server printed the cause',
    },
  );
}
