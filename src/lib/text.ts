/** Text: cut without breaking it, never inside a surrogate pair; and bytes that are text. */

/** At most `max` UTF-16 units from the start, whole characters only. */
export function head(text: string, max: number): string {
  if (text.length <= max) return text;
  return isHighSurrogate(text.charCodeAt(max - 1)) ? text.slice(0, max - 1) : text.slice(0, max);
}

/** At most `max` UTF-16 units from the end, whole characters only. */
export function tail(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(text.length - max);
  return isLowSurrogate(cut.charCodeAt(0)) ? cut.slice(1) : cut;
}

/** Head and tail with a line between them that says how much is left out and, after it, what `more` says of the place. */
export function clip(text: string, max: number, more: (at: number) => string = () => ''): string {
  if (text.length <= max) return text;
  const first = head(text, Math.ceil(max * 0.6));
  const last = tail(text, Math.floor(max * 0.4));
  return `${first}\n… ${text.length - first.length - last.length} characters left out${more(first.length)} …\n${last}`;
}

/** One line of at most `max` units, for titles and lists. */
export function oneLine(text: string, max: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= max ? line : `${head(line, max - 1)}…`;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Length in UTF-8, on every platform. */
export function bytesOf(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    // Each half of a pair counts two of its four bytes.
    else bytes += unit >= 0xd800 && unit <= 0xdfff ? 1 : 2;
  }
  return bytes;
}

/** Null for what is no UTF-8, or has a NUL in it. A mark at the beginning stays. */
export function textIn(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** `ordinal(2)` is `2nd`. */
export function ordinal(n: number): string {
  const isTeen = n % 100 >= 11 && n % 100 <= 13;
  return `${n}${isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')}`;
}
