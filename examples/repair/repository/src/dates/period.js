import { daysIn } from '../dates/day.js';

/** `2026-03`. */
export function isMonth(text) {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(text ?? '');
}

/** The period of a month: `start` is its first day and `end` its last, and both belong to it. */
export function monthPeriod(month) {
  const [year, number] = month.split('-').map(Number);
  return { start: `${month}-01`, end: `${month}-${daysIn(year, number)}` };
}

/** Whether a day lies in a period. */
export function contains({ start, end }, day) {
  return day >= start && day < end;
}
