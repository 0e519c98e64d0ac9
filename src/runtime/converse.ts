/**
 * `converse`: say something to the conversation of an owner; the first word starts it. An owner has one under each name,
 * whoever asks first: the name is the key of its start.
 */

import * as decide from '../core/decide.ts';
import { OutlastError } from '../core/error.ts';
import { initialState } from '../core/evolve.ts';
import { type Owner, type SessionId, sessionId } from '../core/ids.ts';
import { DEFAULT_LIMITS, type Limits } from '../core/limits.ts';
import type { Receipt } from '../core/message.ts';
import { encode } from '../core/upcast.ts';
import { given } from '../lib/given.ts';
import { stamp } from '../loop/input.ts';
import type { Ports } from '../loop/ports.ts';
import { ratesOf } from '../loop/rates.ts';
import { summarize } from '../projections/summary.ts';

export interface ConverseOptions {
  /** Of the conversation; by default `main`. */
  readonly name?: string;
  /** A repeat under the same key gets the first receipt. */
  readonly key?: string | null;
}

/** Talking costs little, tasks have limits of their own; a result that is longer is read with `recall`. */
const TALKING: Partial<Limits> = {
  childDepth: 1,
  childrenTotal: 5_000,
  childrenAtOnce: 100,
  outputChars: 6_000,
};

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** No key of a caller has a blank. `n`: how many of this name were deleted before. */
function startKeyOf(name: string, n: number): string {
  if (NAME.test(name)) return n === 0 ? `conversation ${name}` : `conversation ${name} ${n}`;
  throw new OutlastError(
    'request.invalid',
    'The name of a conversation is 1 to 64 of a-z, 0-9, dot, dash and underscore.',
    { next: 'choose another name' },
  );
}

export const findConversation = async (
  owner: Owner,
  ports: Pick<Ports, 'store'>,
  name = 'main',
): Promise<SessionId | null> => (await standing(owner, ports, name)).session;

/** The one that is there, past those that were deleted; and the key of its start. */
async function standing(
  owner: Owner,
  { store }: Pick<Ports, 'store'>,
  name: string,
): Promise<{ readonly session: SessionId | null; readonly startKey: string }> {
  for (let n = 0; ; n++) {
    const startKey = startKeyOf(name, n);
    const session = await store.findStart(owner, startKey);
    const row = session && (await store.row(session));
    if (row?.phase !== 'deleted' && row?.phase !== 'deleting') return { session, startKey };
  }
}

/** The one that stands, or a new one that has this message; null when somebody else was first. */
export async function begin(
  owner: Owner,
  message: string,
  { name = 'main', key = null }: ConverseOptions,
  limits: Partial<Limits>,
  ports: Ports,
): Promise<{ readonly session: SessionId; readonly receipt: Receipt } | null> {
  if (!ports.conversation) {
    throw new OutlastError('internal', 'This server drives no conversations.', { next: 'start a session' });
  }
  const session = sessionId(ports.entropy.token(20));
  const bodies = decide.start({
    ...{ owner, message, key, persist: true, profile: 'conversation' },
    ...{ title: name === 'main' ? 'Conversation' : `Conversation ${name}`, model: ports.model.name },
    ...{ tools: ports.conversation.tools.names, seed: ports.entropy.seed() },
    limits: { ...DEFAULT_LIMITS, ...limits, ...TALKING },
    ...given({ rates: await ratesOf(ports) }),
  });
  const now = ports.clock.now();
  const { state, events } = stamp(initialState, bodies, now);
  const { status } = await ports.store.commit({
    ...{ session, head: 0, epoch: null, blobs: [] },
    startKey: (await standing(owner, ports, name)).startKey,
    events: events.map(encode),
    summary: summarize(state, now),
  });
  if (status !== 'committed') return null;
  const rule = 'starts turn 1';
  return { session, receipt: { message: 'm1' as Receipt['message'], seq: 2, rule } };
}
