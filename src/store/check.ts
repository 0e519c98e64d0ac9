/**
 * What every adapter asks of a commit before it writes anything, so that none of them can be talked into a bad log.
 *
 * K1  The session's id has the one form that ids have; it can never be a path or a query.
 * K2  A commit appends: at least one event, numbered on from the head it names (S3).
 * K3  Kinds and bodies are text that every store gives back byte for byte: well-formed, without NUL (S5).
 * K4  A blob's reference is the hash of its bytes, on the way in and on the way out.
 * K5  A batch of the index covers at least one event, and nothing in it is empty.
 * K6  What erases is one event behind others, and brings no blobs (S10).
 */

import { OutlastError } from '../core/error.ts';
import { type BlobRef, parseSessionId, type SessionId } from '../core/ids.ts';
import { assert } from '../lib/assert.ts';
import { sha256 } from '../lib/digest.ts';
import type { Batch, Blob, Commit, StoredEvent, Summary } from './port.ts';

/** The name of a blob: SHA-256 of its bytes. */
export function blobRef(bytes: Uint8Array): BlobRef {
  return sha256(bytes) as BlobRef;
}

/** Throws when the commit breaks K1 to K4, or K6. */
export function checkCommit(commit: Commit): void {
  parseSessionId(commit.session);
  assert(commit.events.length > 0, 'a commit appends at least one event');
  for (const [index, event] of commit.events.entries()) checkEvent(event, commit.head + 1 + index);
  checkBlobs(commit.session, commit.blobs);
  const isAlone = commit.head > 0 && commit.events.length === 1 && commit.blobs.length === 0;
  assert(!commit.erases || isAlone, 'what erases a session is one event of it, and nothing beside it');
}

/** Throws when a blob is not what it is called (K4), or its session is no id (K1). */
export function checkBlobs(session: SessionId, blobs: readonly Blob[]): void {
  parseSessionId(session);
  for (const { ref, bytes } of blobs) checkBlob(session, ref, bytes);
}

/** Throws `blob.forged` unless the bytes are those that `ref` names. */
export function checkBlob(session: SessionId, ref: BlobRef, bytes: Uint8Array): void {
  if (blobRef(bytes) !== ref) throw blobForged(session, ref);
}

/** K5. */
export function checkBatch({ after, upTo, passages, words }: Batch): void {
  const isRange = Number.isSafeInteger(after) && Number.isSafeInteger(upTo) && 0 <= after && after < upTo;
  assert(isRange, 'a batch covers events, from one on');
  assert(passages.length > 0, 'a batch says what it holds');
  for (const [word, found] of words)
    assert(isStorable(word) && found.length > 0, 'a word is text, somewhere');
}

export function blobForged(session: SessionId, ref: BlobRef, cause?: unknown): OutlastError {
  return new OutlastError(
    'blob.forged',
    `Blob ${ref} of session ${session} does not hold the bytes it names.`,
    {
      next: 'look at the session; its heap can be rebuilt from the log',
      cause,
    },
  );
}

export function blobMissing(session: SessionId, ref: BlobRef): OutlastError {
  return new OutlastError('blob.missing', `Session ${session} has no blob ${ref}.`, {
    next: 'look at the session; its heap can be rebuilt from the log',
  });
}

export function sessionUnknown(): OutlastError {
  return new OutlastError('session.unknown', 'There is no session with this id.', {
    next: 'list your sessions',
  });
}

function checkEvent(event: StoredEvent, seq: number): void {
  assert(event.seq === seq, `the next event of the log is number ${seq}, not ${event.seq}`);
  assert(Number.isSafeInteger(event.at), 'an event stands at a whole millisecond');
  assert(Number.isSafeInteger(event.version), 'the version of an event is a whole number');
  assert(isStorable(event.kind) && isStorable(event.body), 'an event is well-formed text without NUL');
}

/** JSON text escapes both, so only text that is not JSON fails here. */
function isStorable(text: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(text);
}

/** How much awaits a person; a version that had no inbox counted decisions only. */
export const awaitingIn = ({ awaiting, openDecisions }: Summary): number => awaiting ?? openDecisions;
