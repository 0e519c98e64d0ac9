/**
 * Between the log's rows and events: encoding, and bringing older versions up to the shapes of today.
 *
 * U1  Reading never changes a row. An upcast is pure and total over the versions that were ever released.
 * U2  A kind or version that this build does not know becomes `foreign`: kept, counted, and refused to run on.
 */

import { isRecord } from '../lib/json.ts';
import { NO_BUDGETS } from './budget/budget.ts';
import { OutlastError } from './error.ts';
import {
  AUTHORITY,
  type Event,
  type EventBody,
  type EventKind,
  type ForeignEvent,
  VERSIONS,
} from './event.ts';
import { DEFAULT_LIMITS } from './limits.ts';

/** A row of the log: the same members as the store's `StoredEvent`. */
export interface LogRow {
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly version: number;
  readonly body: string;
}

type Upcast = (body: Record<string, unknown>) => Record<string, unknown>;

/** Limits that were not there yet are those of today. */
const withLimits: Upcast = ({ limits, ...body }) => ({
  ...body,
  limits: { ...DEFAULT_LIMITS, ...(isRecord(limits) ? limits : {}) },
});

/** `UPCASTS[kind][v]` turns a body of version v into one of version v + 1. */
const UPCASTS: Partial<Record<EventKind, Readonly<Record<number, Upcast>>>> = {
  'session.started': {
    1: (body) => ({ ...body, budget: NO_BUDGETS }),
    2: withLimits,
    3: withLimits,
    4: withLimits,
  },
  'model.completed': { 2: (body) => ({ ...body, cost: null, ms: 0 }) },
  'progress.noted': { 1: (body) => ({ ...body, origin: null }) },
  'decision.requested': {
    1: (body) => ({ ...body, origin: null, choices: [] }),
    2: (body) => ({
      ...body,
      about: body.effect === null ? 'question' : 'unknown',
      why: '',
      digest: null,
      expiresAt: null,
    }),
  },
  'effect.intended': {
    1: (body) => ({
      ...body,
      policy: { verdict: 'allow', rule: 'before-policies', expiresAfterMs: null },
    }),
  },
  'timer.set': {
    1: ({ cell, guestCall, ...body }) => ({ ...body, origin: { by: 'cell', cell, guestCall } }),
  },
  'message.accepted': { 1: (body) => ({ ...body, images: [] }) },
  'response.surfaced': { 1: (body) => ({ ...body, claims: [] }) },
  'turn.failed': { 1: (body) => ({ ...body, claims: [] }) },
};

export function encode(event: Event): LogRow {
  const { seq, at, kind, ...body } = event;
  return { seq, at, kind, version: VERSIONS[kind], body: JSON.stringify(body) };
}

export function decode(row: LogRow): Event | ForeignEvent {
  const { seq, at } = row;
  if (!isKnown(row.kind) || row.version > VERSIONS[row.kind]) {
    return { kind: 'foreign', original: row.kind, version: row.version, seq, at };
  }
  const body = upcast(row.kind, row.version, parse(row));
  return { ...(body as unknown as EventBody), kind: row.kind, seq, at } as Event;
}

function isKnown(kind: string): kind is EventKind {
  return Object.hasOwn(AUTHORITY, kind);
}

function upcast(kind: EventKind, version: number, body: Record<string, unknown>): Record<string, unknown> {
  let current = body;
  for (let v = version; v < VERSIONS[kind]; v++) current = UPCASTS[kind]?.[v]?.(current) ?? current;
  return current;
}

function parse(row: LogRow): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(row.body);
    if (isRecord(body)) return body;
  } catch {
    // falls through to the one error below
  }
  throw new OutlastError('log.damaged', `Event ${row.seq} (${row.kind}) is not readable.`, {
    next: 'the events before it are; see outlast verify ID',
  });
}
