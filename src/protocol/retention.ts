/** Deleting a session, and what is said before and after, as it crosses HTTP. */

import { z } from 'zod';
import { spent } from './budget.ts';

const count = z.int().min(0);

/** In the inspection of a session that is not kept for ever. */
export const retention = z.object({
  keptMs: count,
  deleteAt: z.number().nullable().describe('Then it is deleted, unless something comes in before.'),
});

export const deleteBody = z.strictObject({
  waitMs: count.max(60_000).optional().describe('How long to wait until it is done.'),
});

export const deleted = z.object({
  session: z.string(),
  status: z.enum(['deleted', 'deleting']),
  at: z.number().nullable().describe('When it was; null while it is on its way.'),
  had: z
    .object({
      ...{ events: count, turns: count, images: count, attachments: count, snapshots: count, bytes: count },
      effects: z.record(z.string(), count).describe('How many effects ended how.'),
      spent,
    })
    .nullable()
    .describe('What went, counted.'),
});

export type Deleted = z.output<typeof deleted>;
