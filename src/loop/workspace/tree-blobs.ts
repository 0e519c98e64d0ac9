/**
 * The blobs that trees are made of: where they stand, how they are opened, and how a fork makes them its own.
 *
 * L1  What a session keeps stands under its own id, sealed for its lineage. So whatever is deleted of others, it is whole.
 * L2  Forks of earlier versions read theirs under the lineage; what is there and not here is still found.
 */

import { OutlastError } from '../../core/error.ts';
import { lineageOf } from '../../core/fork/state.ts';
import type { BlobRef, SessionId } from '../../core/ids.ts';
import type { State } from '../../core/state.ts';
import type { TreeRef } from '../../core/workspace/tree.ts';
import { unpacked } from '../../lib/pack.ts';
import type { Blob, Store } from '../../store/port.ts';
import type { Ports } from '../ports.ts';
import { isBlobLoss, readBlob } from '../read.ts';
import { read } from './tree-pages.ts';

/** Whose blobs they are, and for whom they are sealed. */
export interface Place {
  readonly session: SessionId;
  readonly lineage: SessionId;
}

export const placeOf = (s: State, session: SessionId): Place => ({ session, lineage: lineageOf(s, session) });

/** As much is put at once. */
export const AHEAD_BYTES = 8 * 1024 * 1024;

export const aboutFiles = (lineage: SessionId): string => `workspace:${lineage}`;

/** The bytes of a piece or a page, out of the store. */
export function opener(
  place: Place,
  { store, sealer }: Pick<Ports, 'store' | 'sealer'>,
): (blob: BlobRef) => Promise<Uint8Array> {
  return async (blob) => {
    const sealed = await sealedAt(place, blob, store);
    try {
      return unpacked(sealer.open(sealed, aboutFiles(place.lineage)));
    } catch (cause) {
      throw new OutlastError('blob.forged', `a file of the workspace does not open: ${blob}`, {
        next: 'start with the OUTLAST_KEY or keys/seal.key that was in use when it was sealed',
        cause,
      });
    }
  };
}

/** Keeps what a tree is made of under `session` as well, byte for byte; what is lost is lost there, too. */
export async function adopt(
  session: SessionId,
  tree: TreeRef,
  from: Place,
  ports: Pick<Ports, 'store' | 'sealer'>,
): Promise<void> {
  const { store } = ports;
  let ahead: Blob[] = [];
  const send = async (): Promise<void> => {
    if (ahead.length > 0) await store.put(session, ahead);
    ahead = [];
  };
  for (const ref of await refsOf(tree, opener(from, ports))) {
    if (from.session === session && (await readBlob(store, session, ref)) !== null) continue;
    const bytes = await sealedAt(from, ref, store).catch(lostPiece);
    if (bytes) ahead.push({ ref, bytes });
    if (ahead.reduce((sum, one) => sum + one.bytes.length, 0) > AHEAD_BYTES) await send();
  }
  await send();
}

async function refsOf({ root }: TreeRef, open: ReturnType<typeof opener>): Promise<ReadonlySet<BlobRef>> {
  const { tree, pages } = (await read(root, open).catch(lostPiece)) ?? { tree: [], pages: new Map() };
  const pieces = tree.flatMap((entry) => (entry.kind === 'file' ? entry.chunks.map(({ blob }) => blob) : []));
  return new Set([...pages.values(), ...pieces]);
}

/** L2. */
async function sealedAt(
  { session, lineage }: Place,
  ref: BlobRef,
  store: Pick<Store, 'blob'>,
): Promise<Uint8Array> {
  if (session === lineage) return store.blob(session, ref);
  return (await readBlob(store, session, ref)) ?? store.blob(lineage, ref);
}

function lostPiece(error: unknown): null {
  if (isBlobLoss(error)) return null;
  throw error;
}
