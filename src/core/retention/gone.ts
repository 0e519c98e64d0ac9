/** What is said to whoever wants something of a session that is deleted, or is about to be: what there was, and when it went. */

import { OutlastError } from '../error.ts';
import type { State } from '../state.ts';
import type { DeletionCause, Estate } from './event.ts';

/** D2 of evolve.ts: throws `session.deleted`. */
export function refuseGone(s: State): void {
  if (isGone(s)) throw goneError(s);
}

export const isGone = ({ retention }: State): boolean => retention.going !== null;

export function goneError({ retention: { going, deleted }, at }: State): OutlastError {
  const why = going === null ? '' : ` ${causeInWords(going)}`;
  if (deleted === null) {
    return new OutlastError('session.deleted', `This session is being deleted${why}.`, {
      next: 'start a new one; what it had does not come back',
    });
  }
  const when = new Date(at).toISOString();
  return new OutlastError(
    'session.deleted',
    `This session was deleted at ${when}${why}. It had ${estateInWords(deleted.had)}.`,
    { next: 'start a new one; nothing of it can be brought back' },
  );
}

export function causeInWords(cause: DeletionCause): string {
  if (cause.by === 'order') return `by order of ${cause.who}`;
  const [since, noticed] = [cause.since, cause.noticedAt].map((at) => new Date(at).toISOString());
  return `by its owner's policy: it had rested since ${since}, and a notice stood since ${noticed}`;
}

export function estateInWords({ events, images, attachments, snapshots, bytes, effects }: Estate): string {
  const all = Object.values(effects).reduce((sum, n) => sum + n, 0);
  const ends = Object.entries(effects).map(([end, n]) => `${n} ${end}`);
  const parts = [
    counted(events, 'event'),
    counted(all, 'effect') + (ends.length === 0 ? '' : ` (${ends.join(', ')})`),
    counted(images, 'heap image'),
    counted(attachments, 'attached file'),
    counted(snapshots, 'snapshot of files', 'snapshots of files'),
  ];
  return `${parts.join(', ')}; ${bytes} bytes`;
}

const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;
