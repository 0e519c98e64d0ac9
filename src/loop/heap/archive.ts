/**
 * Archiving: what is left of a session that has rested for very long. Its heap becomes one image, what led there goes, and
 * so does the index of its words; log, ledger, files and messages stay as they are.
 *
 * V1  Nothing is lost. An older state of the heap, of a fork at an older event, is built again from the journal.
 * V2  What goes, goes in the commit that says so, and only while the heap is still the one that was looked at.
 * V3  A cell that waits may yet be taken back: the images from before it stay, until an archive after its end.
 */

import { headImage, type ImageChain } from '../../core/heap/state.ts';
import type { BlobRef, SessionId } from '../../core/ids.ts';
import type { State } from '../../core/state.ts';
import type { Ports } from '../ports.ts';
import { readEvents } from '../read.ts';
import type { Based, Heaps } from './heaps.ts';

export interface Archived {
  readonly based: Based | null;
  /** Digest of the heap that was looked at. */
  readonly of: string | null;
  readonly sheds: readonly BlobRef[];
  readonly bytes: number;
}

export async function archive(
  session: SessionId,
  s: State,
  { ports, heaps }: { readonly ports: Pick<Ports, 'store'>; readonly heaps: Heaps },
): Promise<Archived> {
  const { chain } = s.heap;
  const based = chain && chain.deltas.length > 0 ? await heaps.fold(session, s) : null;
  const needed = [...(based ? [based.image] : imagesOf(chain)), ...imagesOf(s.heap.cell?.before.chain)];
  const kept = new Set(needed.map(({ blob }) => blob));
  const images = (await readEvents(ports.store, session, s.head)).flatMap((event) => {
    const isImage =
      event.kind === 'cell.committed' || event.kind === 'heap.based' || event.kind === 'heap.restored';
    return isImage && event.image && !kept.has(event.image.blob) ? [event.image] : [];
  });
  const going = new Map(images.map(({ blob, bytes }) => [blob, bytes]));
  return {
    based,
    of: chain && headImage(chain).digest,
    sheds: [...going.keys()],
    bytes: [...going.values()].reduce((sum, bytes) => sum + bytes, 0),
  };
}

const imagesOf = (chain: ImageChain | null | undefined) => (chain ? [chain.base, ...chain.deltas] : []);
