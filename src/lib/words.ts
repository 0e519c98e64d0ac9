/**
 * Words of a text, as an index and a question compare them.
 *
 * W1  Letters of every script count; case and accents do not.
 * W2  An exact value (`INV-2031-0042`, a date, an amount, a path, a hash) is one word, and its pieces are words as well.
 * W3  Plain words lose the commonest endings of English, so that `invoices` finds `invoice`. Exact values never do.
 */

export interface Word {
  readonly text: string;
  /** It holds a digit, or pieces that belong together: whoever names it means this very one. */
  readonly isExact: boolean;
}

/** Longer ones are no words; a SHA-512 in hex still is. */
const LONGEST = 128;

/** Letters and digits, held together by what stands between the pieces of names, paths, dates and amounts. */
const RUN = /[\p{L}\p{N}]+(?:(?:[-_./:@\\#~=+&]+|(?<=\p{N}),(?=\p{N}))[\p{L}\p{N}]+)*/gu;
const PIECE = /[\p{L}\p{N}]+/gu;
/** `invoiceTotal`, `HTTPServer2`: where a name of a program changes. */
const HUMPS = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lo}+|\p{N}+/gu;
const MARKS = /\p{M}+/gu;
const APOSTROPHE = /(?<=\p{L})['’](?=\p{L})/gu;

/** Every word of the text in its order, with repeats. */
export function wordsOf(text: string): Word[] {
  const found: Word[] = [];
  for (const [run] of plain(text).matchAll(RUN)) for (const word of wordsIn(run)) found.push(word);
  return found;
}

/** Without accents, and without the apostrophes inside words. */
function plain(text: string): string {
  // Most text is of this kind, and then nothing of it changes.
  if (/^[\x20-\x26\x28-\x7e\s]*$/.test(text)) return text;
  return text.normalize('NFKD').replace(MARKS, '').replace(APOSTROPHE, '');
}

/** What was cut up lately: the same runs come again and again. Changes nothing but the time that it takes. */
const lately = new Map<string, readonly Word[]>();
const REMEMBERED = 20_000;

function wordsIn(run: string): readonly Word[] {
  const known = lately.get(run);
  if (known) return known;
  const words = cutUp(run);
  if (lately.size >= REMEMBERED) lately.clear();
  lately.set(run, words);
  return words;
}

function cutUp(run: string): readonly Word[] {
  if (run.length > LONGEST) return [];
  const found: Word[] = [];
  const pieces = run.match(PIECE) ?? [];
  if (pieces.length > 1) {
    found.push({ text: run.toLowerCase(), isExact: /\p{N}/u.test(run) || pieces.length > 2 });
  }
  for (const piece of pieces) {
    const whole = piece.toLowerCase();
    const isNumber = /\p{N}/u.test(piece);
    found.push({ text: isNumber ? whole : stem(whole), isExact: pieces.length === 1 && isNumber });
    const humps = /\p{Ll}\p{Lu}|\p{L}\p{N}|\p{N}\p{L}/u.test(piece) ? (piece.match(HUMPS) ?? []) : [];
    // A hash has humps everywhere, and none of them means anything.
    if (humps.length < 2 || humps.length > 5) continue;
    for (const hump of humps) found.push({ text: stem(hump.toLowerCase()), isExact: false });
  }
  return found;
}

function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  let base = word;
  if (base.endsWith('ies') && base.length > 4) base = `${base.slice(0, -3)}y`;
  else if (/[^siu]s$/.test(base)) base = base.slice(0, -1);
  if (base.endsWith('ing') && base.length > 5) base = undoubled(base.slice(0, -3));
  else if (base.endsWith('ed') && base.length > 4) base = undoubled(base.slice(0, -2));
  else if (base.endsWith('ly') && base.length > 5) base = base.slice(0, -2);
  return base.endsWith('e') && base.length > 3 ? base.slice(0, -1) : base;
}

/** `planned` is `plan`, and `called` is `call`. */
const undoubled = (base: string): string => (/([bdgmnprt])\1$/.test(base) ? base.slice(0, -1) : base);

/** Words that a question has for its grammar: they say nothing about what is looked for. */
const GRAMMAR = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by can could
  did do does doing done down during each few for from further had has have having he her here hers him his how i if in into is
  it its itself just let me more most my no nor not now of off on once or other our out over own please same say said she should
  so some such tell than that the their them then there these they this those through to too under until up us very was we were
  what when where which while who whom why will with would you your`
    .split(/\s+/)
    .map(stem),
);

/** The words of a question that can find something, each once; all of them when it has only grammar. */
export function asked(question: string): Word[] {
  const all = new Map(wordsOf(question).map((word) => [word.text, word]));
  const telling = [...all.values()].filter(({ text }) => !GRAMMAR.has(text));
  return telling.length > 0 ? telling : [...all.values()];
}
