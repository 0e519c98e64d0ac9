/** The files of a session in one look, as they cross HTTP. */

import { z } from 'zod';

const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();
const count = z.int().min(0);

const fileNotes = list(z.object({ path: z.string(), why: z.string() }));

export const workspace = z.object({
  files: count,
  bytes: count,
  generation: count,
  isOpen: z.boolean(),
  drift: z.string().nullable().describe('What others have changed and no model has read of.'),
  restored: z.object({ rung: z.string(), at: z.number(), note: z.string() }).nullable(),
  lost: fileNotes,
  left: fileNotes.describe('What stands there and cannot be kept.'),
  commits: list(
    z.object({
      seq: count,
      at: z.number(),
      why: z.string(),
      effect: z.string().nullable(),
      changes: z.string(),
    }),
  ),
});
