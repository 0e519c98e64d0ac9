/** Days as text that sorts: `2026-03-31`. No time, and so no time zone. */
export function parseDay(text) {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text.trim());
  if (!match) throw new Error(`"${text}" is no day`);
  const [day, year, month, date] = match;
  if (Number(date) > daysIn(Number(year), Number(month))) throw new Error(`there is no ${day}`);
  return day;
}

/** How many days a month has; 0 when there is no such month. */
export function daysIn(year, month) {
  if (month < 1 || month > 12) return 0;
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}
