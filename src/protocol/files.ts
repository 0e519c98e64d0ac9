/** The shapes of the files of a session, as they cross HTTP. */

import { z } from 'zod';
import { phase } from './schema.ts';

const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();
const count = z.int().min(0);
const positive = z.int().min(1);
const number = (from: number, to: number) => z.coerce.number().pipe(z.int().min(from).max(to));
const seq = number(1, Number.MAX_SAFE_INTEGER);
const place = z.string().min(1).max(4_000);

export const filesQuery = z.strictObject({
  at: seq.optional().describe('As they stood at this event; by default at the newest.'),
  after: z.string().optional().describe('The last path of the page before.'),
  limit: number(1, 1_000).default(1_000),
});

export const fileQuery = z.strictObject({
  path: z.string().min(1).max(4_000),
  at: seq.optional().describe('As it stood at this event; by default at the newest.'),
  from: number(0, Number.MAX_SAFE_INTEGER).default(0).describe('The first byte of the piece.'),
});

export const diffQuery = z.strictObject({
  from: seq.optional().describe('An event; by default the beginning of the last turn.'),
  to: seq.optional().describe('An event; by default the newest.'),
  path: z.string().max(4_000).optional().describe('Only this file or folder.'),
});

export const importBody = z.strictObject({
  from: place.describe("A folder of the server's machine, or a git remote."),
});

export const exportBody = z.strictObject({
  to: place.describe("A folder of the server's machine that is not there or empty, or a git remote."),
  at: positive.optional().describe('As they stood at this event; by default at the newest.'),
});

export const restoreBody = z.strictObject({ at: positive.describe('The event at which they stood.') });

const notes = list(z.object({ path: z.string(), why: z.string() }));

export const files = z.object({
  session: z.string(),
  at: count.describe('The event at which these files stood.'),
  files: count,
  bytes: count,
  entries: list(
    z.object({
      path: z.string(),
      kind: z.enum(['file', 'link', 'folder']),
      size: count,
      target: z.string().nullable().describe('Of links: where they lead.'),
      mode: count.nullable(),
      digest: z.string().nullable().describe('SHA-256 of a file.'),
    }),
  ),
  after: z.string().nullable().describe('Ask for the next page with it; null at the end.'),
});

export const file = z.object({
  path: z.string(),
  size: count,
  digest: z.string(),
  from: count,
  data: z.string().meta({ contentEncoding: 'base64', description: 'The bytes of this piece in base64.' }),
  next: count.nullable().describe('Where the next piece begins; null at the end.'),
});

export const diff = z.object({
  session: z.string(),
  from: count.describe('0 for the beginning of the last turn.'),
  to: count,
  shown: list(z.string()).describe('One for each path that differs.'),
  left: count.describe('Paths that differ too, and for which there was no room.'),
});

export const placed = z.object({
  session: z.string(),
  phase,
  files: count,
  bytes: count,
  left: notes.describe('What could not be kept.'),
});

export const exported = z.object({
  session: z.string(),
  at: z.string().describe('Where they are now.'),
  files: count,
  lost: notes,
});
