/**
 * Months as people name them and as services name them (`2026-02`). Owns the names, and which year is meant when
 * none was said. Knows no clock: the present arrives as text.
 */

/** A month as it was said; `year` is null when only its name was. */
export interface Month {
  readonly month: number;
  readonly year: number | null;
}

/** The months that a service says it has, both ends included, written like `2026-02`. */
export interface MonthRange {
  readonly first: string;
  readonly last: string;
}

const NAMES = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;

const SHORT = NAMES.map((name) => name.slice(0, 3).toLowerCase());

const NAME = `(?:${NAMES.join('|')}|Sept|${SHORT.join('|')})`;
const PATTERN = new RegExp(
  `\\b(?:(20\\d\\d)-(0[1-9]|1[0-2])|(${NAME})(?:'s)?(?:,? (?:of )?(20\\d\\d)(?:'s)?)?)(?![\\w-])`,
  'gi',
);

/** The months that a text names, and the text without them: `March 2026`, `Feb's`, `2026-02`. */
export function findMonths(text: string): { readonly months: readonly Month[]; readonly rest: string } {
  const undotted = text.replace(new RegExp(`\\b(${SHORT.join('|')}|sept)\\.`, 'gi'), '$1');
  const months = [...undotted.matchAll(PATTERN)].map(([, isoYear, isoMonth, name = '', year]) =>
    isoYear === undefined
      ? {
          month: SHORT.indexOf(name.slice(0, 3).toLowerCase()) + 1,
          year: year === undefined ? null : Number(year),
        }
      : { month: Number(isoMonth), year: Number(isoYear) },
  );
  return { months, rest: undotted.replace(PATTERN, ' ') };
}

/**
 * Which month is meant. A year that was said counts; else the year in which the service has that month, the latest
 * that has begun; else the latest such month up to `now` (an ISO time). Null when nothing tells.
 */
export function resolveMonth(said: Month, range: MonthRange | null, now: string | null): string | null {
  if (said.year !== null) return written(said.year, said.month);
  const present = now?.slice(0, 7) ?? null;
  if (range !== null) {
    const held: string[] = [];
    for (let year = yearOf(range.first); year <= yearOf(range.last); year += 1) {
      const month = written(year, said.month);
      if (isWithin(month, range)) held.push(month);
    }
    const begun = held.filter((month) => present === null || month <= present);
    const best = begun.at(-1) ?? held[0];
    if (best !== undefined) return best;
  }
  if (present === null) return null;
  const thisYear = written(yearOf(present), said.month);
  return thisYear <= present ? thisYear : written(yearOf(present) - 1, said.month);
}

export function isWithin(month: string, range: MonthRange): boolean {
  return month >= range.first && month <= range.last;
}

/** `monthName('2026-02')` is `February 2026`. */
export function monthName(month: string): string {
  return `${NAMES[Number(month.slice(5)) - 1] ?? month} ${month.slice(0, 4)}`;
}

/** `monthOf('2026-02')` is `{ month: 2, year: 2026 }`. */
export function monthOf(month: string): Month {
  return { month: Number(month.slice(5)), year: yearOf(month) };
}

/** A month as it was said, in words. */
export function saidMonth({ month, year }: Month): string {
  return `${NAMES[month - 1] ?? month}${year === null ? '' : ` ${year}`}`;
}

const yearOf = (month: string): number => Number(month.slice(0, 4));

const written = (year: number, month: number): string => `${year}-${String(month).padStart(2, '0')}`;
