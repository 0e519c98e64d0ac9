/**
 * What a person asks for beyond this once: rules, and what they like. Questions seldom share a word with them, so whoever
 * searches is shown them by their form. A guess by wording: it lifts a passage up, and decides nothing.
 */

import { rulesIn } from '../../core/context/rule.ts';

export type Standing = 'rule' | 'preference' | null;

/** What may be meant for this once as well: enough to look at, too little to keep for ever (`core/context/rule`). */
const LIKELY = new RegExp(
  [
    String.raw`\b(must|shall|should)( not|n't)?\b`,
    String.raw`\b(make sure|be sure|remember|don't forget|do not forget|take care|keep in mind|bear in mind)\b`,
    String.raw`\b(is (forbidden|required|mandatory)|without first)\b`,
    String.raw`(^|[.!?;:]\s+|\bplease )(do not|don't|avoid|stop|no more)\b`,
    String.raw`(^|[.!?]\s+)(when(ever)?|if|each time|before|after|unless) (i|we|you|somebody|someone|anybody|anyone|any|an?)\b[^.?!]*, [^.?!]+([.!]|$)`,
    String.raw`\bbefore you\b|\bfrom (here|today|this point) on\b`,
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
  return rulesIn(text) !== null || LIKELY.test(text) ? 'rule' : PREFERENCE.test(text) ? 'preference' : null;
}
