/**
 * What is wrong with a log, and how much of it is right.
 *
 * H1  Damage is found per session: others stay usable.
 * H2  What is said to be readable is exactly as it was committed: it was checked by its checksum just now.
 * H3  Where something was acknowledged and is gone, the report says so, even when the file is whole without it.
 */

import { OutlastError } from '../../core/error.ts';
import type { SessionId } from '../../core/ids.ts';
import { asText, Rotten } from './cell.ts';
import { genesis, link, sameBytes, short, tomb } from './chain.ts';
import type { Database } from './driver.ts';
import type { Index, Link, Log } from './log.ts';
import type { Mark } from './witness.ts';

export interface Damage {
  readonly session: SessionId;
  /** Events 1 to here are as they were committed, without a gap. */
  readonly readableTo: number;
  /** Events behind the damaged place that are each still as they were committed. */
  readonly later: number;
  /** The last event that is known to have been acknowledged. */
  readonly acknowledged: number;
  /** The first thing found to be wrong, as the end of "the log is damaged: …". */
  readonly reason: string;
}

/** Reads the whole log of a session against its index row and its mark; null when all is as it was committed. */
export function inspect(log: Log, session: SessionId, mark: Mark | null): Damage | null {
  const index = attempt(() => log.index(session));
  const last = attempt(() => log.last(session));
  const acknowledged = Math.max(index.value?.head ?? 0, last.value ?? 0, mark?.seq ?? 0);
  const walked = walk(log, session, acknowledged, mark);
  const reason =
    index.reason ?? last.reason ?? walked.reason ?? misfit(index.value ?? null, walked, acknowledged);
  if (reason === null) return null;
  return { session, readableTo: walked.readableTo, later: walked.later, acknowledged, reason };
}

export function damageError(damage: Damage): OutlastError {
  const { session, reason, readableTo, later, acknowledged } = damage;
  const readable = readableTo === 0 ? 'No event' : readableTo === 1 ? 'Event 1' : `Events 1 to ${readableTo}`;
  const rest = later > 0 ? `, and ${later} after the damaged place` : '';
  return new OutlastError(
    'log.damaged',
    `The log of ${session} is damaged: ${reason}. ${readable} of ${acknowledged} can be read${rest}.`,
    {
      next: `look with \`outlast verify ${session}\`, then put back a backup or accept the loss`,
    },
  );
}

/** Sessions whose acknowledged commits are not in the file (witness.ts). */
export function missing(log: Log, marks: Iterable<Mark>): Damage[] {
  return [...marks].flatMap((mark) => {
    const stands = attempt(() => markStands(log, mark));
    return stands.value === true ? [] : (inspect(log, mark.session, mark) ?? []);
  });
}

/** What SQLite itself finds wrong with the file; null when nothing. Reads all of it. */
export function structure(db: Database): string | null {
  try {
    const lines = db
      .prepare('SELECT CAST(integrity_check AS BLOB) AS line FROM pragma_integrity_check')
      .all();
    const text = lines.map((cells) => asText(cells.line)).join('; ');
    return text === 'ok' ? null : text;
  } catch (error) {
    return wordsOf(error);
  }
}

/** Every session that the file names anywhere, as far as it can be read. */
export function sessionsIn(db: Database): SessionId[] {
  const ids = [
    'SELECT CAST(id AS BLOB) AS id FROM sessions',
    'SELECT DISTINCT CAST(session AS BLOB) AS id FROM events',
  ];
  const found = ids.flatMap((sql) => attempt(() => db.prepare(sql).all()).value ?? []);
  const texts = found.flatMap((cells) => attempt(() => asText(cells.id)).value ?? []);
  return [...new Set(texts)] as SessionId[];
}

/** Whether an error comes from damage: ours to report with what is readable. */
export function isDamage(error: unknown): boolean {
  return error instanceof Rotten || (error instanceof OutlastError && error.code === 'log.damaged');
}

interface Walk {
  readonly readableTo: number;
  readonly later: number;
  /** The first thing wrong with an event. */
  readonly reason: string | null;
  /** Checksum of the event at `readableTo`. */
  readonly chain: Uint8Array;
}

function walk(log: Log, session: SessionId, end: number, mark: Mark | null): Walk {
  const start = attempt(() => log.start(session)).value ?? 1;
  let readableTo = 0;
  let later = 0;
  let reason: string | null = null;
  let chain = start === 1 ? genesis(session) : tomb(session);
  let before: Uint8Array | null = chain;
  for (let seq = start; seq <= end; seq++) {
    const found = attempt(() => log.at(session, seq));
    const entry: Link | null = found.value ?? null;
    const unread = found.reason === null ? null : `event ${seq} cannot be read (${found.reason})`;
    const flaw = unread ?? flawOf(seq, before, entry, mark);
    before = entry?.hash ?? null;
    if (flaw !== null) reason ??= flaw;
    else if (reason !== null) later += 1;
    else {
      readableTo = seq;
      chain = before as Uint8Array;
    }
  }
  return { readableTo, later, reason, chain };
}

function flawOf(
  seq: number,
  before: Uint8Array | null,
  entry: Link | null,
  mark: Mark | null,
): string | null {
  if (entry === null) return `event ${seq} is missing`;
  if (before === null || entry.event.seq !== seq || !sameBytes(link(before, entry.event), entry.hash)) {
    return `event ${seq} does not match its checksum`;
  }
  const isOther = mark?.seq === seq && short(entry.hash) !== mark.sum;
  return isOther ? `event ${seq} is not the one that was acknowledged` : null;
}

/** What is wrong with the index row of a log whose events are all right. */
function misfit(row: Index | null, { chain }: Walk, end: number): string | null {
  if (row === null) return end === 0 ? null : 'its index row is missing';
  if (row.head !== end) return `its index row ends at event ${row.head}`;
  return sameBytes(row.chain, chain) ? null : 'its index row names another end';
}

function markStands(log: Log, { session, seq, sum }: Mark): boolean {
  const entry = log.at(session, seq);
  return entry !== null && short(entry.hash) === sum && (log.index(session)?.head ?? 0) >= seq;
}

/** A value, or what damage kept us from it. Any other error goes on its way. */
function attempt<T>(work: () => T): { readonly value?: T; readonly reason: string | null } {
  try {
    return { value: work(), reason: null };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { reason: wordsOf(error) };
  }
}

function wordsOf(error: unknown): string {
  const inner = error instanceof OutlastError ? (error.cause ?? error) : error;
  return inner instanceof Error ? inner.message : String(inner);
}
