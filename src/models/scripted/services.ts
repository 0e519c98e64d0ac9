/**
 * What a service says about itself → how to use it. The planner knows kinds of steps (find, authenticate, page, mail);
 * paths, field names and rules come from the description that was read at run time.
 *
 * S1  Whatever of it is missing, or reads otherwise than the planner can follow, is named. Nothing is guessed.
 */

import { parseJson } from '../../lib/json.ts';
import type { MonthRange } from './months.ts';

export interface BillingApi {
  /** Path that takes `?name=`. */
  readonly lookup: string;
  /** Path of the invoices, with `ACCOUNT_ID` in it. */
  readonly invoices: string;
  /** The three calls that give a token. */
  readonly begin: string;
  readonly answer: string;
  readonly token: string;
  /** Field of the account that holds local time minus UTC in minutes. */
  readonly offset: string;
  /** The months that it says it has. */
  readonly range: MonthRange | null;
}

export interface MailingApi {
  readonly messages: string;
}

export type Reading<Api> =
  | { readonly ok: true; readonly api: Api }
  | { readonly ok: false; readonly missing: readonly string[] };

/** `readBilling(body of GET /)` */
export function readBilling(text: string): Reading<BillingApi> {
  const sentences = sentencesOf(text);
  const find = (pattern: RegExp) => firstMatch(sentences, pattern);
  const lookup = find(/^GET (\/[^\s?]*)\?name=/);
  const invoices = find(/^GET (\/[^\s?]*ACCOUNT_ID[^\s?]*)\?from=LOCAL&to=LOCAL&page=N$/);
  const begin = find(/POST (\/\S+) with \{ "account": ACCOUNT_ID \} answers \{ challenge \}/);
  const answer = find(
    /POST (\/\S+) with \{ "challenge": challenge, "answer": answer \} answers \{ grant \}\. The answer is the challenge with its characters in reverse order, then ":", then the account id/,
  );
  const token = find(/POST (\/\S+) with \{ "grant": grant \} answers \{ token\b/);
  const offset = find(/as "(\w*[oO]ffsetMinutes)"/);
  const known: readonly (readonly [string, unknown])[] = [
    ['how an account is found by its name', lookup],
    ['how invoices are asked for', invoices],
    ['how an authentication begins', begin],
    ['how its challenge is answered', answer],
    ['how a token is got', token],
    ['that the token goes into the header Authorization', find(/("?Authorization: Bearer TOKEN)/)],
    ['in which time months are meant', find(/month in (UTC)\b/)],
    ['how local time follows from UTC', find(/(local time = UTC \+ utcOffset)/)],
    ['which field of an account holds its offset', offset],
    ['how pages follow each other', find(/("next" is the number of the next page, or null)/)],
  ];
  const missing = known.flatMap(([what, found]) => (found === null ? [what] : []));
  if (!lookup || !invoices || !begin || !answer || !token || !offset || missing.length > 0)
    return { ok: false, missing };
  return { ok: true, api: { lookup, invoices, begin, answer, token, offset, range: rangeOf(sentences) } };
}

export function readMailing(text: string): Reading<MailingApi> {
  const messages = firstMatch(sentencesOf(text), /^POST (\/\S+)$/);
  const fields = JSON.stringify(parseJson(text) ?? null);
  const takesLetters = ['to', 'subject', 'body'].every((field) => fields.includes(`"${field}":`));
  const missing = [
    ...(messages === null ? ['where a message is posted'] : []),
    ...(takesLetters ? [] : ['that a message has "to", "subject" and "body"']),
  ];
  return messages !== null && takesLetters ? { ok: true, api: { messages } } : { ok: false, missing };
}

function rangeOf(sentences: readonly string[]): MonthRange | null {
  for (const sentence of sentences) {
    const [, first, last] = /from (\d{4}-\d\d) to (\d{4}-\d\d)\b/.exec(sentence) ?? [];
    if (first !== undefined && last !== undefined) return { first, last };
  }
  return null;
}

/** Every text in a JSON document, whatever its shape: how a description is laid out is its service's affair. */
function sentencesOf(text: string): readonly string[] {
  const collect = (value: unknown): readonly string[] => {
    if (typeof value === 'string') return [value];
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(collect) : [];
  };
  return collect(parseJson(text));
}

function firstMatch(sentences: readonly string[], pattern: RegExp): string | null {
  for (const sentence of sentences) {
    const found = pattern.exec(sentence)?.[1];
    if (found !== undefined) return found;
  }
  return null;
}
