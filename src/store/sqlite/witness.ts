/**
 * A second word on what was acknowledged: one line per commit, in a small file beside the database.
 *
 * SQLite ends its write-ahead log at the first frame that does not check out, and opens as if the commits behind it had
 * never been. Whole and consistent, only older: nothing inside the database can tell. The witness can.
 *
 * W1  A line is written after its commit is durable and before it is acknowledged. So the database is never behind a
 *     line, unless it lost something.
 * W2  Lines are not flushed one by one: the death of the process does not lose them, the death of the machine may. Then
 *     less is witnessed, and nothing is claimed falsely.
 * W3  `reset` keeps only what it is given. It follows a checkpoint, when the commits are in the database file itself.
 * W4  What does not read as a line is skipped: a torn line witnesses nothing.
 */

import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import type { SessionId } from '../../core/ids.ts';

/** The log of `session` stood at `seq`, with a checksum that begins with `sum`. */
export interface Mark {
  readonly session: SessionId;
  readonly seq: number;
  readonly sum: string;
}

export interface Witness {
  /** Bytes since the last reset; when they are many, it is time for one. */
  readonly size: number;
  note(marks: readonly Mark[]): void;
  reset(keep: readonly Mark[]): void;
  close(): void;
}

const LINE = /^(ses_[0-9a-z]+) (\d+) ([0-9a-f]{16}) \.$/;

/** The last mark of each session. */
export function readMarks(path: string): ReadonlyMap<SessionId, Mark> {
  const marks = new Map<SessionId, Mark>();
  for (const line of existsSync(path) ? readFileSync(path, 'latin1').split('\n') : []) {
    const [, session, seq, sum] = LINE.exec(line) ?? [];
    if (session && seq && sum) marks.set(session as SessionId, { session: session as SessionId, seq: Number(seq), sum });
  }
  return marks;
}

export function openWitness(path: string): Witness {
  let file = openSync(path, 'a', 0o600);
  let size = 0;
  return {
    get size() {
      return size;
    },

    note(marks) {
      const lines = marks.map(toLine).join('');
      try {
        size += writeSync(file, lines);
      } catch {
        // The commits stand (W1); they merely have no witness. A full disk is the usual reason.
      }
    },

    reset(keep) {
      size = 0;
      const next = openSync(`${path}.next`, 'w', 0o600);
      writeSync(next, keep.map(toLine).join(''));
      fsyncSync(next);
      renameSync(`${path}.next`, path);
      closeSync(file);
      file = next;
    },

    close() {
      closeSync(file);
    },
  };
}

function toLine({ session, seq, sum }: Mark): string {
  return `${session} ${seq} ${sum} .\n`;
}
