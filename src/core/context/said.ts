/**
 * What people have said, once it has left the view: which of it stands there as it was said, which by its beginning, and
 * which is only counted. Nothing of it is ever put into other words.
 *
 * T1  What is over stands whole within a share of the window, the newest first; then its beginning stands with its
 *     number, then it is counted.
 * T2  The order, rules and what is open stand whole, however long they are. Only where no request could hold the view do
 *     they stand by their beginnings, each with its number, and only when that helps: so that a smaller instruction works.
 */

import { head as headOf, oneLine } from '../../lib/text.ts';
import type { Limits } from '../limits.ts';
import type { State } from '../state.ts';
import { rulesIn } from './rule.ts';
import { contextSize, fixedTokens, instructionTokens, isTooLarge, mostTokens } from './size.ts';
import type { Instruction, Past } from './state.ts';

/** Of the window, or of the view where that is set by hand: for all that is over and stands whole. */
const OVER_SHARE = 0.003;
/** With fewer than so many that are over and stand whole, the beginnings of older ones are shown. */
const NAMED = 12;
const NAME_CHARS = 80;

/** T1. In the order in which they were said. */
export function shown(all: readonly Instruction[], limits: Limits): readonly Instruction[] {
  const { windowTokens, contextTokens } = limits;
  const view = contextTokens > 0 ? Math.min(contextTokens, windowTokens) : windowTokens;
  let left = Math.floor(view * OVER_SHARE);
  let room = NAMED;
  const newestFirst = [...unrepeated(all)].reverse().flatMap((one): readonly Instruction[] => {
    if (one.status === 'order' || one.status === 'open') return [one];
    const brief = one.status === 'rule' ? ruleOf(one) : begun(one, NAME_CHARS);
    const beside = instructionTokens(one) - (one.status === 'rule' ? instructionTokens(brief) : 0);
    const isWhole = !one.cut && beside <= left;
    if (isWhole) left -= beside;
    if (one.status === 'rule') return [isWhole ? one : brief];
    room--;
    return isWhole ? [one] : room >= 0 ? [brief] : [];
  });
  return newestFirst.reverse();
}

/** A rule that is said again stands once, at its newest place. */
function unrepeated(all: readonly Instruction[]): readonly Instruction[] {
  const isRule = ({ status, cut }: Instruction): boolean => status === 'rule' && !cut;
  const newest = new Map(all.filter(isRule).map((one) => [ruleOf(one).text, one]));
  return all.filter((one) => !isRule(one) || newest.get(ruleOf(one).text) === one);
}

/** The sentences that say it. */
function ruleOf(one: Instruction): Instruction {
  const rules = one.cut ? null : rulesIn(one.text);
  return rules === null || rules === one.text ? one : { ...one, text: rules };
}

// ── where nothing else helps ───────────────────────────────────────────────────────────────────────────────

/** Characters of each that are left, the most that is possible; at the end the number alone. */
const BEGINNINGS = [2_000, 600, 200, 80, 24, 0] as const;
/** Of what is free beside rules and tools: the past shall leave room for some work. */
const ROOMY = 3 / 4;

/** T2: its view in a form that a request can hold; as it is where there is none. `bare` are its lines, by number alone. */
export function tightened(s: State, bare: Past['sections']): State {
  const { past } = s.context;
  if (past === null || !isTooLarge(s)) return s;
  const fixed = fixedTokens(s);
  const roomy = fixed + (mostTokens(s.contract.limits) - fixed) * ROOMY;
  const forms = BEGINNINGS.map((chars) => withPast(s, cutTo(past, bare, chars))).filter(
    (form) => !isTooLarge(form),
  );
  return forms.find((form) => contextSize(form).tokens <= roomy) ?? forms.at(-1) ?? s;
}

function cutTo(past: Past, sections: Past['sections'], chars: number): Past {
  const instructions = past.instructions.flatMap((one): readonly Instruction[] => {
    const { status } = one;
    return status === 'order' || status === 'rule' || status === 'open' ? [begun(one, chars)] : [];
  });
  const dropped = past.instructions.length - instructions.length;
  return { ...past, sections, instructions, more: past.more + dropped };
}

const withPast = (s: State, past: Past): State => ({ ...s, context: { ...s.context, past } });

/** Its beginning; where nothing is missing but how its lines were broken, it is not called cut. */
function begun(one: Instruction, chars: number): Instruction {
  if (one.text.length <= chars) return one;
  const text = chars > NAME_CHARS ? headOf(one.text, chars) : chars === 0 ? '' : oneLine(one.text, chars);
  return { ...one, text, cut: true };
}
