/**
 * Live heaps in this process, and the ladder that brings a heap back: attached, exact, replayed, fresh.
 *
 * K1  A live heap counts only while its digest is that of the committed image; otherwise it is thrown away.
 * K2  Images are sealed before they reach the store, and bound to the lineage of their session.
 * K3  A sandbox may notice that a heap is not what its images should have led to only when it is to move. Then the heap is
 *     lost, and those images are passed over from there on: the next opening goes down the ladder.
 */

import { OutlastError } from '../../core/error.ts';
import { lineageOf } from '../../core/fork/state.ts';
import type { HeapImage, Lost, Rung } from '../../core/heap/event.ts';
import { headImage, type ImageChain } from '../../core/heap/state.ts';
import type { BlobRef, SessionId } from '../../core/ids.ts';
import { isWorthBasing } from '../../core/residency/next.ts';
import type { State } from '../../core/state.ts';
import { sha256 } from '../../lib/digest.ts';
import type {
  HeapChain,
  HeapInput,
  HeapStep,
  JournalEntry,
  LiveHeap,
  TakenImage,
} from '../../sandbox/port.ts';
import type { Blob } from '../../store/port.ts';
import type { Ports } from '../ports.ts';
import { isBlobLoss, readEvents } from '../read.ts';
import { journalOf } from './journal.ts';

export interface Opened {
  readonly rung: Rung;
  readonly note: string;
  readonly lost: readonly Lost[];
  /** A new base to commit when the old images could not be used. */
  readonly image: HeapImage | null;
  readonly blobs: readonly Blob[];
}

/** A new base, sealed, for the commit that names it. */
export interface Based {
  readonly image: HeapImage;
  readonly blob: Blob;
}

interface Resident {
  readonly heap: LiveHeap;
  /** Of the heap as it stands in memory; K1 compares it with what was committed. */
  digest: string | null;
  usedAt: number;
  /** While it moves it is not closed to make room for another. */
  isMoving: boolean;
}

type HeapPorts = Pick<Ports, 'sandbox' | 'store' | 'sealer' | 'clock' | 'report'>;

export class Heaps {
  private readonly ports: HeapPorts;
  private readonly residents = new Map<SessionId, Resident>();
  private readonly capacity: number;
  /** Bases that are passed over (K3), and why. */
  private readonly unfit = new Map<BlobRef, OutlastError>();

  constructor(ports: HeapPorts, capacity = 32) {
    this.ports = ports;
    this.capacity = capacity;
  }

  isResident(session: SessionId): boolean {
    return this.residents.has(session);
  }

  /** Somebody has work for this session: what its heap needs beside its image can be made ready while the lease is taken. */
  foresee(session: SessionId, { heap: { chain } }: State): void {
    const memoryBytes = chain?.base.memoryBytes;
    if (memoryBytes !== undefined && !this.residents.has(session)) this.ports.sandbox.foresee?.(memoryBytes);
  }

  async open(session: SessionId, s: State): Promise<Opened> {
    const { chain } = s.heap;
    const resident = this.residents.get(session);
    if (resident && resident.digest === (chain ? headImage(chain).digest : null)) {
      resident.usedAt = this.ports.clock.now();
      return { rung: chain ? 'attached' : 'fresh', note: '', lost: [], image: null, blobs: [] };
    }
    await this.close(session);
    await this.makeRoom();
    if (!chain) {
      this.settle(session, await this.ports.sandbox.create(optionsOf(s)), null);
      return { rung: 'fresh', note: '', lost: [], image: null, blobs: [] };
    }
    try {
      const unfit = this.unfit.get(chain.base.blob);
      if (unfit) throw unfit;
      const heap = await this.ports.sandbox.restore(await this.load(session, s, chain), optionsOf(s));
      this.settle(session, heap, headImage(chain).digest);
      return { rung: 'exact', note: '', lost: [], image: null, blobs: [] };
    } catch (error) {
      if (!isBlobLoss(error)) throw error;
      this.ports.report(`${session}: the heap image cannot be used: ${error.message}`);
      return this.rebuild(session, s, error.message);
    }
  }

  /** Seals an image for the commit that names it. */
  store(lineage: SessionId, image: TakenImage): Based {
    const { data, ...taken } = image;
    const bytes = this.ports.sealer.seal(data, `heap:${lineage}`);
    const ref = sha256(bytes) as BlobRef;
    return { image: { ...taken, blob: ref, bytes: bytes.length }, blob: { ref, bytes } };
  }

  /** Moves the live heap of a session that was opened. */
  async apply(session: SessionId, s: State, input: HeapInput, signal: AbortSignal): Promise<HeapStep> {
    const resident = this.residents.get(session) ?? (await this.reopened(session, s));
    if (!resident) return { kind: 'aborted', reason: 'lost', message: 'the live heap is gone', output: '' };
    resident.usedAt = this.ports.clock.now();
    const step = await this.moving(resident, s, (heap) => heap.apply(input, signal)).catch(lostStep);
    if (step.kind === 'rest') resident.digest = step.image.digest;
    else await this.close(session);
    return step;
  }

  /** It had to make room for others while its session waited: its image brings it back, or else it counts as lost. */
  private async reopened(session: SessionId, s: State): Promise<Resident | null> {
    const { rung, image } = await this.open(session, s);
    const isSame = rung === 'exact' || rung === 'attached' || (rung === 'fresh' && !s.heap.chain);
    if (!isSame || image) await this.close(session);
    return this.residents.get(session) ?? null;
  }

  /** A new base of the heap that stands. */
  async base(session: SessionId, s: State): Promise<Based> {
    const resident = this.current(session, s) ?? (await this.reopened(session, s));
    if (!resident) throw new OutlastError('internal', 'The heap that needs a new base cannot be opened.');
    return this.store(lineageOf(s, session), await this.moving(resident, s, (heap) => heap.base()));
  }

