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
 * W3  `reset` follows a checkpoint, when the commits are in the database file itself. It keeps the marks of the sessions
 *     it is given, and always the latest one: it tells a database file that was put back from an older copy. What it
 *     leaves out must not come back with a power cut: after `forget` it would tell of a loss that somebody accepted.
 * W4  What does not read as a line is skipped: a torn line witnesses nothing.
 */

import { dirname } from 'node:path';
import type { SessionId } from '../../core/ids.ts';
import type { Files } from '../files.ts';

/** The log of `session` stood at `seq`, with a checksum that begins with `sum`. */
export interface Mark {
  readonly session: SessionId;
  readonly seq: number;
  readonly sum: string;
}

export interface Witness {
  /** Bytes since the last reset; when they are many, it is time for one. */
  readonly size: number;
  /** The last mark of each session that has one, the latest at the end. */
  marks(): readonly Mark[];
  mark(session: SessionId): Mark | null;
  /** Does not throw: commits stand without it, they merely have no witness. */
  note(marks: readonly Mark[]): void;
  reset(keep: readonly SessionId[]): void;
  /** What was said of this session holds no more; gone from the file with the next reset. */
  forget(session: SessionId): void;
  close(): void;
}

export function openWitness(files: Files, path: string): Witness {
  const marks = readMarks(files.read(path));
  let file = files.open(path);
  let size = 0;
  return {
    get size() {
      return size;
    },
    marks: () => [...marks.values()],
    mark: (session) => marks.get(session) ?? null,

    note(noted) {
      for (const mark of noted) put(marks, mark);
      try {
        size += file.write(noted.map(toLine).join(''));
      } catch {
        // A full disk, as a rule.
      }
    },

    reset(keep) {
      size = 0;
      const latest = [...marks.keys()].at(-1);
      for (const session of marks.keys())
        if (session !== latest && !keep.includes(session)) marks.delete(session);
      const next = files.open(`${path}.next`, 'anew');
      try {
        next.write([...marks.values()].map(toLine).join(''));
        next.sync();
        files.rename(`${path}.next`, path);
      } catch (error) {
        next.close();
        throw error;
      }
      // From here on a line to the old file would be a line to no file, whatever the folder says.
      file.close();
      file = next;
      files.syncFolder(dirname(path));
    },

    forget(session) {
      marks.delete(session);
    },

    close() {
      file.close();
    },
  };
}

function readMarks(bytes: Uint8Array | null): Map<SessionId, Mark> {
  const marks = new Map<SessionId, Mark>();
  const text = Buffer.from(bytes ?? []).toString('latin1');
  for (const line of text.split('\n')) {
    const mark = toMark(line);
    if (mark !== null) put(marks, mark);
  }
  return marks;
}

/** Puts it at the end. */
function put(marks: Map<SessionId, Mark>, mark: Mark): void {
  marks.delete(mark.session);
  marks.set(mark.session, mark);
}

const LINE = /^(ses_[0-9a-z]+) (\d+) ([0-9a-f]{16}) \.$/;

function toMark(line: string): Mark | null {
  const [, session, seq, sum] = LINE.exec(line) ?? [];
  return session && seq && sum ? { session: session as SessionId, seq: Number(seq), sum } : null;
}

function toLine({ session, seq, sum }: Mark): string {
  return `${session} ${seq} ${sum} .\n`;
}
