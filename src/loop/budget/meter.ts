/**
 * The meter of a model call: reserve, call, settle. What a call may take is reserved in the owner's ledger before it is
 * made, and what it took is settled as soon as it is over, before anything else can fail.
 *
 * M1  Nobody has a limit: one look, and nothing is written.
 * M2  A call that came to no end is settled in full: nobody knows what it cost. So is one whose provider says nothing of
 *     its tokens.
 * M3  A settlement that the store does not take is left: the reservation goes on counting in full.
 * M4  What is reserved is the dearer of two: all of the request read as it is, or all of it written to the cache.
 */

import {
  type Cost,
  type Exhaustion,
  exhaustionInWords,
  isLimited,
  NO_BUDGETS,
  NOTHING_SPENT,
  plus,
  type Spent,
  type What,
} from '../../core/budget/budget.ts';
import { OutlastError } from '../../core/error.ts';
import { spentOnChildren } from '../../core/family/state.ts';
import type { SessionId } from '../../core/ids.ts';
import type { ModelRequest, Usage } from '../../core/message.ts';
import type { State } from '../../core/state.ts';
import type { Abort } from '../../lib/abort.ts';
import { ModelError, type ModelReply } from '../../models/port.ts';
import type { Reservation } from '../../store/port.ts';
import type { Performer } from '../perform.ts';
import type { Ports } from '../ports.ts';
import { inputTokens } from './estimate.ts';

export interface Answered {
  readonly reply: ModelReply | ModelError;
  readonly cost: Cost | null;
  readonly ms: number;
  /** The reply was cut off since no more was left than it got. */
  readonly cut: Exhaustion | null;
}

export type Metered = Answered | { readonly exhausted: Exhaustion };

/** Bounds of one call, so that it keeps to what was reserved. */
export interface Allowance {
  readonly ms: number;
  readonly maxOutputTokens?: number;
}

/** What is called, as far as its reservation has to tell it from other calls. */
export interface Call {
  readonly turn: number;
  readonly step: number | string;
  readonly attempt: number;
}

type Make = (allowance: Allowance) => Promise<ModelReply | ModelError>;

/** Tokens that a reply may have while tokens or money are limited; and where that does not fit, at the least. */
const OUTPUT_TOKENS = [8_192, 2_048];
/** So long the end of other calls is waited for, where what is held for them is all that is in the way. */
const HELD_MS = 30_000;
const LOOK_MS = 1_000;
const SETTLE_ATTEMPTS = 5;

export async function metered(
  s: State,
  call: Call,
  request: ModelRequest,
  by: Performer,
  halt: Abort,
  make: Make,
): Promise<Metered> {
  const { prices, model, clock } = by.ports;
  const timeoutMs = s.contract.limits.modelTimeoutMs;
  const granted = await grant(s, call, request, by, halt);
  if ('exhausted' in granted) return granted;
  const started = clock.monotonic();
  const reply = await make(granted.allowance ?? { ms: timeoutMs });
  const ms = Math.ceil(clock.monotonic() - started);
  const isKnown = !(reply instanceof ModelError) && (model.scripted || saysTokens(reply.usage));
  const cost = isKnown ? await prices.price(model.name, reply.usage) : null;
  if (granted.key !== null) await settle(s, granted.key, actual(reply, cost, ms, isKnown, granted.most), by);
  const isCut = !(reply instanceof ModelError) && reply.finish === 'length';
  return { reply, cost, ms, cut: isCut ? granted.short : null };
}

/**
 * A question beside the work. No session pays for it, so its own account bounds nothing; what its owner may use bounds it
 * like any other call. Throws `budget.exhausted` when there is not enough.
 */
export async function meteredAside(
  s: State,
  session: SessionId,
  request: ModelRequest,
  ports: Ports,
  make: (maxOutputTokens?: number) => Promise<ModelReply>,
): Promise<ModelReply> {
  const { store, prices, model, clock, entropy } = ports;
  const { owner, limits } = s.contract;
  if (!isLimited((await store.budget(owner)).limits)) return make();
  const [output = 0] = OUTPUT_TOKENS;
  const most = await mostOf(inputTokens(request), output, limits.modelTimeoutMs, ports);
  const key = `${session}.ask.${entropy.token(12)}`;
  const reserved = await store.reserve({
    ...{ owner, session: `${session}~ask` as SessionId, turn: 0, key, amounts: most, limits: NO_BUDGETS },
    spent: { turn: NOTHING_SPENT, session: NOTHING_SPENT },
  });
  if (reserved.status === 'exhausted') {
    throw new OutlastError('budget.exhausted', exhaustionInWords(reserved), {
      next: 'raise what you may use: outlast budget --owner-set …; the task itself is as it was',
    });
  }
  const started = clock.monotonic();
  // A call that breaks is settled in full (M2).
  let spent: Spent = { ...most, microUsd: most.microUsd ?? 0, unpriced: 0, lost: 1 };
  try {
    const reply = await make(output);
    const isKnown = model.scripted || saysTokens(reply.usage);
    const cost = isKnown ? await prices.price(model.name, reply.usage) : null;
    spent = actual(reply, cost, Math.ceil(clock.monotonic() - started), isKnown, most);
    return reply;
  } catch (error) {
    if (error instanceof ModelError)
      spent = actual(error, null, Math.ceil(clock.monotonic() - started), false, most);
    throw error;
  } finally {
    await settle(s, key, spent, { ports, session });
  }
}

