/**
 * Known secrets taken out of text, wherever a service repeats them.
 *
 * E1  Works on whole text, so a secret that came in two chunks is found. What is written as JSON is searched as
 *     JSON reads it, so escapes hide nothing.
 * E2  Found are the secret itself and its forms in JSON, in URLs and in forms. Each gives way to its handle.
 * E3  A secret under `MIN_SECRET` units is sealed where a rule names it, but not searched for: it would be found in
 *     half of all words, and no service gives such a secret.
 */

import { parseJson } from '../../lib/json.ts';
import { tokens } from './json-tokens.ts';
import type { Secret } from './secret.ts';

export const MIN_SECRET = 4;

/** The text up to `end` without the secrets; one that begins before `end` goes whole. */
export function redact(text: string, secrets: readonly Secret[], end = text.length): string {
  const search = searchFor(secrets);
  if (search === null) return text.slice(0, end);
  const isJson = end === text.length && parseJson(text) !== undefined;
  return isJson ? redactJson(text, search) : search.replace(text, end);
}

/** Bytes that the longest form of a secret can take: what has to be read past a cut to see it whole (E2). */
export const widest = (secrets: readonly Secret[]): number =>
  Math.max(0, ...secrets.flatMap(({ text }) => forms(text).map((form) => Buffer.byteLength(form))));

interface Search {
  replace(text: string, end?: number): string;
  /** Only if the text is a secret from end to end: an amount that has its digits somewhere is not one. */
  replaceWhole(text: string): string;
}

function searchFor(secrets: readonly Secret[]): Search | null {
  const handles = new Map<string, string>();
  for (const { text, handle } of secrets.filter((secret) => secret.text.length >= MIN_SECRET)) {
    for (const form of forms(text)) handles.set(form, handles.get(form) ?? handle);
    handles.set(handle, handle); // found whole first, so that no secret is searched for inside it
  }
  if (handles.size === 0) return null;
  const longestFirst = [...handles.keys()].sort((a, b) => b.length - a.length);
  // One pass over all: a second one would search what the first has written.
  const pattern = new RegExp(longestFirst.map(escaped).join('|'), 'g');
  return {
    replace(text, end = text.length) {
      let out = '';
      let done = 0;
      for (const match of text.matchAll(pattern)) {
        if (match.index >= end) break;
        out += text.slice(done, match.index) + (handles.get(match[0]) ?? '');
        done = match.index + match[0].length;
      }
      return out + text.slice(done, Math.max(done, end));
    },
    replaceWhole: (text) => handles.get(text) ?? text,
  };
}

function redactJson(text: string, search: Search): string {
  let out = '';
  let done = 0;
  for (const { start, end, is } of tokens(text)) {
    const written = text.slice(start, end);
    const read = is === 'other' ? written : (JSON.parse(written) as string);
    const clean = is === 'other' ? search.replaceWhole(read) : search.replace(read);
    if (clean === read) continue;
    out += text.slice(done, start) + JSON.stringify(clean);
    done = end;
  }
  return out + text.slice(done);
}

function forms(secret: string): readonly string[] {
  const inUrl = encodeURIComponent(secret);
  const lower = inUrl.replace(/%../g, (octet) => octet.toLowerCase());
  const inForm = new URLSearchParams({ s: secret }).toString().slice(2);
  return [...new Set([secret, JSON.stringify(secret).slice(1, -1), inUrl, lower, inForm])];
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
