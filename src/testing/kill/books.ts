/**
 * What the outside promises its clients, in the grants; and its books, which are those of the bench of breaking: one
 * file for each service, a JSON row a line. Services append; the person and the judge read.
 */

import type { BookReader, Row as Entry } from '../../break/service/book.ts';
import { PROFILES, type Profile } from '../../break/service/profile.ts';
import { LAG_MS } from '../../break/terms.ts';
import type { Capability } from '../../core/capability.ts';
import type { Grant, Rule } from '../../tools/fetch/grant.ts';
import { pathOf, SERVICES, type ServiceName } from './batch.ts';

export interface Row extends Entry {
  readonly service: ServiceName;
}

/** A write that came to the outside, whatever became of it. */
export interface Arrival {
  /** Milliseconds since the epoch, on the clock of this machine. */
  readonly at: number;
  readonly epoch: number;
  readonly service: ServiceName;
  readonly what: string;
}

/** No request is applied later than this after its client has sent it. The services hold themselves to it. */
export const LATE_MS = 800;
/** For how long a key is promised to be known: less than a server is away now and then. */
export const RETENTION_MS = 2_000;
/**
 * For how long it is known. The promise runs from the mark of sending to the arrival of what is sent again: in between a
 * busy machine may lose a while, which is not what this campaign is about.
 */
export const KEPT_MS = 3_000;

/** What each service can do in truth. */
export const ABLE: Readonly<Record<ServiceName, Profile>> = {
  ...PROFILES,
  expiring: { ...PROFILES.expiring, keptMs: KEPT_MS },
};

const DAY_MS = 24 * 3_600_000;

/** What each service promises. Of a batch each item is a request of its own. */
const PROMISES: Readonly<Record<ServiceName, Capability>> = {
  keyed: { kind: 'keyed', retentionMs: DAY_MS },
  expiring: { kind: 'keyed', retentionMs: RETENTION_MS },
  queryable: { kind: 'queryable', lateMs: LATE_MS },
  lagging: { kind: 'queryable', lateMs: LATE_MS + LAG_MS },
  cancelable: { kind: 'cancelable', lateMs: LATE_MS },
  blind: { kind: 'blind' },
  batch: { kind: 'queryable', lateMs: LATE_MS },
};

/** The rows of one round, `r12`. */
export const readBooks = (reader: BookReader, round: string): readonly Row[] =>
  SERVICES.flatMap((service) => reader.rows(service, round).map((row) => ({ ...row, service })));

/** Rows that stand: neither undone nor the undoing of another. */
export function standing(rows: readonly Row[]): readonly Row[] {
  const undone = new Set(
    rows.flatMap(({ service, undoes }) => (undoes === null ? [] : [`${service} ${undoes}`])),
  );
  return rows.filter(({ service, id, undoes }) => undoes === null && !undone.has(`${service} ${id}`));
}

export function grantsFor(origin: string): readonly Grant[] {
  const rules = SERVICES.flatMap((service) => [false, true].map((asks) => ruleOf(service, asks)));
  const look: Rule = { method: 'GET', path: '/look' };
  return [{ name: 'outside', origin, describe: `${SERVICES.join(', ')} and look`, rules: [look, ...rules] }];
}

function ruleOf(service: ServiceName, asks: boolean): Rule {
  const { isAskable, canUndo } = ABLE[service];
  return {
    method: 'POST',
    path: pathOf({ service, asks }),
    capability: PROMISES[service],
    ...(isAskable && {
      ask: { path: `/${service}?reference={reference}`, found: '/records', reference: '/reference' },
    }),
    ...(canUndo && {
      cancel: { method: 'DELETE', path: `/${service}/{id}`, id: '/id', undone: '/undone' },
    }),
    // The items of one batch are cleared up side by side.
    ...(service === 'batch' && { identity: ['what'] }),
  };
}
