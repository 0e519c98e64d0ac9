/**
 * One message of a person → the orders in it. Called for each message of the transcript; what the orders add up to is
 * the goal's business.
 *
 * I1  A message is understood whole or not at all: a word that is in no pattern here makes all of it `strange`, and
 *     then it orders nothing. Half an instruction may be the opposite of what was meant.
 */

import { findMonths, type Month } from './months.ts';

export type Order =
  /** `month` is null for the one that was last spoken of. */
  | { readonly kind: 'report'; readonly month: Month | null }
  /** `who` is part of a customer's name, in lower case. */
  | { readonly kind: 'leave-out'; readonly who: string }
  | { readonly kind: 'include'; readonly who: string }
  | { readonly kind: 'mail'; readonly again: boolean }
  | { readonly kind: 'no-mail' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'again' }
  | { readonly kind: 'account'; readonly name: string };

export interface Heard {
  readonly orders: readonly Order[];
  /** The words that were not understood; null when all were. */
  readonly strange: string | null;
}

/** `hear("Report on February's invoices, without the test customer").orders.length === 2` */
export function hear(text: string, isAnswerToAccount = false): Heard {
  const { clauses, restore } = split(text);
  const heard = clauses.map((clause) => ({ clause, orders: readClause(clause, restore) }));
  const strange = heard.flatMap(({ clause, orders }) => (orders === null ? [restore(clause)] : []));
  const orders = heard.flatMap(({ orders }) => orders ?? []);
  if (strange.length > 0) {
    const name = isAnswerToAccount && orders.length === 0 ? accountName(text) : null;
    return name === null
      ? { orders: [], strange: strange.join(' … ') }
      : { orders: [{ kind: 'account', name }], strange: null };
  }
  // "Wait!" and "No." alone are no filler: whoever says so wants things to stop.
  if (orders.length === 0 && /\b(?:wait|no)\b/i.test(text))
    return { orders: [{ kind: 'stop' }], strange: null };
  return { orders, strange: null };
}

// ── clauses ────────────────────────────────────────────────────────────────────────────────────────────────

const BOUNDARY =
  /[.;!?\n]+(?:\s+|$)|,\s+(?:(?:and|but|then)\s+)*|\s+(?:and|but|then)\s+(?:then\s+)?|\s+(?=(?:without|excluding|except|minus|leaving out)\b)|\s+(?=(?:for|of) (?:the )?account\b)/i;

const HEAD =
  /^(?:please|now|then|also|and|ok|okay|so|just|but|hey|hi|hello|no|wait|actually|sorry|yes|well|thanks|thank you|oh|finally|afterwards|after that|go ahead|let's|help|what can you do|(?:could|can|would|will) you|i (?:want|would like|need) (?:you )?to|i'd like (?:you )?to)\b[\s,:]*/i;

const TAIL = /[\s,]*\b(?:please|now|then|too|as well|this time|thanks|thank you|instead|after all)$/i;

/** Splits a message into clauses. What stands in double quotes is never split: it comes back with `restore`. */
function split(text: string): { clauses: readonly string[]; restore: (clause: string) => string } {
  const quoted: string[] = [];
  const plain = text
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/"([^"]+)"/g, (_, inner: string) => `§${quoted.push(inner) - 1}§`)
    .replace(/\b(jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\./gi, '$1')
    .replace(/([a-z]),\s*(20\d\d)\b/gi, '$1 $2');
  const clauses = plain.split(BOUNDARY).flatMap((clause) => {
    const bare = trimmed(clause ?? '');
    return bare === '' ? [] : [bare];
  });
  return {
    clauses,
    restore: (clause) => clause.replace(/§(\d+)§/g, (_, n: string) => quoted[Number(n)] ?? ''),
  };
}

function trimmed(clause: string): string {
  const bare = clause.trim().replace(HEAD, '').replace(TAIL, '').trim();
  return bare === clause ? bare : trimmed(bare);
}

// ── orders ─────────────────────────────────────────────────────────────────────────────────────────────────

