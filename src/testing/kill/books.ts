/**
 * The books of the outside services, one file each, a JSON row a line; and the grants that say what each service can
 * do for its clients. Services append; the person and the judge read.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Grant } from '../../tools/grant.ts';
import { SERVICES, type ServiceName } from './batch.ts';

export interface Row {
  readonly service: ServiceName;
  readonly what: string;
  readonly reference: string | null;
  /** Counts the rows of a service from 1. */
  readonly id: number;
  /** The row that this one undoes; null for a row that stands for itself. */
  readonly undoes: number | null;
  /** Milliseconds since the epoch, on the clock of this machine: the same as in the log. */
  readonly at: number;
}

/** No request is applied later than this after its client has sent it. The services hold themselves to it. */
export const LATE_MS = 800;

const DAY_MS = 24 * 3_600_000;

export const bookOf = (dir: string, service: ServiceName): string => join(dir, `${service}.jsonl`);

export function readBooks(dir: string): readonly Row[] {
  return SERVICES.flatMap((service) => rowsIn(bookOf(dir, service)));
}

/** Rows that stand: neither undone nor the undoing of another. */
export function standing(rows: readonly Row[]): readonly Row[] {
  const undone = new Set(
    rows.flatMap(({ service, undoes }) => (undoes === null ? [] : [`${service} ${undoes}`])),
  );
  return rows.filter(({ service, id, undoes }) => undoes === null && !undone.has(`${service} ${id}`));
}

/** A last line without its end is being written just now: it was not answered. */
export function rowsIn(file: string): readonly Row[] {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Row);
}

export function grantsFor(origin: string): readonly Grant[] {
  return [
    {
      name: 'outside',
      origin,
      describe: 'bill, pay, mail, post and look',
      rules: [
        { method: 'GET', path: '/look' },
        {
          method: 'POST',
          path: '/bill',
          capability: { kind: 'cancelable', lateMs: LATE_MS },
          ask: { path: '/bill?reference={reference}', found: '/records', reference: '/reference' },
          cancel: { method: 'DELETE', path: '/bill/{id}', id: '/id', undone: '/undone' },
        },
        { method: 'POST', path: '/pay', capability: { kind: 'keyed', retentionMs: DAY_MS } },
        {
          method: 'POST',
          path: '/mail',
          capability: { kind: 'queryable', lateMs: LATE_MS },
          ask: { path: '/mail?reference={reference}', found: '/records', reference: '/reference' },
        },
        { method: 'POST', path: '/post', capability: 'blind' },
      ],
    },
  ];
}
