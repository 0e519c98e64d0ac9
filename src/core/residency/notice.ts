/**
 * Lifetime notices: what a session that rests is to lose at an instant, unless somebody speaks before. The one place that
 * says which stand: the inbox, the parent of a child and the conversation of a task have them from here. Pure.
 *
 * L1  A notice is about one rest (`since`): whatever comes in ends that rest, and the notice with it.
 * L2  What is gone after all is told as well, once.
 */

import { oneLine } from '../../lib/text.ts';
import type { KernelLost } from '../kernel/event.ts';
import { standingNotice } from '../kernel/evolve.ts';
import { standingRetention } from '../retention/state.ts';
import type { State } from '../state.ts';

export type Notice = KernelNotice | RetentionNotice;

export interface KernelNotice extends Announced {
  readonly about: 'kernel';
  /** What of its kernel cannot be kept by value. */
  readonly unsaved: readonly KernelLost[];
}

export interface RetentionNotice extends Announced {
  readonly about: 'retention';
  /** Since when the notice stands. */
  readonly at: number;
}

/** As much of a notice as others are told. */
export interface Announced {
  readonly about: 'kernel' | 'retention';
  /** Since when the session rests. */
  readonly since: number;
  readonly until: number;
  /** What is given up then, in words. */
  readonly what: string;
}

/** L1. In the order in which they run out. */
export function standingNotices(s: State): readonly Notice[] {
  const [kernel, retention] = [standingNotice(s), standingRetention(s)];
  const notices = [
    ...(kernel === null ? [] : [ofKernel(kernel)]),
    ...(retention === null
      ? []
      : [{ about: 'retention', what: 'all of this session', ...retention } as const]),
  ];
  return notices.sort((a, b) => a.until - b.until);
}

/** L2. Of each kind the last. */
export const goneAfterNotice = ({ kernel: { gone } }: State): readonly Notice[] =>
  gone === null ? [] : [ofKernel(gone)];

export const announced = ({ about, since, until, what }: Announced): Announced => ({
  ...{ about, since, until, what },
});

/** What tells it from every other one of its session. */
export const noticeKey = ({ about, since }: Announced): string => `${about}@${since}`;

const WORDS = 300;

function ofKernel({
  since,
  until,
  unsaved,
}: Pick<KernelNotice, 'since' | 'until' | 'unsaved'>): KernelNotice {
  const names = unsaved.map(({ name }) => name).join(', ');
  return { about: 'kernel', since, until, unsaved, what: oneLine(`Python objects: ${names}`, WORDS) };
}
