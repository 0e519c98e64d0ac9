/** Days that a question names: `2031-04-05`, `5 April 2031`, `April 5, 2031`. In UTC, as instants are shown. */

export interface Day {
  readonly from: number;
  readonly to: number;
}

const DAY_MS = 24 * 3_600_000;

const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
);
const MONTH = MONTHS.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join('|');

const ISO = /\b(\d{4})-(\d\d)-(\d\d)\b/g;
const DAY_FIRST = new RegExp(String.raw`\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? (${MONTH}),? (\d{4})\b`, 'gi');
const MONTH_FIRST = new RegExp(String.raw`\b(${MONTH}) (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b`, 'gi');

export function daysIn(question: string): readonly Day[] {
  const days = [
    ...[...question.matchAll(ISO)].map(([, year, month, day]) => dayOf(year, Number(month), day)),
    ...[...question.matchAll(DAY_FIRST)].map(([, day, month, year]) => dayOf(year, numberOf(month), day)),
    ...[...question.matchAll(MONTH_FIRST)].map(([, month, day, year]) => dayOf(year, numberOf(month), day)),
  ];
  return days.filter(({ from }) => Number.isFinite(from));
}

/** The question with such days as month and year: the number of a day is in everything. */
export const withoutDays = (question: string): string =>
  question.replace(DAY_FIRST, '$2 $3').replace(MONTH_FIRST, '$1 $3');

const numberOf = (month = ''): number =>
  MONTHS.findIndex((name) => name.startsWith(month.slice(0, 3).toLowerCase())) + 1;

function dayOf(year = '', month = 0, day = ''): Day {
  const isDay = month >= 1 && month <= 12 && Number(day) >= 1 && Number(day) <= 31;
  const from = isDay ? Date.UTC(Number(year), month - 1, Number(day)) : Number.NaN;
  return { from, to: from + DAY_MS - 1 };
}
