/** The objects of a Python kernel, as they cross HTTP. */

import { z } from 'zod';

const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();

const kernelObject = z.object({
  name: z.string(),
  type: z.string(),
  size: z.number().nullable(),
  effect: z.string().describe('The call whose code last bound it.'),
});

export const kernel = z.object({
  generation: z.int().min(0),
  live: list(kernelObject),
  notice: z
    .object({ until: z.number(), unsaved: list(kernelObject.extend({ why: z.string() })) })
    .nullable()
    .describe("What is given up then, by the owner's policy, unless something comes in before."),
});
