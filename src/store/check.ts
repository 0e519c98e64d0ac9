/**
 * What every adapter asks of a commit before it writes anything, so that none of them can be talked into a bad log.
 *
 * K1  The session's id has the one form that ids have; it can never be a path or a query.
 * K2  A commit appends: at least one event, numbered on from the head it names (S3).
 * K3  Kinds and bodies are text that every store gives back byte for byte: well-formed, without NUL (S5).
 * K4  A blob's reference is the hash of its bytes, on the way in and on the way out.
 */

import { OutlastError } from '../core/error.ts';
import { type BlobRef, parseSessionId, type SessionId } from '../core/ids.ts';
import { assert } from '../lib/assert.ts';
import { sha256 } from '../lib/digest.ts';
import type { Blob, Commit, StoredEvent, Summary } from './port.ts';

/** The name of a blob: SHA-256 of its bytes. */
export function blobRef(bytes: Uint8Array): BlobRef {
  return sha256(bytes) as BlobRef;
}

/** Throws when the commit breaks K1 to K4. */
export function checkCommit(commit: Commit): void {
  parseSessionId(commit.session);
  assert(commit.events.length > 0, 'a commit appends at least one event');
  for (const [index, event] of commit.events.entries()) checkEvent(event, commit.head + 1 + index);
  checkBlobs(commit.session, commit.blobs);
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
