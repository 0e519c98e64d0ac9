/** Broken assumptions. An assert stops the actor that meets it; the log restarts the session. */

export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/** Throws when `condition` is false: a statement that the code relies on does not hold. */
export function assert(condition: unknown, statement: string): asserts condition {
  if (!condition) throw new AssertionError(`does not hold: ${statement}`);
}

/** Ends every switch over a union, so that a new kind lights up each place to visit. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${JSON.stringify(value)}`);
}
