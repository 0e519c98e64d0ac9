/** Recording the end of a session: its notice, the end of that, and the tombstone. Pure. */

import type { EventBody } from '../../core/event.ts';
import { graceMs } from '../../core/retention/next.ts';
import { standingRetention } from '../../core/retention/state.ts';
import type { State } from '../../core/state.ts';
import { given } from '../../lib/given.ts';
import type { Facts } from '../log.ts';
import type { Performed } from '../perform.ts';

const NOTHING: Facts = { events: [] };

/** Of a rest that has ended since, or of a notice that was not looked at, it says nothing. */
export function surveyed({ call, busy }: Extract<Performed, { do: 'survey' }>, s: State, now: number): Facts {
  const { since } = call;
  const notice = standingRetention(s);
  const isCurrent = s.retention.going === null && s.activeAt === since;
  if (!isCurrent || (notice?.until ?? null) !== call.until) return NOTHING;
  if (busy !== null) return { events: [{ kind: 'retention.deferred', since, ...busy }] };
  if (notice === null) return { events: [noticed(s, now)] };
  return now < notice.until ? NOTHING : { events: [{ kind: 'retention.over', since }] };
}

/** Its whole grace time lies ahead, however late it comes, and it is never over before the time is. */
function noticed({ activeAt: since, contract }: State, now: number): EventBody {
  const { retentionMs } = contract.limits;
  const until = Math.max(now + graceMs(retentionMs), since + retentionMs);
  return { kind: 'retention.noticed', since, until };
}

export function erased({ had }: Extract<Performed, { do: 'erase' }>, s: State, epoch: number): Facts {
  const { going: cause, deleted } = s.retention;
  if (cause === null || deleted !== null || had === null) return NOTHING;
  const { owner, title, persist, startedAt, profile } = s.contract;
  const was = {
    ...{ owner, title, persist, startedAt },
    ...given({ profile, parent: s.family.parent ?? undefined, forkedFrom: s.fork?.from }),
  };
  // What came in since then is counted, and gone as well.
  const events = s.head;
  return { events: [{ kind: 'session.deleted', epoch, cause, was, had: { ...had, events } }], erases: true };
}
