/**
 * What people have said of a repository → the newest order in it. Pure.
 *
 * O1  What is wanted later and not now orders nothing; it is looked up when somebody comes back to it.
 */

export type Order =
  | { readonly kind: 'repair' }
  /** A flag that was spoken of before: what it is called and does has to be looked up. */
  | { readonly kind: 'flag' };

const LATER = /\b(?:not now|not yet|later)\b/i;
const REPAIR = /\b(?:make|get|have) (?:all |the |its |all the )?tests? (?:pass|green)\b/i;
const FLAG = /\badd the flag\b/i;

export function orderIn(text: string): Order | null {
  const said = text.split(/(?<=[.!?])\s+/).filter((sentence) => !LATER.test(sentence));
  if (said.some((sentence) => FLAG.test(sentence))) return { kind: 'flag' };
  return said.some((sentence) => REPAIR.test(sentence)) ? { kind: 'repair' } : null;
}

export interface Flag {
  /** `--json`. */
  readonly name: string;
  /** In the words of the person. */
  readonly does: string;
}

/** A flag that somebody describes, e.g. "a `--json` flag that prints the totals as JSON". */
export function flagIn(text: string): Flag | null {
  const [, name, does] = /`?(--[a-z][\w-]*)`? flag (?:that|which) ([^,.;\n]+)/i.exec(text) ?? [];
  return name === undefined || does === undefined ? null : { name, does: does.trim() };
}
