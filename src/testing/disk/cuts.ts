/**
 * The disks that a power cut may leave behind: for each point of a record, which of the operations that were not yet
 * flushed have reached the disk, and how.
 *
 * C1  What was flushed is there. Of the rest each operation is kept, missing, cut in the middle, or zeros (the file grew,
 *     its bytes did not come); by itself, whatever its neighbours are. Names are kept or missing.
 * C2  Exhaustive for each point: all kept; none kept; one missing; all before one missing; one file's alone missing, and
 *     alone kept; the last write cut at each sector and at bytes in between, and zeroed. Then `extra` more at random.
 * C3  Of lines that the store itself appends and never flushes (witness.ts W2) only the youngest few are varied one by one.
 * C4  Two cuts that leave the same disk under the same acknowledgements are one.
 */

import { seededEntropy } from '../../lib/entropy.ts';
import { Bytes, type Content, type Disk, numbered, type Op } from './disk.ts';

export type Fate =
  | { readonly kind: 'kept' }
  | { readonly kind: 'missing' }
  /** The first `length` bytes came. */
  | { readonly kind: 'cut'; readonly length: number }
  | { readonly kind: 'zeros' };

export interface Cut {
  /** After as many operations. */
  readonly at: number;
  /** Of the operations that were not flushed by then, by number; those not named are kept. */
  readonly fates: ReadonlyMap<number, Fate>;
  readonly shape: Shape;
}

export type Shape = 'all' | 'none' | 'omitted' | 'later only' | 'one file' | 'torn' | 'zeroed' | 'random';

export interface CutOptions {
  readonly seed: number;
  /** Random cuts at each point. */
  readonly extra: number;
  /** Only points up to here. */
  readonly to?: number;
  /** How much was acknowledged by then (C4). */
  acknowledged(at: number): number;
}

const SECTOR = 512;
const YOUNGEST = 4;
const MISSING: Fate = { kind: 'missing' };

/** All cuts of a record, without doubles. */
export function* cuts(disk: Disk, options: CutOptions): Generator<Cut> {
  const { next } = seededEntropy(options.seed);
  const seen = new Set<string>();
  const to = options.to ?? disk.ops.length;
  for (let at = 0; at <= to; at++) {
    for (const { shape, fates } of fatesAt(disk, at, options.extra, next)) {
      const key = `${options.acknowledged(at)} ${signature(disk.ops, at, fates)}`;
      if (seen.has(key)) continue;
      seen.add(key);
      yield { at, fates, shape };
    }
  }
}

/** What a cut leaves. */
export function contentAfter(disk: Disk, { at, fates }: Cut): Content {
  const files: Bytes[] = [];
  const names = new Map<string, number>();
  for (const [name, bytes] of numbered(disk.start)) names.set(name, files.push(new Bytes(bytes)) - 1);
  for (const [index, op] of disk.ops.slice(0, at).entries()) apply(op, fates.get(index));
  return new Map([...names].map(([name, file]) => [name, of(file).copy()]));

  function apply(op: Op, fate: Fate | undefined): void {
    if (fate?.kind === 'missing') return;
    if (op.kind === 'write') of(op.file).write(op.at, fate ? written(op.bytes, fate) : op.bytes);
    else if (op.kind === 'truncate') of(op.file).truncate(op.size);
    else if (op.kind === 'names') {
      for (const [name, file] of op.entries) {
        if (file === null) names.delete(name);
        else names.set(name, file);
      }
    }
  }

  function of(file: number): Bytes {
    files[file] ??= new Bytes();
    return files[file];
  }
}

function written(bytes: Uint8Array, fate: Fate): Uint8Array {
  if (fate.kind === 'cut') return bytes.subarray(0, fate.length);
  return fate.kind === 'zeros' ? new Uint8Array(bytes.length) : bytes;
}

interface Shaped {
  readonly shape: Shape;
  readonly fates: ReadonlyMap<number, Fate>;
}

