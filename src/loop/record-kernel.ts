/** Recording what lives in the kernel: with a settlement, and when a holder has looked. Pure. */

import type { EventBody } from '../core/event.ts';
import type { KernelObject } from '../core/kernel-event.ts';
import type { State } from '../core/state.ts';
import type { KernelObjects } from '../sandbox/process/port.ts';

const GONE = 'its kernel is gone, with the machine or the folder that had it';
const ENDED = 'its kernel ended';

/** `objects` is null where there is no kernel any more, nor anything that could tell of it. */
export function kernelNoted(
  objects: KernelObjects | null,
  s: State,
  epoch: number,
  seen: 'looked' | 'ran',
): readonly EventBody[] {
  const { live: known, process, attended } = s.kernel;
  const now = (objects?.live ?? []).map(
    ({ name, type, size, cell }): KernelObject => ({
      name,
      type,
      size,
      effect: cell as KernelObject['effect'],
    }),
  );
  const names = new Set(now.map(({ name }) => name));
  const missing = known.filter(({ name }) => !names.has(name));
  const reasons = new Map(objects?.lost.map(({ name, why }) => [name, why]));
  // A name goes because code that ran in its kernel deleted it; else it is lost.
  const isSame = seen === 'ran' && objects !== null && objects.generation === process;
  const lost = missing
    .filter(({ name }) => !isSame || reasons.has(name))
    .map((one) => ({ ...one, why: reasons.get(one.name) ?? (objects === null ? GONE : ENDED) }));
  const gone = missing.filter(({ name }) => !lost.some((one) => one.name === name)).map(({ name }) => name);
  const before = new Map(known.map((one) => [one.name, one]));
  const set = now.filter((one) => !isAs(before.get(one.name), one));
  const generation = objects?.generation ?? 0;
  const isNews = set.length + gone.length + lost.length > 0 || generation !== process || attended !== epoch;
  if (!isNews || (known.length === 0 && now.length === 0)) return [];
  return [{ kind: 'kernel.noted', epoch, process: generation, set, gone, lost }];
}

const isAs = (before: KernelObject | undefined, now: KernelObject): boolean =>
  before !== undefined &&
  before.type === now.type &&
  before.size === now.size &&
  before.effect === now.effect;
