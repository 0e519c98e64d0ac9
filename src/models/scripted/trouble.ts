/**
 * What a call of ours that did not go well means for the next step. Pure; looks at the calls of this turn only.
 *
 * T1  What fails is tried three times, or twice where no answer came, then given up. A refusal, or an answer of another shape, is not tried again.
 * T2  A refused token is renewed once in a turn.
 * T3  What was lost is no trouble: the facts do not hold it any more, and it is built again. But not for ever.
 * T4  A mail is never tried again from here; its fate is told by `fateOf`.
 */

import { isRecord, parseJson } from '../../lib/json.ts';
import { oneLine } from '../../lib/text.ts';
import type { Called } from './observations.ts';
import type { MailFate } from './wording.ts';

export type Trouble =
  /** Go on: nothing was wrong, or the facts say what to do now. */
  | { readonly kind: 'none' }
  | { readonly kind: 'retry'; readonly why: string; readonly attempt: number }
  | { readonly kind: 'renew' }
  | { readonly kind: 'end'; readonly why: string };

const ATTEMPTS = 3;
/** Where no answer came at all, the runtime has already tried more than once. */
const SILENT_ATTEMPTS = 2;

export function troubleOf(calls: readonly Called[]): Trouble {
  const last = calls.at(-1);
  if (last === undefined || last.note?.cell === 'mail') return { kind: 'none' };
  const said = oneLine(last.text, 300);
  switch (last.status) {
    case 'done':
      return last.data !== null || last.note === null
        ? { kind: 'none' }
        : { kind: 'end', why: `what it printed is not what I can read: ${said}` };
    case 'failed':
      return failure(calls, last, said);
    case 'refused':
      return { kind: 'end', why: `it was refused: ${said}` };
    case 'unknown':
      return { kind: 'end', why: `nobody knows how it ended, so I call it neither done nor failed: ${said}` };
    case 'suspended':
      return { kind: 'end', why: `it waits for a person, and is neither done nor failed: ${said}` };
    case 'interrupted':
      return { kind: 'end', why: `it was interrupted: ${said}` };
  }
}

function failure(calls: readonly Called[], last: Called, said: string): Trouble {
  const attempt = failuresAtEnd(calls, last);
  const times = attempt > 1 ? `it failed ${attempt} times in a row` : 'it failed';
  const end: Trouble = { kind: 'end', why: `${times}: ${said}` };
  if (isLoss(last.text)) return attempt < ATTEMPTS ? { kind: 'none' } : end;
  const status = httpStatus(last.text);
  if (status === 401 && last.note?.cell === 'load' && calls.every(({ note }) => note?.cell !== 'renew')) {
    return { kind: 'renew' };
  }
  if (last.note?.cell === 'renew' || isLasting(last.text, status)) return end;
  if (attempt >= (status === null ? SILENT_ATTEMPTS : ATTEMPTS)) return end;
  const what = oneLine(headline(last.text), 120);
  const why = status === null ? `It failed (${what})` : `The service answered ${status}`;
  return { kind: 'retry', why, attempt: attempt + 1 };
}

// ── what a failure says ────────────────────────────────────────────────────────────────────────────────────

/**
 * The line that names the error: the first of its form, for only what a cell printed stands before it. A service can
 * have its words quoted in what follows, and decides nothing by them.
 */
function headline(text: string): string {
  const lines = text.split('\n');
  return lines.find((line) => /^[A-Z]\w*(?: \[[\w.]+\])?:/.test(line)) ?? lines[0] ?? '';
}

/** Failures that come again however often one tries. */
function isLasting(text: string, status: number | null): boolean {
  if (status !== null) return status < 500 && status !== 429;
  const line = headline(text);
  return (
    isUnsent(text) || /^Error: Not as described|^Aborted:|^(?:SyntaxError|TypeError|RangeError)\b/.test(line)
  );
}

const isUnsent = (text: string): boolean =>
  /^\w+ \[(?:withdrawn|rejected|grant\.none|call\.invalid|secret\.foreign|tool\.not_granted)\]/.test(
    headline(text),
  );

const isLoss = (text: string): boolean =>
  isUnbuilt(text) || isRowsGone(text) || headline(text).startsWith('The sandbox was lost');

/** What a report says when the months in memory do not hold the one it wants. */
export const isRowsGone = (text: string): boolean => /^Error: The rows of \S+ are gone/.test(headline(text));

/** A name that the cell stands on was missing; nothing after it was run, so nothing was sent. */
export const isUnbuilt = (text: string): boolean =>
  /^ReferenceError\b.*\bis not defined/.test(headline(text));

function httpStatus(text: string): number | null {
  const status = /^Error: HTTP (\d{3})\b/.exec(headline(text))?.[1];
  return status === undefined ? null : Number(status);
}

function failuresAtEnd(calls: readonly Called[], last: Called): number {
  const kin = calls.filter(({ note }) => note?.cell === last.note?.cell);
  return kin.length - 1 - kin.findLastIndex(({ status }) => status !== 'failed');
}

/** A letter that could not even be written, because the sandbox had lost what it needs: it may be written again. */
export const isUnwritten = ({ status, text }: Called): boolean => status === 'failed' && isUnbuilt(text);

/** What became of a mail, as far as its call tells (W2). */
export function fateOf({ status, text, data }: Called): MailFate {
  const said = oneLine(text, 300);
  switch (status) {
    case 'done':
      return data === null
        ? { kind: 'unclear', why: `the cell printed what I cannot read: ${said}.` }
        : answered(data);
    case 'failed':
      return isUnbuilt(text) || isUnsent(text)
        ? { kind: 'not-sent', why: said }
        : {
            kind: 'unclear',
            why: `the call failed, and its failure does not say whether the service had taken it: ${said}`,
          };
    case 'refused':
      return { kind: 'not-sent', why: `the call was refused: ${said}` };
    case 'suspended':
      return { kind: 'waits', why: said };
    case 'interrupted':
    case 'unknown':
      return { kind: 'unclear', why: said };
  }
}

function answered({ status, answer, to }: Readonly<Record<string, unknown>>): MailFate {
  if (status === undefined) {
    return {
      kind: 'unclear',
      why: 'the call came to an end without an answer of the service; the ledger says how.',
    };
  }
  const said = `the service answered ${String(status)}: ${oneLine(String(answer), 200)}`;
  if (typeof status !== 'number' || status >= 500) return { kind: 'unclear', why: `${said}.` };
  if (status >= 300) return { kind: 'not-sent', why: `${said}.` };
  const id = idIn(String(answer));
  return id === null
    ? { kind: 'unclear', why: `${said}, which names no id.` }
    : { kind: 'sent', to: String(to), id };
}

/** The id in what a mailing service answers to a message, or to the question after one. */
function idIn(answer: string): string | null {
  const body = parseJson(answer);
  const found: unknown = isRecord(body) && Array.isArray(body.messages) ? body.messages[0] : body;
  return isRecord(found) && typeof found.id === 'string' ? found.id : null;
}
