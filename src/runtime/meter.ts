/**
 * The meter of a model call: reserve, call, settle. What a call may take is reserved in the owner's ledger before it is
 * made, and what it took is settled as soon as it is over, before anything else can fail.
 *
 * M1  Nobody has a limit: one look, and nothing is written.
 * M2  A call that came to no end is settled in full: nobody knows what it cost. So is one whose provider says nothing of
 *     its tokens.
 * M3  A settlement that the store does not take is left: the reservation goes on counting in full.
 */

import {
  type Cost,
  type Exhaustion,
  isLimited,
  NOTHING_SPENT,
  type Spent,
  type What,
} from '../core/budget.ts';
import { OutlastError } from '../core/error.ts';
import type { ModelRequest, Usage } from '../core/message.ts';
import type { PortCall } from '../core/next.ts';
import type { State } from '../core/state.ts';
import type { Abort } from '../lib/abort.ts';
import { ModelError, type ModelReply } from '../models/port.ts';
import type { Reservation } from '../store/port.ts';
import { inputTokens } from './estimate.ts';
import type { Performer } from './perform.ts';

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

type Generating = Extract<PortCall, { do: 'generate' }>;
type Make = (allowance: Allowance) => Promise<ModelReply | ModelError>;

/** Tokens that a reply may have while tokens or money are limited; and where that does not fit, at the least. */
const OUTPUT_TOKENS = [8_192, 2_048];
/** So long the end of other calls is waited for, where what is held for them is all that is in the way. */
const HELD_MS = 30_000;
const LOOK_MS = 1_000;
const SETTLE_ATTEMPTS = 5;

export async function metered(
  s: State,
  call: Generating,
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
  { turn, step, attempt }: Generating,
  request: ModelRequest,
  by: Performer,
  halt: Abort,
): Promise<Granted | { readonly exhausted: Exhaustion }> {
  const { store, prices, model, clock } = by.ports;
  const { owner, limits: bounds } = s.contract;
  const { limits, spent } = s.budget;
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
    const usage = { inputTokens: input, outputTokens: output, cachedTokens: 0 };
    const most = {
      microUsd: (await prices.price(model.name, usage))?.microUsd ?? null,
      ...{ tokens: input + output, steps: 1, ms: bounds.modelTimeoutMs },
    };
    const key = `${by.session}.${turn}.${step}.${attempt}.${by.epoch}.${by.number()}`;
    const asked: Reservation = {
      ...{ owner, session: by.session, turn, key, amounts: most, limits },
      spent: { turn: s.turn?.spent ?? NOTHING_SPENT, session: spent },
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
async function settle(s: State, key: string, spent: Spent, { ports, session }: Performer): Promise<void> {
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
