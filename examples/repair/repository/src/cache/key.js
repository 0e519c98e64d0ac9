/** One text for everything that a report depends on. */
export function keyOf({ file, month }) {
  return [file, month].join('|');
}
