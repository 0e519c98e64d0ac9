/** The shapes of budgets that cross HTTP. Money is in micro-dollars: one dollar is 1,000,000. */

import { z } from 'zod';

const count = z.int().min(0);
export const amounts = {
  microUsd: count.describe('Money, in millionths of a dollar.'),
  tokens: count.describe('Of requests and replies.'),
  steps: count.describe('Model calls.'),
  ms: count.describe('Time of model calls and effects, added up.'),
};

const limit = count.nullable().optional().describe('A limit; null lifts it; left out it stays.');
const change = z.strictObject({ microUsd: limit, tokens: limit, steps: limit, ms: limit });

const limits = z.strictObject({
  microUsd: amounts.microUsd.optional(),
  tokens: amounts.tokens.optional(),
  steps: amounts.steps.optional(),
  ms: amounts.ms.optional(),
});

export const startBudget = z
  .strictObject({ turn: limits.optional(), session: limits.optional() })
  .optional()
  .describe('What each turn, and the whole session, may use. At a limit the session rests and says why.');

export const budgetBody = z.strictObject({ turn: change.optional(), session: change.optional() });

export const ownerBudgetBody = z.strictObject({
  limits: change.nullable().describe('null lifts all limits.'),
});

export const slotsBody = z.strictObject({
  slots: z.int().min(1).nullable().describe('null goes back to the number of the server.'),
});

export const stats = z.object({
  sessions: count,
  at: z.object({ resident: count, parked: count, archived: count }),
  keptForNothing: z
    .object({
      sessions: count,
      heldMbMinutes: z.number().describe('Memory that was held for a message that did not come.'),
      storedMbDays: z.number().describe('Images on the disk, up to now or to the stop.'),
    })
    .describe('Kept open, and ended or archived without a second instruction.'),
  closedTooEarly: z
    .object({
      sessions: count,
      times: count,
      wakeMs: count.describe('Until there was all that it had.'),
      tokensReadAgain: count,
    })
    .describe('One-shots that were completed and got a follow-up.'),
});

export const ownerSlots = z.object({
  slots: count.describe('How many sessions may work at once.'),
  isOwn: z.boolean().describe('Whether that is a number of yours.'),
  working: count,
  waiting: count,
});

export const spent = z.object({
  ...amounts,
  unpriced: count.describe('Model calls for which no price was known; they are in no sum of money.'),
  lost: count.describe('Model calls that came to no end.'),
});

export const sessionBudget = z.object({
  turn: limits,
  session: limits,
  spent,
  turnSpent: spent.nullable(),
  words: z.string().describe('What was spent, in words.'),
  isExhausted: z.boolean().describe('Whether the open turn rests until somebody raises it.'),
});

export const ownerBudget = z.object({
  limits,
  spent,
  held: z.object(amounts).describe('For calls that are under way, or came to no end.'),
  words: z.string(),
});
