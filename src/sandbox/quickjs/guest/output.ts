/**
 * What a cell prints: `console`, and a buffer that a cell without end cannot fill.
 *
 * O1  The buffer holds at most `limit` characters plus one tail: the start, and the newest of the rest.
 * O2  A step that prints more than `FLOOD` times the limit tells the engine, which stops it at its next look.
 *
 * The text is evaluated in the engine. `clipOutput` is the host's half of O1.
 */

import { head, tail } from '../../../lib/text.ts';

export const OUTPUT = String.raw`(P, show, overflow, limit) => {
  const FLOOD = 256;
  const headMax = P.floor(limit * 0.6), tailMax = limit - headMax;
  let head = '', tail = '', total = 0;

  const print = (text) => {
    total += text.length;
    if (total > limit * FLOOD) return overflow();
    const room = headMax - head.length;
    if (room > 0) head += P.sliceText(text, 0, room);
    if (text.length <= room) return;
    tail += room > 0 ? P.sliceText(text, room) : text;
    if (tail.length > 2 * tailMax) tail = P.sliceText(tail, tail.length - tailMax);
  };
  const format = (value) => (typeof value === 'string' ? value : show.inspect(value, limit));
  const log = (...values) => {
    let line = '';
    for (let i = 0; i < values.length; i++) line += (i === 0 ? '' : ' ') + format(values[i]);
    print(line + '\n');
  };

  const console = {
    log, info: log, warn: log, error: log, debug: log, dir: (value) => log(value), table: (value) => log(value),
    trace: log, group: log, groupEnd() {}, time() {}, timeLog() {}, timeEnd() {},
    assert(isTrue, ...values) {
      if (!isTrue) P.apply(log, undefined, values.length === 0 ? ['Assertion failed'] : values);
    },
  };
  const take = () => {
    const taken = '"head":' + P.quote(head) + ',"tail":' + P.quote(tail) + ',"total":' + total;
    head = ''; tail = ''; total = 0;
    return taken;
  };
  return { __proto__: null, print, console, take };
}`;

/** The text of a step: all of it, or its start and end with a line that says how much is left out. */
export function clipOutput(start: string, newest: string, total: number, limit: number): string {
  if (total <= limit) return start + newest;
  // One unit more than wanted shows `head` and `tail` that there is something to cut, and where a pair would break.
  const first = head(`${start}.`, start.length);
  const last = tail(`.${newest}`, Math.min(newest.length, limit - Math.floor(limit * 0.6)));
  return `${first}\n… ${total - first.length - last.length} characters left out …\n${last}`;
}