const NO_MAIL =
  /^(?:(?:do not|don't|never) (?:e-?mail|mail|send|forward)\b.*|cancel (?:the |that )?(?:e-?mail|mail))$/i;
const STOP =
  /^(?:stop|cancel|abort|never ?mind|forget|hold on|don't|do not)(?: (?:it|that|this|everything|the work|the report|working))?$/i;
const AGAIN =
  /^(?:(?:try|do) (?:it |that |this )?(?:again|once more)|again|once more|retry|continue|go on|carry on|resume|proceed)$/i;
const OUT =
  /^(?:(?:leave|keep|take) (.+?) out(?: of .+)?|(?:leave out|leaving out|exclude|excluding|omit|skip|ignore|drop|without|except for|except|minus|not counting|(?:do not|don't) (?:count|include)) (.+)|remove (.+) from (?:the|this|that) report)$/i;
const IN =
  /^(?:(?:include|count|add|keep) (.+?)|(?:put|bring|take) (.+?) back(?: in)?|with (.+?))(?: again| back| back in| in)*$/i;
const ACCOUNT =
  /^(?:(?:(?:the|my|our|this) )?account(?:'s name)?(?: name)? ?(?:is called|is named|is|:|=) ?(.+)|(?:for|of|use|take) (?:the )?account (.+)|(?:it is|it's) (§\d+§)|(§\d+§))$/i;

/** Null when the clause is not understood (I1). */
function readClause(clause: string, restore: (clause: string) => string): readonly Order[] | null {
  if (NO_MAIL.test(clause)) return [{ kind: 'no-mail' }];
  if (STOP.test(clause)) return [{ kind: 'stop' }];
  if (AGAIN.test(clause)) return [{ kind: 'again' }];
  const out = firstGroup(OUT, clause);
  if (out !== null) return aboutCustomer('leave-out', restore(out));
  const name = firstGroup(ACCOUNT, clause);
  if (name !== null) return [{ kind: 'account', name: restore(name).trim() }];
  return mail(clause) ?? report(clause) ?? included(clause, restore);
}

function included(clause: string, restore: (clause: string) => string): readonly Order[] | null {
  const who = firstGroup(IN, clause);
  return who === null ? null : aboutCustomer('include', restore(who));
}

function aboutCustomer(kind: 'leave-out' | 'include', said: string): readonly Order[] | null {
  const who = said
    .toLowerCase()
    .replace(/^(?:(?:the|all|any|every|our) |invoices? (?:of|for|from) )+/, '')
    .replace(/ (?:from|in|of|for) (?:the |this |that )?(?:report|sum|total|it|list|count)$/, '')
    .replace(/(?:'s)?(?: invoices?)?$/, '')
    .replace(/^test(?: customers)?$/, 'test customer');
  return who.length < 3 ? null : [{ kind, who }];
}

const MAIL_VERB = /^(?:e-?mail|mail|send|forward)\b/i;
const OWNER = /\b(?:the |our )?(?:account(?:'s)? )?owner(?: of the account)?\b/i;
const MAIL_OBJECT = /\b(?:report|summary|result|results|numbers|it|this|that)\b/i;
const MAIL_WORDS = new Set(
  'to by via per as an a with the it this that report summary result results numbers of for on invoices mail email e-mail corrected new latest last final full same again once more'.split(
    ' ',
  ),
);

function mail(clause: string): readonly Order[] | null {
  if (!MAIL_VERB.test(clause) || !OWNER.test(clause)) return null;
  const { months, rest } = findMonths(clause.replace(MAIL_VERB, '').replace(OWNER, ' '));
  if (months.length > 1 || !MAIL_OBJECT.test(rest) || !words(rest).every((word) => MAIL_WORDS.has(word)))
    return null;
  const again = /\b(?:again|once more)\b/i.test(rest);
  return [...months.map((month) => ({ kind: 'report' as const, month })), { kind: 'mail', again }];
}

const REPORT_WORDS = new Set(
  `report reports summary summarise summarize total totals sum sums invoice invoices invoiced bills billed billing month same again
  on for of from in about over up the a an all this that it its me us i we want need would like do did does make create write prepare give
  get show run have has what how many much was were is are there be let see fresh new monthly another one more take and with number numbers customer customers
  by per`.split(/\s+/),
);
const REPORT_TOPIC = /\b(?:report|summary|summari[sz]e|total|totals|sum|same|invoices?|bills|billed)\b/i;
/** "Create an invoice for March" is made of known words too, and asks for something else. */
const MAKING = /\b(?:make|create|write|prepare|run)\b/i;
const MADE = /\b(?:reports?|summary|totals?|sums?|same)\b/i;

function report(clause: string): readonly Order[] | null {
  const { months, rest } = findMonths(clause);
  const [month = null] = months;
  if (months.length > 1 || !words(rest).every((word) => REPORT_WORDS.has(word))) return null;
  if (MAKING.test(rest) && !MADE.test(rest)) return null;
  return month !== null || REPORT_TOPIC.test(rest) ? [{ kind: 'report', month }] : null;
}

// ── details ────────────────────────────────────────────────────────────────────────────────────────────────

/** What was said in answer to "Which account?": a name without more, if it can be one. */
function accountName(text: string): string | null {
  const name = text
    .trim()
    .replace(/^(?:it is|it's|that is|that's|use|take)\s+/i, '')
    .replace(/^["“'](.+)["”']\.?$/, '$1')
    .replace(/[.!]$/, '')
    .trim();
  return name !== '' && name.length <= 80 && !name.includes('\n') ? name : null;
}

const words = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}§-]+/gu) ?? [];

function firstGroup(pattern: RegExp, text: string): string | null {
  return (
    pattern
      .exec(text)
      ?.slice(1)
      .find((group) => group !== undefined) ?? null
  );
}
