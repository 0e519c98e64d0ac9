/**
 * Checksums that tie a log together.
 *
 * C1  Each event's checksum covers the event and the checksum before it, so an event that changed, went or came is
 *     noticed by whoever reads past it. The first stands on the session's id.
 * C2  The index row's guard covers the members that commits rely on: owner, head, its checksum, and the epoch.
 * C3  A log that was erased begins at its tombstone. That stands on a beginning of its own, so it can neither be taken for
 *     an event whose beginning was lost, nor the other way round.
 */

import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { SessionId } from '../../core/ids.ts';
import type { StoredEvent } from '../port.ts';

export function genesis(session: SessionId): Uint8Array {
  return digest('outlast log 1', session);
}

/** C3. */
export function tomb(session: SessionId): Uint8Array {
  return digest('outlast tombstone 1', session);
}

/** The checksum of `event` after an event with checksum `before`. */
export function link(before: Uint8Array, { seq, at, kind, version, body }: StoredEvent): Uint8Array {
  return digest(before, JSON.stringify([seq, at, kind, version]), body);
}

export interface Guarded {
  readonly owner: string;
  readonly head: number;
  readonly chain: Uint8Array;
  readonly epoch: number;
}

export function guard(session: SessionId, { owner, head, chain, epoch }: Guarded): number {
  return crc32(chain, crc32(JSON.stringify([session, owner, head, epoch])));
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** Enough of a checksum to recognise it by, for the witness file. */
export function short(checksum: Uint8Array): string {
  return Buffer.from(checksum).toString('hex', 0, 8);
}

function digest(...parts: readonly (string | Uint8Array)[]): Uint8Array {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
}
