/** Recording what lives in the kernel: with a settlement, when a holder has looked, and before and after it is given up. Pure. */

import type { EventBody } from '../../core/event.ts';
import type { KernelNoted, KernelNoticed, KernelObject } from '../../core/kernel/event.ts';
import { standingNotice } from '../../core/kernel/evolve.ts';
import type { State } from '../../core/state.ts';
import type { KernelObjects, Parked } from '../../sandbox/process/port.ts';
import type { Performed } from '../perform.ts';

const GONE = 'its kernel is gone, with the machine or the folder that had it';
const ENDED = 'its kernel ended';
const BY_POLICY = "given up by the owner's policy, after notice";

/** `objects` is null where there is no kernel any more, nor anything that could tell of it. */
export function kernelNoted(
  objects: KernelObjects | null,
  s: State,
  epoch: number,
  seen: 'looked' | 'ran',
  released: ReadonlySet<string> = new Set(),
): readonly KernelNoted[] {
  const { live: before, process, attended } = s.kernel;
  const now = (objects?.live ?? []).map(
    ({ name, type, size, cell }): KernelObject => ({
      name,
      type,
      size,
      effect: cell as KernelObject['effect'],
    }),
  );
  const names = new Set(now.map(({ name }) => name));
  const missing = before.filter(({ name }) => !names.has(name));
  const noticed = s.kernel.notice?.unsaved.map(({ name, why }) => [name, why] as const) ?? [];
  // What a notice says of a name is why it is gone, where nobody else can say it any more.
  const known = new Map(objects === null ? [] : noticed);
  const reasons = new Map(objects?.lost.map(({ name, why }) => [name, why]));
  const whyOf = (name: string): string => {
    const why = reasons.get(name) ?? known.get(name) ?? (objects === null ? GONE : ENDED);
    return released.has(name) ? `${BY_POLICY}: ${why}` : why;
  };
  // A name goes because code that ran in its kernel deleted it; else it is lost.
  const isSame = seen === 'ran' && objects !== null && objects.generation === process;
  const lost = missing
    .filter(({ name }) => !isSame || reasons.has(name))
    .map((one) => ({ ...one, why: whyOf(one.name) }));
  const gone = missing.filter(({ name }) => !lost.some((one) => one.name === name)).map(({ name }) => name);
  const stood = new Map(before.map((one) => [one.name, one]));
  const set = now.filter((one) => !isAs(stood.get(one.name), one));
  const generation = objects?.generation ?? 0;
  const isNews = set.length + gone.length + lost.length > 0 || generation !== process || attended !== epoch;
  if (!isNews || (before.length === 0 && now.length === 0)) return [];
  return [{ kind: 'kernel.noted', epoch, process: generation, set, gone, lost }];
}

/** That it stays in memory, and for how long: where its owner's policy says so, and once for each rest. */
export function kernelNoticed(
  parked: Parked | null,
  s: State,
  epoch: number,
  now: number,
): readonly EventBody[] {
  const { kernelNoticeMs } = s.contract.limits;
  const unsaved = (parked?.status === 'kept' && kernelNoticeMs > 0 ? parked.unsaved : []).map(
    ({ name, type, size, cell, why }) => ({ name, type, size, effect: cell as KernelObject['effect'], why }),
  );
  if (standingNotice(s) !== null || (unsaved.length === 0 && s.kernel.notice === null)) return [];
  return [
    ...unheardOf(unsaved, s, epoch),
    { kind: 'kernel.noticed', since: s.activeAt, until: now + kernelNoticeMs, unsaved },
  ];
}

/**
 * Names that the log does not know: the answer of the call that bound them came late, and nobody has looked since. What
 * nobody knew of could not be told as lost either.
 */
function unheardOf(unsaved: KernelNoticed['unsaved'], s: State, epoch: number): readonly KernelNoted[] {
  const known = new Set(s.kernel.live.map(({ name }) => name));
  const set = unsaved.filter(({ name }) => !known.has(name)).map(({ why: _, ...object }) => object);
  if (set.length === 0) return [];
  return [{ kind: 'kernel.noted', epoch, process: s.kernel.process, set, gone: [], lost: [] }];
}

/** What is gone that was still there just before was given up. Nothing is left to give up then. */
export function givenUp(
  { before, objects }: Extract<Performed, { do: 'giveUp' }>,
  s: State,
  epoch: number,
): readonly EventBody[] {
  const stood = new Set(before?.live.map(({ name }) => name));
  const untold = objects === null ? null : { ...objects, lost: [...(before?.lost ?? []), ...objects.lost] };
  const noted = kernelNoted(untold, s, epoch, 'looked', stood);
  const { notice } = s.kernel;
  const gone = new Set(noted.flatMap((e) => [...e.gone, ...e.lost.map(({ name }) => name)]));
  if (notice === null || notice.unsaved.every(({ name }) => gone.has(name))) return noted;
  const { since, until } = notice;
  return [...noted, { kind: 'kernel.noticed', since, until, unsaved: [] }];
}

const isAs = (before: KernelObject | undefined, now: KernelObject): boolean =>
  before !== undefined &&
  before.type === now.type &&
  before.size === now.size &&
  before.effect === now.effect;
