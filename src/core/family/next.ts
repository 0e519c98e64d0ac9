/** What should be in flight between a session and its kin: a part of `next`. Pure. */

import { isRecord } from '../../lib/json.ts';
import { oneLine } from '../../lib/text.ts';
import type { EventBody } from '../event.ts';
import { call, choose, type Next } from '../flight.ts';
import type { MessageId, SessionId } from '../ids.ts';
import { findEffect, type State } from '../state.ts';
import type { Wanted } from './event.ts';
import { type Child, standingKey } from './state.ts';

/** What comes of itself in every state: what stands is said, what is wanted is passed on, what is due is told. */
export function kin(s: State): Next {
  const arrived = arrivals(s);
  return arrived.length > 0 ? choose(...arrived) : call(...relays(s), ...report(s));
}

/** To the parent: results in their order, each by itself, and then how it stands. */
function report({ family, ...rest }: State): Next['calls'] {
  const { parent, due, told } = family;
  if (parent === null) return [];
  const [first] = due;
  const standing = standingKey({ family, ...rest });
  if (first === undefined && standing === told.standing) return [];
  return [{ do: 'report', result: first?.seq ?? 0, standing }];
}

/** Down the tree: a pause and its end, a stop, and that what may yet come to be is stopped as well. */
function relays(s: State): Next['calls'] {
  const wanted = wantedOf(s);
  const children = s.family.children.flatMap(({ effect, relayed, standing }) =>
    isDue(relayed, wanted) && standing?.status !== 'stopped'
      ? [{ do: 'relay' as const, effect, status: wanted }]
      : [],
  );
  if (wanted !== 'stopped') return children;
  const coming = s.effects.open.filter(
    ({ id, family, dispatch }) => family === 'spawns' && dispatch !== null && !s.family.barred.includes(id),
  );
  return [...children, ...coming.map(({ id }) => ({ do: 'relay' as const, effect: id, status: wanted }))];
}

export const areStopped = ({ family }: State): boolean =>
  family.children.every(({ standing }) => standing?.status === 'stopped');

function wantedOf({ lifetime }: State): Wanted {
  const { status } = lifetime;
  if (status === 'queued') return 'open';
  return status === 'stopping' ? 'stopped' : status;
}

function isDue(relayed: Child['relayed'], wanted: Wanted): boolean {
  // Only what this parent has held it lets go of.
  if (wanted === 'open') return relayed === 'paused';
  return relayed !== wanted && relayed !== 'stopped';
}

/** A settled call of this kind says which child stands, and which message it has. */
function arrivals(s: State): readonly EventBody[] {
  return s.family.arriving.slice(0, 1).map((id): EventBody => {
    const effect = findEffect(s, id);
    const result = effect?.outcome?.status === 'done' ? effect.outcome.result : null;
    const { child, message } = (isRecord(result) ? result : {}) as { child: SessionId; message: MessageId };
    const {
      task = '',
      title = oneLine(task, 60),
      wait = true,
    } = (isRecord(effect?.args) ? effect.args : {}) as { task?: string; title?: string; wait?: boolean };
    const said = { effect: id, child, message, waits: wait };
    return effect?.family === 'spawns'
      ? { kind: 'child.spawned', ...said, title }
      : { kind: 'child.instructed', ...said };
  });
}
