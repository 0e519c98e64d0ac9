/**
 * What a person asks for beyond this once: rules, and what they like. Questions seldom share a word with them, so whoever
 * searches is shown them by their form. A guess by wording: it lifts a passage up, and decides nothing.
 */

export type Standing = 'rule' | 'preference' | null;

const RULE = new RegExp(
  [
    String.raw`\b(always|never|whenever|from now on|going forward|in (the )?future|at all times|every time|each time|by default|no matter)\b`,
    String.raw`\b(must|shall|should)( not|n't)?\b`,
    String.raw`\b(make sure|be sure|remember|don't forget|do not forget|take care|keep in mind|bear in mind)\b`,
    String.raw`\b(unless|only (if|when|after|with)|without (my|asking|first)|under no circumstances|is (forbidden|required|mandatory))\b`,
    String.raw`(^|[.!?;:]\s+|\bplease )(do not|don't|avoid|stop|no more)\b`,
    String.raw`(^|[.!?]\s+)(when(ever)?|if|each time|before|after|unless) (i|we|you|somebody|someone|anybody|anyone|any|an?)\b[^.?!]*, [^.?!]+([.!]|$)`,
    String.raw`\bbefore you\b|\bas a rule\b|\bthe (rule|policy) is\b|\bfrom (here|today|this point) on\b`,
  ].join('|'),
  'i',
);

const PREFERENCE = new RegExp(
  [
    String.raw`\b(i|we)( would|'d)?( really| generally| usually| much| still| also)? (prefer|like|love|enjoy|hate|dislike|favou?r|want|rather|am not a fan|find it easier|lean)\b`,
    String.raw`\bmy (favou?rite|preferred|preference|usual|taste)\b|\b(i'm|i am|we're|we are) (a fan|fond|keen|used to|allergic|vegetarian|vegan|happiest|most comfortable)\b`,
    String.raw`\b(works|suits|reads) (best|better) for (me|us)\b|\bi can't stand\b|\bto my (taste|liking)\b`,
  ].join('|'),
  'i',
);

export function standing(text: string): Standing {
  return RULE.test(text) ? 'rule' : PREFERENCE.test(text) ? 'preference' : null;
}
