import { describe, expect, it, test } from 'vitest';
import type { Passage, PassageKind } from '../../projections/recall/passages.ts';
import { makeBatch } from '../../projections/recall/word-index.ts';
import { choose, type Readable, tokensOf } from './choose.ts';
import { daysIn } from './dates.ts';
import { type Cited, inWords } from './render.ts';
import { candidates, type Question } from './score.ts';

const NOON = Date.UTC(2031, 3, 5, 12);

const passages = (...said: readonly (readonly [PassageKind, string])[]): readonly Passage[] =>
  said.map(([kind, text], at) => ({ seq: at + 1, part: 1, kind, at: NOON + at * 60_000, from: 0, text }));

/** Places of the best passages, from 1. */
function best(log: readonly Passage[], question: Question | string, split = log.length): readonly number[] {
  const batches = [
    makeBatch(0, split, log.slice(0, split)),
    ...(split < log.length ? [makeBatch(split, log.length, log.slice(split))] : []),
  ];
  const asked = typeof question === 'string' ? { words: question } : question;
  return candidates(batches, asked, 10).best.map(({ entry }) => entry.seq);
}

const FILLER = Array.from({ length: 30 }, (_, at) => ['result', `{"row":${at},"state":"ok"}`] as const);

describe('score', () => {
  it('K2 finds an answer that repeats no word of the question, beside what does', () => {
    const log = passages(
      ...FILLER,
      ['message', 'Which venue did you book for the offsite?'],
      ['response', 'The Old Mill.'],
      ...FILLER,
    );
    expect(best(log, 'venue of the offsite').slice(0, 2)).toEqual([31, 32]);
  });

  it('K2 finds an answer behind the work that was done for it', () => {
    const log = passages(
      ...FILLER,
      ['message', 'Which venue did you book for the offsite?'],
      ['call', 'look {"page":1}'],
      ...FILLER.slice(0, 4),
      ['response', 'The Old Mill.'],
      ...FILLER,
    );
    expect(best(log, 'venue of the offsite')).toContain(37);
  });

  it('K3 puts an exact value before many words, and a person before a print', () => {
    const log = passages(
      ['result', 'invoice total total invoice INV-2031-0041'],
      ['result', 'paid INV-2031-0042'],
      ...FILLER,
      ['output', 'the total of all invoices'],
      ...FILLER,
      ['message', 'the total of all invoices'],
    );
    expect(best(log, 'total of invoice INV-2031-0042')[0]).toBe(2);
    expect(best(log, 'the total of all invoices')[0]).toBe(log.length);
  });

  it('K4 gives the newer of two that are as good', () => {
    const log = passages(
      ['message', 'The code is red'],
      ...FILLER,
      ['message', 'The code is blue'],
      ...FILLER,
    );
    expect(best(log, 'which code is it')[0]).toBe(32);
  });

  it('K1 is the same however the log is cut into batches', () => {
    const log = passages(...FILLER, ['message', 'row 7 is wrong'], ...FILLER);
    for (const split of [1, 20, 31, 60]) expect(best(log, 'row 7', split)).toEqual(best(log, 'row 7'));
  });

  it('looks only at the kind and the time that is asked for', () => {
    const log = passages(['message', 'rent'], ['result', 'rent'], ['message', 'rent']);
    expect(best(log, { words: 'rent', kind: 'result' })).toEqual([2]);
    expect(best(log, { words: 'rent', from: NOON + 60_000 })).toEqual([3, 2]);
    expect(best(log, { words: 'rent', to: NOON })).toEqual([1]);
  });

  it('takes a day that is named for a word of all that was said on it', () => {
    const later = passages(...FILLER).map((one) => ({ ...one, at: one.at + 9 * 24 * 3_600_000 }));
    const log = [...passages(...FILLER, ['message', 'Send the deck to Ann'], ...FILLER), ...later];
    const renumbered = log.map((one, at) => ({ ...one, seq: at + 1 }));
    expect(best(renumbered, 'What did I want on 5 April 2031?')[0]).toBe(31);
  });

  it('gives rules by themselves, though no word of the question is in them', () => {
    const log = passages(['message', 'Never mail a client before noon.'], ...FILLER);
    const found = candidates([makeBatch(0, log.length, log)], { words: 'row 7' }, 10);
    expect(found.standing.map(({ entry }) => entry.seq)).toEqual([1]);
  });
});

