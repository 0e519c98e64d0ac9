/** Instants as people and models write them; what `Date.parse` makes of anything else is a guess. */

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/;
const DAY = /^\d{4}-\d\d-\d\d$/;
const DAY_MS = 24 * 3_600_000;

/** ISO 8601 with its zone; NaN for anything else. */
export const instantOf = (text: unknown): number =>
  typeof text === 'string' && INSTANT.test(text) ? Date.parse(text) : Number.NaN;

/** The same, or the first or the last instant of a whole day in UTC. */
export const boundOf = (text: unknown, end: 'from' | 'to'): number =>
  typeof text === 'string' && DAY.test(text)
    ? Date.parse(text) + (end === 'to' ? DAY_MS - 1 : 0)
    : instantOf(text);