function* fatesAt(disk: Disk, at: number, extra: number, next: () => number): Generator<Shaped> {
  const pending = unflushed(disk.ops, at);
  const missing = (ids: readonly number[]) => new Map(ids.map((id) => [id, MISSING]));
  yield { shape: 'all', fates: new Map() };
  yield { shape: 'none', fates: missing(pending) };

  const varied = oneByOne(disk.ops, pending);
  for (const id of varied) yield { shape: 'omitted', fates: missing([id]) };
  for (const id of varied) {
    yield { shape: 'later only', fates: missing(pending.filter((other) => other < id)) };
  }
  const files = new Set(pending.map((id) => fileOf(disk.ops[id])));
  for (const file of files) {
    const isOfFile = (id: number) => fileOf(disk.ops[id]) === file;
    yield { shape: 'one file', fates: missing(pending.filter(isOfFile)) };
    yield { shape: 'one file', fates: missing(pending.filter((id) => !isOfFile(id))) };
  }

  const last = at - 1;
  const op = disk.ops[last];
  if (op?.kind === 'write') {
    for (const length of placesIn(op.bytes.length)) {
      yield { shape: 'torn', fates: new Map([[last, { kind: 'cut', length }]]) };
    }
    yield { shape: 'zeroed', fates: new Map([[last, { kind: 'zeros' }]]) };
  }

  for (let n = 0; n < extra && pending.length > 1; n++) {
    const fates = pending.flatMap((id) => {
      const fate = randomFate(disk.ops[id], next);
      return fate ? [[id, fate] as const] : [];
    });
    yield { shape: 'random', fates: new Map(fates) };
  }
}

/** Operations whose effect is not certain to outlast a cut, in order. */
function unflushed(ops: readonly Op[], at: number): readonly number[] {
  const flushed = new Set<number | 'names'>();
  const pending: number[] = [];
  for (let id = at - 1; id >= 0; id--) {
    const op = ops[id] as Op;
    if (op.kind === 'sync' || op.kind === 'syncNames') flushed.add(fileOf(op));
    else if (!flushed.has(fileOf(op))) pending.push(id);
  }
  return pending.reverse();
}

/** C3. */
function oneByOne(ops: readonly Op[], pending: readonly number[]): readonly number[] {
  const lines = pending.filter((id) => isLine(ops[id]));
  const old = new Set(lines.slice(0, -YOUNGEST));
  return pending.filter((id) => !old.has(id));
}

/** SQLite writes pages, frames and headers; none of its writes to a log of some length is as these are. */
function isLine(op: Op | undefined): boolean {
  return op?.kind === 'write' && op.bytes.at(-1) === 0x0a && op.bytes.at(-2) === 0x2e;
}

function fileOf(op: Op | undefined): number | 'names' {
  return op && 'file' in op ? op.file : 'names';
}

/** Where a write is cut: at each sector, and at bytes that are no sector's. */
function placesIn(length: number): readonly number[] {
  const places = new Set<number>();
  for (let at = SECTOR; at < length; at += SECTOR) places.add(at);
  for (const at of [1, length >> 1, length - 1]) if (at > 0 && at < length) places.add(at);
  return [...places];
}

function randomFate(op: Op | undefined, next: () => number): Fate | null {
  const dice = next();
  if (dice < 0.45) return null;
  if (dice < 0.85 || op?.kind !== 'write') return MISSING;
  return dice < 0.95 ? { kind: 'cut', length: Math.floor(next() * op.bytes.length) } : { kind: 'zeros' };
}

/** The same for two cuts that leave the same: how far each file came, and what is not as it was written. */
function signature(ops: readonly Op[], at: number, fates: ReadonlyMap<number, Fate>): string {
  const reached = new Map<number | 'names', number>();
  const odd: string[] = [];
  for (let id = 0; id < at; id++) {
    const op = ops[id] as Op;
    if (op.kind === 'sync' || op.kind === 'syncNames') continue;
    const fate = fates.get(id);
    if (fate?.kind !== 'missing') reached.set(fileOf(op), id);
  }
  for (const [id, fate] of fates) {
    if (id <= (reached.get(fileOf(ops[id])) ?? -1))
      odd.push(`${id}${fate.kind}${'length' in fate ? fate.length : ''}`);
  }
  return `${[...reached].flat().join(' ')};${odd.sort().join(' ')}`;
}
