/** A session among its kin, as it crosses HTTP. */

import { z } from 'zod';
import { amounts, spent } from './budget.ts';

const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();
const count = z.int().min(0);

const question = z.object({
  session: z.string().describe('Whose decision it is: it is answered there.'),
  decision: z.string(),
  about: z.enum(['approval', 'unknown', 'question']),
  question: z.string(),
  options: list(z.enum(['approve', 'reject', 'done', 'not-done', 'answer'])),
  choices: list(z.string()),
});

const unknown = z.object({
  ...{ session: z.string(), effect: z.string(), tool: z.string(), target: z.string() },
  identity: z.string().nullable(),
});

const notice = z.object({
  session: z.string(),
  about: z.enum(['kernel', 'retention']),
  since: z.number().describe('Since when it rests.'),
  until: z.number(),
  what: z.string().describe('What is given up then.'),
});

export const child = z.object({
  id: z.string(),
  title: z.string(),
  phase: z.string().describe('As its parent knows it; its own inspection has it exactly.'),
  asked: count.describe('Instructions of which nothing has come yet.'),
  since: z.number().describe('From when on it is at work, or rests.'),
  last: z
    .object({ turn: count, end: z.string(), text: z.string(), partial: list(z.string()) })
    .nullable()
    .describe('The last result that its parent has.'),
  spent: spent.nullable().describe('By it and all below it.'),
  questions: list(question).describe('Of it and all below it, open.'),
  unknown: list(unknown).describe('Effects of it and all below it whose outcome nobody knows.'),
  notices: list(notice).describe(
    'What of it and all below it is given up, unless something comes in before.',
  ),
});

export const childrenBudget = z.object({
  spent,
  held: z.object(amounts).describe('What those at work may still take: it counts as spent.'),
});