  /**
   * Gives up the memory of a session that rests. A new base is taken first when it is worth its bytes and the heap is
   * at hand: opening a heap only to write it again costs more than the few deltas at the next wake.
   */
  async park(session: SessionId, s: State): Promise<Based | null> {
    const resident = this.current(session, s);
    const isWorthIt = resident && s.heap.chain && isWorthBasing(s.heap.chain);
    const image = isWorthIt
      ? await this.moving(resident, s, (heap) => heap.base()).catch((error) => this.unbased(session, error))
      : null;
    await this.close(session);
    return image && this.store(lineageOf(s, session), image);
  }

  /** One image of a parked heap, in place of many; null when it cannot be opened as it was left, and stays as it is. */
  async fold(session: SessionId, s: State): Promise<Based | null> {
    const based = await this.base(session, s).catch((error) => this.unbased(session, error));
    await this.close(session);
    return based;
  }

  async close(session: SessionId): Promise<void> {
    const resident = this.residents.get(session);
    this.residents.delete(session);
    await resident?.heap.close();
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.residents.keys()].map((session) => this.close(session)));
  }

  /** Closes heaps that nobody has used for `idleMs`; their images stand in the store. */
  async closeIdle(idleMs: number, isBusy: (session: SessionId) => boolean): Promise<void> {
    const before = this.ports.clock.now() - idleMs;
    const idle = [...this.residents].filter(([id, { usedAt }]) => usedAt <= before && !isBusy(id));
    await Promise.all(idle.map(([id]) => this.close(id)));
  }

  /** The images of a chain, opened. */
  async load(session: SessionId, s: State, chain: ImageChain): Promise<HeapChain> {
    const about = `heap:${lineageOf(s, session)}`;
    const images = [chain.base, ...chain.deltas];
    const parts = await Promise.all(
      images.map(async ({ form, blob }) => ({ form, data: await this.unsealed(session, blob, about) })),
    );
    const { engine, digest } = headImage(chain);
    return { engine, digest, parts };
  }

  private async unsealed(session: SessionId, ref: BlobRef, about: string): Promise<Uint8Array> {
    const bytes = await this.ports.store.blob(session, ref);
    try {
      return this.ports.sealer.open(bytes, about);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : 'it does not open';
      throw new OutlastError('blob.forged', `a heap image does not open: ${why}`, {
        next: 'start with the OUTLAST_KEY or keys/seal.key that was in use when it was sealed',
        cause,
      });
    }
  }

  /** The live heap, when it is the committed one. */
  private current(session: SessionId, { heap: { chain } }: State): Resident | null {
    const resident = this.residents.get(session);
    return resident && chain && resident.digest === headImage(chain).digest ? resident : null;
  }

  private async moving<T>(
    resident: Resident,
    { heap: { chain } }: State,
    move: (heap: LiveHeap) => Promise<T>,
  ): Promise<T> {
    resident.isMoving = true;
    try {
      return await move(resident.heap);
    } catch (error) {
      if (chain && isBlobLoss(error)) this.unfit.set(chain.base.blob, error); // K3
      throw error;
    } finally {
      resident.isMoving = false;
    }
  }

  /** The images that stand will do. */
  private unbased(session: SessionId, error: unknown): null {
    this.ports.report(`${session}: left without a new base`, error);
    return null;
  }

  private settle(session: SessionId, heap: LiveHeap, digest: string | null): void {
    this.residents.set(session, { heap, digest, usedAt: this.ports.clock.now(), isMoving: false });
  }

  private async makeRoom(): Promise<void> {
    if (this.residents.size < this.capacity) return;
    const [oldest] = [...this.residents]
      .filter(([, { isMoving }]) => !isMoving)
      .sort(([, a], [, b]) => a.usedAt - b.usedAt);
    if (oldest) await this.close(oldest[0]);
  }

  /** No image: the journal alone. Where it does not lead to what the log knows, everything live is lost, by name. */
  private async rebuild(session: SessionId, s: State, why: string): Promise<Opened> {
    const journal = journalOf(await readEvents(this.ports.store, session, s.head));
    const replay = await this.ports.sandbox.replay(each(journal), optionsOf(s));
    const lost = s.heap.live.map(({ name, type, cell }): Lost => ({ name, type, cell, why }));
    if (replay.diverged) {
      await replay.heap.close();
      this.settle(session, await this.ports.sandbox.create(optionsOf(s)), null);
      const names = lost.map(({ name, type, cell }) => `${name} (${type}, ${cell})`).join(', ');
      const note =
        `The sandbox was lost (${why}) and could not be rebuilt. Nothing is live now. ` +
        `Lost: ${names === '' ? 'nothing that had a name' : names}. What was done outside stands in the ledger.`;
      return { rung: 'fresh', note, lost, image: null, blobs: [] };
    }
    const { image, blob } = this.store(lineageOf(s, session), await replay.heap.base());
    this.settle(session, replay.heap, image.digest);
    const note =
      `The sandbox was lost (${why}) and rebuilt by replaying ${replay.applied} steps of its journal. ` +
      'No call was made again. All live objects are back.';
    return { rung: 'replayed', note, lost: [], image, blobs: [blob] };
  }
}

export const optionsOf = (s: State) => ({ seed: s.contract.seed, limits: s.contract.limits });

export async function* each(journal: readonly JournalEntry[]): AsyncIterable<JournalEntry> {
  yield* journal;
}

function lostStep(error: unknown): HeapStep {
  if (!isBlobLoss(error)) throw error;
  return { kind: 'aborted', reason: 'lost', message: error.message, output: '' };
}