interface Granted {
  /** Null when nothing is limited, and so nothing was reserved. */
  readonly key: string | null;
  readonly allowance: Allowance | null;
  readonly most: Reservation['amounts'];
  /** Why it got less output than others; null when it got all. */
  readonly short: Exhaustion | null;
}

const UNLIMITED: Granted = {
  ...{ key: null, allowance: null, short: null },
  most: { microUsd: null, tokens: 0, steps: 0, ms: 0 },
};

async function grant(
  s: State,
  { turn, step, attempt }: Call,
  request: ModelRequest,
  by: Performer,
  halt: Abort,
): Promise<Granted | { readonly exhausted: Exhaustion }> {
  const { store, clock } = by.ports;
  const { owner, limits: bounds } = s.contract;
  const { limits, spent } = s.budget;
  const children = spentOnChildren(s);
  const own = (await store.budget(owner)).limits;
  const all = [limits.turn, limits.session, own];
  if (!all.some(isLimited)) return UNLIMITED;
  const isBounded = (what: What): boolean => all.some((budget) => budget[what] !== undefined);
  const isOutputBounded = isBounded('microUsd') || isBounded('tokens');
  const input = inputTokens(request);
  const deadline = clock.monotonic() + HELD_MS;
  let short: Exhaustion | null = null;
  for (let tried = 0; ; tried++) {
    const output = OUTPUT_TOKENS[tried % OUTPUT_TOKENS.length] as number;
    const most = await mostOf(input, output, bounds.modelTimeoutMs, by.ports);
    const key = `${by.session}.${turn}.${step}.${attempt}.${by.epoch}.${by.number()}`;
    const asked: Reservation = {
      ...{ owner, session: by.session, turn, key, amounts: most, limits },
      spent: {
        turn: plus(s.turn?.spent ?? NOTHING_SPENT, children.turn),
        session: plus(spent, children.session),
      },
    };
    const reserved = await store.reserve(asked);
    if (reserved.status === 'granted') {
      const { ms } = reserved;
      return { key, allowance: { ms, ...(isOutputBounded ? { maxOutputTokens: output } : {}) }, most, short };
    }
    const { status: _, isHeld, ...exhaustion } = reserved;
    const isByOutput = exhaustion.what === 'microUsd' || exhaustion.what === 'tokens';
    const mayBeLess =
      isByOutput && exhaustion.code !== 'budget.unpriced' && tried % OUTPUT_TOKENS.length === 0;
    short = exhaustion;
    if (mayBeLess) continue;
    // What is held for other calls of the owner is less in the end, as a rule.
    const mayPass = isHeld && exhaustion.scope === 'owner' && clock.monotonic() < deadline && !halt.aborted;
    if (!mayPass) return { exhausted: exhaustion };
    await clock.sleep(LOOK_MS, halt.signal);
    tried = -1;
    short = null;
  }
}

/** M4. */
async function mostOf(
  input: number,
  output: number,
  ms: number,
  { prices, model }: Pick<Ports, 'prices' | 'model'>,
): Promise<Reservation['amounts']> {
  const usage = { inputTokens: input, outputTokens: output, cachedTokens: 0 };
  const plain = await prices.price(model.name, usage);
  const written = await prices.price(model.name, { ...usage, cacheWriteTokens: input });
  const microUsd = plain && written && Math.max(plain.microUsd, written.microUsd);
  return { microUsd, tokens: input + output, steps: 1, ms };
}

/** Where a provider has not begun, and so charges nothing. */
const NOT_BEGUN: ReadonlySet<string> = new Set([
  ...(['overloaded', 'rate_limited', 'unreachable', 'refused_request', 'unauthorized'] as const),
]);

/** M2. */
function actual(
  reply: ModelReply | ModelError,
  cost: Cost | null,
  ms: number,
  isKnown: boolean,
  most: Reservation['amounts'],
): Spent {
  const unpriced = cost === null ? 1 : 0;
  if (!(reply instanceof ModelError) && isKnown) {
    const { inputTokens: input, outputTokens: output } = reply.usage;
    return {
      ...NOTHING_SPENT,
      microUsd: cost?.microUsd ?? 0,
      tokens: input + output,
      steps: 1,
      ms,
      unpriced,
    };
  }
  if (reply instanceof ModelError && NOT_BEGUN.has(reply.code) && reply.partial === '') {
    return { ...NOTHING_SPENT, ms };
  }
  const { microUsd, tokens, steps } = most;
  return { microUsd: microUsd ?? 0, tokens, steps, ms, unpriced, lost: 1 };
}

const saysTokens = ({ inputTokens: input, outputTokens: output }: Usage): boolean => input + output > 0;

/** M3. */
async function settle(
  s: State,
  key: string,
  spent: Spent,
  { ports, session }: Pick<Performer, 'ports' | 'session'>,
): Promise<void> {
  const { store, clock, report } = ports;
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.settle(s.contract.owner, key, spent);
    } catch (error) {
      const mayPass = error instanceof OutlastError && error.code.startsWith('store.');
      if (!mayPass || attempt >= SETTLE_ATTEMPTS) {
        return report(`${session}: a model call was not settled, it counts in full`, error);
      }
      await clock.sleep(50 * 2 ** attempt);
    }
  }
}
