import { expect, test } from 'vitest';
import { standing } from './rules.ts';

test.each([
  'Always answer in Swiss francs.',
  'Never mail a client before noon.',
  'From now on put a table at the top.',
  'When you deploy, run the smoke test twice.',
  'Please do not touch the archive.',
  'Make sure that each date is written out.',
  'No invoice goes out unless Dana has seen it.',
  'You must ask me first.',
])('a rule: %s', (text) => expect(standing(text)).toBe('rule'));

test.each([
  'I prefer short tables.',
  'My favourite colour is teal.',
  'I would rather walk.',
  'It reads better for me in a table.',
])('a wish: %s', (text) => expect(standing(text)).toBe('preference'));

test.each([
  'Go through the invoices of Norval Ltd and tell me what is open.',
  'How far are we with the fair in Bern?',
  'When do you deploy?',
  'Pay INV-2031-0042.',
  'The report is good, thank you.',
])('neither: %s', (text) => expect(standing(text)).toBeNull());
