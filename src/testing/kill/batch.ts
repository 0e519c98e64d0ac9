/**
 * Batches: what the person asks for, in a form that the scripted model and the judge both read. One batch is one
 * instruction, and becomes one cell. The name of an effect stands in one batch only, so the books can be counted by it:
 * `r12.3.1` is the first effect of the third batch of round 12.
 */

import { SERVICES as KINDS, type Service } from '../../break/terms.ts';

/** The kinds of service that the bench of breaking has as well. */
export type ServiceName = Service;
export const SERVICES: readonly ServiceName[] = KINDS.map(({ name }) => name);

/** How the cell goes about it. */
export const SHAPES = ['row', 'all', 'timer', 'mixed'] as const;
export type Shape = (typeof SHAPES)[number];

export interface Wanted {
  readonly service: ServiceName;
  readonly what: string;
  /** Whether the policy asks a person before it is sent. */
  readonly asks: boolean;
}

export interface Batch {
  readonly id: string;
  readonly shape: Shape;
  readonly wanted: readonly Wanted[];
}

/** Requests below this path are asked about before. */
export const ASKED = '/asked';

export const pathOf = ({ service, asks }: Pick<Wanted, 'service' | 'asks'>): string =>
  `${asks ? ASKED : ''}/${service}`;

/** The service that a path belongs to, asked about before or not. */
export const serviceAt = (path: string): ServiceName | undefined =>
  SERVICES.find((name) => name === path.split('/').at(-1));

const SIGN = 'do ';

export const instruction = (batch: Batch): string => `${SIGN}${JSON.stringify(batch)}`;

/** The batch that a message asks for; null for a message that is none. */
export const batchIn = (text: string): Batch | null =>
  text.startsWith(SIGN) ? (JSON.parse(text.slice(SIGN.length)) as Batch) : null;

/** What is claimed of effects in a text, one a line: `name: done`. */
export function claimsIn(text: string): ReadonlyMap<string, 'done' | 'failed'> {
  const claims = new Map<string, 'done' | 'failed'>();
  for (const [, what = '', status] of text.matchAll(/(?<![\w.])(r\d[\w.]*): (done|failed)(?!\w)/g)) {
    claims.set(what, status as 'done' | 'failed');
  }
  return claims;
}
