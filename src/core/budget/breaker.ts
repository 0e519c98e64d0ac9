/**
 * The breaker: the same call that fails again and again is refused, and then ends the turn. Pure.
 *
 * R1  The same call is the same tool with the same canonical input; so a cell with the same source counts as well. One
 *     that succeeds is forgotten.
 * R2  What came cut off or malformed is not counted here: it has no input to compare, and a bound of its own.
 * R3  A step without a failure costs nothing: nothing is hashed while nothing has failed.
 */

import { sha256 } from '../../lib/digest.ts';
import { canonical } from '../../lib/json.ts';
import type { ToolCallPart } from '../message.ts';
import type { Call } from '../state.ts';

/** Failures after which the call is not made any more. */
export const REFUSED_AFTER = 3;
/** Failures and refusals after which the turn ends. */
export const TRIPS_AT = 6;

/** Digest of a call → how often it failed in this turn since it last succeeded. */
export type Failing = Readonly<Record<string, number>>;

export const NONE_FAILING: Failing = {};

/** The counts after these calls were answered. */
export function counted(failing: Failing, calls: readonly Call[]): Failing {
  let counts = failing;
  for (const call of calls) {
    if (call.state !== 'answered' || call.part.broken !== undefined) continue;
    const { status } = call.result;
    const hasFailed = status === 'failed' || status === 'refused';
    const mayClear = status === 'done' && counts !== NONE_FAILING;
    if (!hasFailed && !mayClear) continue;
    const key = keyOf(call.part);
    if (hasFailed) counts = { ...counts, [key]: (counts[key] ?? 0) + 1 };
    else if (key in counts) counts = without(counts, key);
  }
  return counts;
}

/** How often this very call has failed; 0 for one that nothing is known of. */
export function failures(failing: Failing, part: ToolCallPart): number {
  return failing === NONE_FAILING || part.broken !== undefined ? 0 : (failing[keyOf(part)] ?? 0);
}

/** The tool whose call has failed so often that the turn ends; null while none has. */
export function tripped(failing: Failing, calls: readonly Call[]): string | null {
  const counts = counted(failing, calls);
  if (counts === failing) return null;
  return calls.find(({ part }) => failures(counts, part) >= TRIPS_AT)?.part.tool ?? null;
}

export const repeatedInWords = (times: number): string =>
  `This very call has failed ${times} times in this turn, and was not made again. Change its arguments, take ` +
  'another way, or say what stands in the way. If you go on with it, the turn ends.';

export const trippedInWords = (tool: string): string =>
  `The same call of ${tool} failed or was refused ${TRIPS_AT} times without a success between. Say how to go on.`;

const keyOf = ({ tool, input }: ToolCallPart): string => sha256(canonical([tool, input]));

function without(failing: Failing, key: string): Failing {
  const { [key]: _, ...rest } = failing;
  return Object.keys(rest).length === 0 ? NONE_FAILING : rest;
}
