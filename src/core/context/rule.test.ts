import { expect, it } from 'vitest';
import { rulesIn } from './rule.ts';

it.each([
  'Always give amounts in Swiss francs.',
  'Never mail a client without asking me first.',
  'From now on put a table at the top of each report.',
  'You must not touch the archive folder.',
  'Make sure that every date is written as 2031-04-05.',
  'Every figure that leaves the house is in euros, whoever asks.',
  'Under no circumstances is the ledger of last year to be edited.',
  'Whenever a job fails, keep its log for me.',
  'In future, sign letters with both our names.',
  'No invoice goes out unless Dana has seen it.',
  'Going forward, quote the source next to each number.',
  "Don't push to main.",
])('L1 %s', (text) => expect(rulesIn(text)).toBe(text));

it.each([
  "Report on February's invoices",
  'Now do the same for March.',
  'How far are we with the fair in Basel?',
  'Is INV-2031-0042 of Noven AG still open?',
  'Thanks, that is all.',
  'Read all twenty pages and sum them up.',
])('what is asked for once is no rule: %s', (text) => expect(rulesIn(text)).toBeNull());

it('L2 of a long message the sentences that say it, word for word', () => {
  const rule = 'Never write to the archive account.';
  const long = `${'We looked at the books of last year together. '.repeat(15)}${rule} ${'And then there was the fair. '.repeat(15)}`;
  expect(rulesIn(long)).toBe(rule);
});
