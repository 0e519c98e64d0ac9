/**
 * Rules: what a person says that is to hold from then on, whatever is answered. They stay in the model's view word for
 * word, so they are found by their wording and by nothing else: no model, and no text of a tool, has a say in it.
 *
 * L1  Only a person's message is looked at. Rather one sentence too many is kept than one too few.
 * L2  Of a short message all is kept, of a long one the sentences that say it.
 */

/** A message up to here is kept whole. */
const SHORT = 600;

const RULE = new RegExp(
  [
    String.raw`\b(always|never|whenever|every time|each time|at all times|no matter (what|who|how|when|which))\b`,
    String.raw`\b(from now on|from here on|going forward|in (the )?future|until further notice|henceforth|by default)\b`,
    String.raw`\b(from (today|this point) on|as a rule|(the|our|my) (rule|policy) is|rule:)(?!\w)`,
    String.raw`\b(must not|mustn't|may not|no longer|under no circumstances|(is|are) (not to be|forbidden|mandatory|required))\b`,
    String.raw`(^|[.!?;:]\s+|\bplease )(do not|don't|avoid|no more)\b`,
    String.raw`\b(remember|keep in mind|bear in mind|make sure|be sure|take care) (that|this|to|not|of|:)`,
    String.raw`\b(unless|only (if|when|after|ever|use|with)|without (asking|my) )`,
    String.raw`\b(whoever|whatever|wherever|whichever) \w+s\b`,
    String.raw`(^|[.!?]\s+)(every|each|all|any|no) [^.!?]{3,60}\b(is|are|gets?|goes|go|must|has to|have to|needs?)\b`,
    String.raw`\b(i|we) (insist|want you to always|expect you to)\b`,
  ].join('|'),
  'i',
);

/** The rules in what a person said, word for word; null when there are none. */
export function rulesIn(text: string): string | null {
  if (known?.text !== text) known = { text, rules: found(text) };
  return known.rules;
}

/** Asked of the same long message at every look for work, where it stands. */
let known: { readonly text: string; readonly rules: string | null } | null = null;

function found(text: string): string | null {
  if (!RULE.test(text)) return null;
  if (text.length <= SHORT) return text;
  const rules = sentences(text).filter((sentence) => RULE.test(sentence));
  return rules.length === 0 ? text : rules.join('\n');
}

/** Lines, and sentences within them; none of their words is changed. */
function sentences(text: string): readonly string[] {
  return text
    .split(/\n+/)
    .flatMap((line) => line.split(/(?<=[.!?])\s+(?=\p{Lu}|\p{N}|["'(])/u))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}
