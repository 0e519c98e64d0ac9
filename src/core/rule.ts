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
    String.raw`\b(always|never|whenever|every time|each time|at all times)\b`,
    String.raw`\b(from now on|from here on|going forward|in future|in the future|until further notice|henceforth)\b`,
    String.raw`\b(do not|don't|dont|must not|mustn't|may not|no longer|under no circumstances) (ever|use|touch|change|send|pay|write|delete|edit|call|contact|book|mail|commit|push|deploy|share|include|mention|run|without)\b`,
    String.raw`\b(remember|keep in mind|note) (that|this|to|:)`,
    String.raw`\b(make sure|be sure|ensure|as a rule|by default|rule:|the rule is|it is forbidden|forbidden)\b`,
    String.raw`\bonly (ever|use|write|send|with|if|when|after)\b`,
    String.raw`\b(i|we) (prefer|insist|want you to always|expect you to)\b`,
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
