/**
 * One change of one file, done once however often it is asked for.
 *
 * C1  Before a file is written it is noted which call makes of what what: reference, path, digest before and after. A
 *     repeat that finds the digest after is done; that finds the digest before, does it; anything else is somebody
 *     else's doing, and it says so.
 * C2  What somebody else has changed since the session last read or committed it is not written over: `file.changed`.
 */

import { sha256 } from '../../lib/digest.ts';
import { isRecord, type Json } from '../../lib/json.ts';
import type { Found, Workspace } from '../../workspace/port.ts';
import type { RunContext } from '../port.ts';
import { Refused } from './file-tool.ts';
import { isKnown, seeAs } from './seen.ts';

export interface Change {
  readonly bytes: Uint8Array;
  /** What was done, for the model. */
  readonly said: string;
}

interface Note {
  readonly reference: string;
  readonly path: string;
  /** Null where there was no file. */
  readonly before: string | null;
  readonly after: string;
  readonly said: string;
}

const NOTES = 'notes';
const MOST_NOTES = 200;
/** What is written by hand is far smaller; the rest is the business of a shell. */
const MOST_BYTES = 16 * 1024 * 1024;

/** `make` gets what stands there, or null; what it cannot do it throws as `Refused`. */
export async function change(
  path: string,
  files: Workspace,
  { reference }: RunContext,
  make: (before: Uint8Array | null) => Change,
): Promise<string> {
  const found = await files.find(path);
  if (found.kind === 'folder') throw new Refused('file.folder', `"${path}" is a folder.`);
  if (found.kind === 'other') throw new Refused('file.special', `"${path}" is no regular file.`);
  const now = found.kind === 'file' ? found.digest : null;
  const notes = notesIn(await files.recall(NOTES));
  const note = notes.find((one) => one.reference === reference && one.path === found.path);
  if (note?.after === now) return note.said;
  const isExpected = note ? note.before === now : await isKnown(files, found);
  if (!isExpected) throw changed(path, now);
  const { bytes, said } = make(await contentOf(found, files));
  if (bytes.length > MOST_BYTES)
    throw new Refused(
      'file.too_big',
      `${bytes.length} bytes are more than the ${MOST_BYTES} that a file tool writes.`,
    );
  const after = sha256(bytes);
  if (!note) {
    const noted: Note = { reference, path: found.path, before: now, after, said };
    await files.remember(NOTES, [...notes.slice(1 - MOST_NOTES), noted] as unknown as Json);
  }
  if (after !== now) await files.write(found.path, bytes);
  await seeAs(files, found.path, after);
  return said;
}

const changed = (path: string, now: string | null): Refused =>
  new Refused(
    'file.changed',
    now === null
      ? `"${path}" is gone since it was last read or committed here: somebody else removed it. Nothing was written. Next: read it again.`
      : `"${path}" was changed by somebody else since it was last read or committed here. Nothing was written. Next: read it again.`,
  );

async function contentOf(found: Found, files: Workspace): Promise<Uint8Array | null> {
  if (found.kind !== 'file') return null;
  if (found.size > MOST_BYTES)
    throw new Refused(
      'file.too_big',
      `It has ${found.size} bytes; a file tool changes files of up to ${MOST_BYTES}.`,
    );
  const bytes = await files.read(found.path, 0, found.size);
  // Between the two looks somebody else was at it.
  if (sha256(bytes) !== found.digest) throw changed(found.path, found.digest);
  return bytes;
}

function notesIn(value: Json): readonly Note[] {
  return Array.isArray(value) ? (value.filter(isRecord) as unknown as Note[]) : [];
}
