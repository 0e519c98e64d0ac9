/**
 * Local time as this API writes it: `YYYY-MM-DDTHH:MM`, without an offset. Owns the two directions between it and
 * an instant, and nothing about months.
 *
 * L1. The machine's own time zone plays no part.
 */
const MINUTE_MS = 60_000;

/** `localTime(Date.UTC(2026, 1, 1), -300)` is `'2026-01-31T19:00'`. */
export function localTime(ms: number, utcOffsetMinutes: number): string {
  return new Date(ms + utcOffsetMinutes * MINUTE_MS).toISOString().slice(0, 16);
}

/** The instant of a local time; undefined when it is not written so, or no such day exists. */
export function instantOf(text: string, utcOffsetMinutes: number): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text)) return undefined;
  const asUtc = Date.parse(`${text}Z`);
  if (Number.isNaN(asUtc) || localTime(asUtc, 0) !== text) return undefined;
  return asUtc - utcOffsetMinutes * MINUTE_MS;
}

/** `offsetText(-300)` is `'-05:00'`. */
export function offsetText(utcOffsetMinutes: number): string {
  const clock = new Date(Math.abs(utcOffsetMinutes) * MINUTE_MS).toISOString().slice(11, 16);
  return `${utcOffsetMinutes < 0 ? '-' : '+'}${clock}`;
}
