/**
 * Which passages are shown, when only so many tokens are left for them.
 *
 * L1  Whole passages only, and the sum of their tokens with their citations is within the budget.
 * L2  Rules and preferences of the person have a share of it of their own, so that no pile of data pushes them out.
 * L3  What was chosen is not said again: of passages with the very same words, one is shown.
 * L4  Shown oldest first, so that what was corrected later is read later.
 */

import { wordsOf } from '../../lib/words.ts';
import type { Passage } from '../../projections/recall/passages.ts';
import type { Standing } from '../../projections/recall/rules.ts';

export interface Readable extends Passage {
  readonly standing: Standing;
}

export interface Chosen {
  readonly standing: readonly Readable[];
  readonly rest: readonly Readable[];
}

/** Four units to a token, as an estimate for text of any kind. */
export const UNITS = 4;
/** Of the line above a passage. */
export const CITATION = 10;
const SHARE = 0.15;

export const tokensOf = (text: string): number => Math.ceil(text.length / UNITS) + CITATION;

/** Both lists best first. */
export function choose(
  { best, standing }: { readonly best: readonly Readable[]; readonly standing: readonly Readable[] },
  budget: number,
): Chosen {
  const shown = new Set<string>();
  const take = (among: readonly Readable[], tokens: number): readonly Readable[] => {
    let left = tokens;
    return among.filter((passage) => {
      const cost = tokensOf(passage.text);
      if (cost > left) return false;
      const words = shownAs(passage);
      if (shown.has(words)) return false;
      shown.add(words);
      left -= cost;
      return true;
    });
  };
  const rules = take(standing, Math.floor(budget * SHARE));
  const used = rules.reduce((sum, { text }) => sum + tokensOf(text), 0);
  const rest = take(best, budget - used);
  return { standing: oldestFirst(rules), rest: oldestFirst(rest) };
}

/** The words of a passage, whatever their order: one name more or less, and it says something else. */
const shownAs = ({ text }: Passage): string =>
  [...new Set(wordsOf(text).map((word) => word.text))].sort().join(' ');

const oldestFirst = (passages: readonly Readable[]): readonly Readable[] =>
  [...passages].sort((a, b) => a.seq - b.seq || a.part - b.part);
