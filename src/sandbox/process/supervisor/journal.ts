/**
 * The journal of a session's commands: what was accepted under which reference, and how it ended. It outlives the
 * supervisor, so that a reference is never run twice and what was cut off is known.
 *
 * J1  That a command was accepted is on the disk before it is started.
 * J2  A last line that was torn is passed over: whatever it was to say has not begun.
 */

import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { parseJson } from '../../../lib/json.ts';
import type { Ending } from '../port.ts';

export interface Entry {
  readonly reference: string;
  readonly job: string;
  readonly command: string;
  readonly startedAt: number;
  readonly end: End | null;
}

export interface End {
  readonly exitCode: number | null;
  readonly ending: Ending;
  readonly ms: number;
}

/** What was written to a job. */
interface Written {
  readonly reference: string;
  readonly isRead: boolean;
}

type Line =
  | ({ readonly event: 'written' } & Written)
  | ({ readonly event: 'accepted' } & Omit<Entry, 'end'>)
  | ({ readonly event: 'ended'; readonly reference: string } & End);

export interface Journal {
  accept(entry: Omit<Entry, 'end'>): void;
  end(reference: string, end: End): void;
  /** Whether somebody read what was written under this reference; undefined before it was. */
  written(reference: string): boolean | undefined;
  write(reference: string, isRead: boolean): void;
}

export function openJournal(path: string): Journal {
  const append = (line: Line, isFlushed: boolean): void => {
    const file = openSync(path, 'a', 0o600);
    try {
      writeFileSync(file, `${JSON.stringify(line)}\n`);
      if (isFlushed) fsyncSync(file);
    } finally {
      closeSync(file);
    }
  };
  // A torn line must not swallow the one after it.
  const { isTorn, lines } = read(path);
  const written = new Map<string, boolean>();
  for (const line of lines) if (line.event === 'written') written.set(line.reference, line.isRead);
  if (isTorn) writeFileSync(path, '\n', { flag: 'a' });
  return {
    accept: (entry) => append({ event: 'accepted', ...entry }, true),
    end: (reference, end) => append({ event: 'ended', reference, ...end }, false),
    written: (reference) => written.get(reference),
    write(reference, isRead) {
      written.set(reference, isRead);
      append({ event: 'written', reference, isRead }, true);
    },
  };
}

/** All that was accepted, in its order. Null when there is no journal. */
export function readJournal(path: string): readonly Entry[] | null {
  if (!existsSync(path)) return null;
  const entries = new Map<string, Entry>();
  for (const line of read(path).lines) {
    if (line.event === 'written') continue;
    if (line.event === 'accepted') {
      const { event: _, ...entry } = line;
      entries.set(line.reference, { ...entry, end: null });
      continue;
    }
    const entry = entries.get(line.reference);
    const { exitCode, ending, ms } = line;
    if (entry) entries.set(line.reference, { ...entry, end: { exitCode, ending, ms } });
  }
  return [...entries.values()];
}

function read(path: string): { readonly lines: readonly Line[]; readonly isTorn: boolean } {
  if (!existsSync(path)) return { lines: [], isTorn: false };
  const text = readFileSync(path, 'utf8');
  const lines = text.split('\n').flatMap((line) => {
    const read = parseJson(line);
    return read === undefined ? [] : [read as unknown as Line];
  });
  return { lines, isTorn: text !== '' && !text.endsWith('\n') };
}