test('days that a question names', () => {
  const day = { from: Date.UTC(2031, 3, 5), to: Date.UTC(2031, 3, 6) - 1 };
  for (const text of ['on 2031-04-05?', 'on 5 April 2031', 'the 5th of April, 2031', 'on Apr 5, 2031'])
    expect(daysIn(text), text).toEqual([day]);
  expect(daysIn('in April, at 5, for 2031 francs; 2031-13-45')).toEqual([]);
});

describe('choose', () => {
  const readable = (...texts: readonly string[]): readonly Readable[] =>
    passages(...texts.map((text) => ['message', text] as const)).map((one) => ({ ...one, standing: null }));
  const all = (best: readonly Readable[], budget: number, standing: readonly Readable[] = []) =>
    choose({ best, standing }, budget);
  const words = (n: number): string => Array.from({ length: 60 }, (_, at) => `word${n * 100 + at}`).join(' ');

  it('L1 stays within the budget, with whole passages, and fills what is left with smaller ones', () => {
    const many = readable(words(1), words(2), words(3), 'small one');
    const budget = tokensOf(words(1)) + tokensOf(words(2)) + tokensOf('small one');
    const chosen = all(many, budget).rest;
    expect(chosen.map(({ seq }) => seq)).toEqual([1, 2, 4]);
    expect(chosen.reduce((sum, { text }) => sum + tokensOf(text), 0)).toBeLessThanOrEqual(budget);
    expect(all(many, 3).rest).toEqual([]);
  });

  it('L2 keeps a share for rules, and shows them once', () => {
    const rule = { ...(readable('Always round up.')[0] as Readable), seq: 99, standing: 'rule' as const };
    const pile = readable(...Array.from({ length: 50 }, (_, at) => words(at)));
    const chosen = all([...pile, rule], 400, [rule]);
    expect(chosen.standing).toEqual([rule]);
    expect(chosen.rest).not.toContain(rule);
    const rules = Array.from({ length: 50 }, (_, at) => ({ ...rule, seq: 100 + at, text: words(at) }));
    expect(all(pile, 4_000, rules).rest.length).toBeGreaterThan(all(pile, 4_000, rules).standing.length);
  });

  it('L3 shows what says the same once, and both where a value differs', () => {
    const same = readable(
      'The meeting is in the blue room upstairs',
      'the meeting is in the blue room upstairs!',
    );
    expect(all(same, 400).rest).toHaveLength(1);
    const differ = readable('The price of the room is 120 francs', 'The price of the room is 130 francs');
    expect(all(differ, 400).rest).toHaveLength(2);
    const named = readable('Go through all invoices of Norval Ltd', 'Go through all invoices of Temkar Ltd');
    expect(all(named, 400).rest).toHaveLength(2);
  });

  it('L4 shows the oldest first', () => {
    const [a, b, c] = readable('one', 'two', 'three') as [Readable, Readable, Readable];
    expect(all([c, a, b], 400).rest).toEqual([a, b, c]);
  });
});

test('Q1: what was recalled is cited, and a page says how to go on', () => {
  const one: Cited = {
    ...{ id: '#41.2', seq: 41, kind: 'result', at: NOON, standing: null },
    ...{ text: 'paid', offset: 1_200, length: 5_000 },
  };
  const recalled = { passages: [one], older: 0, skipped: 0 };
  expect(inWords({ ...recalled, by: 'id' })).toBe(
    '#41.2 result, 2031-04-05 12:00, characters 1200 to 1204 of 5000\npaid\n… 3796 more: recall #41 from offset 1204 …',
  );
  expect(inWords({ ...recalled, by: 'words' })).toContain('Passages of the log, oldest first:\n#41.2 result');
  expect(inWords({ ...recalled, by: 'time', older: 7, skipped: 2 })).toMatch(
    /^… 7 older: offset 3 …\n#41\.2 result/,
  );
  expect(inWords({ ...recalled, by: 'words', passages: [] })).toMatch(/^Nothing/);
});
