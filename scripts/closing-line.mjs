// Owns: the last line of a test run. Used by the vitest reporter and by test.mjs, whichever speaks last.

export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
