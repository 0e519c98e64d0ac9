/** What crosses HTTP about conversations; all else about them is what crosses about sessions. */

import { z } from 'zod';

const name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, '1 to 64 of a-z, 0-9, dot, dash and underscore')
  .default('main')
  .describe('Each owner has one conversation under each name.');

export const converseBody = z.strictObject({ message: z.string(), name });

export const conversationQuery = z.strictObject({ name });

export const conversation = z.object({
  session: z.string().nullable().describe('Null until the first word.'),
});
