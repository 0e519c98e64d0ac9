/**
 * Hooks make a kill land where a test wants it: a request is held at a named point until the test lets it go.
 *
 * Owns what is armed and what is held, and the control path `/__hooks`. The edge asks `pass` at two points of each
 * request, before its work and after its row is booked, and does the work itself.
 *
 * K1. A hook is one-shot: it holds one request, then it is spent.
 * K2. A hold ends by release, by its bound, or by the client going away, never otherwise.
 * K3. A request held `before` whose client goes away is not done and not booked; one held `after` is both.
 * K4. Without the key the control path does not exist: the caller sees what any unknown path answers.
 */
import { join } from 'node:path';
import { systemClock } from '../lib/clock.ts';
import { booksDir } from './books.ts';
import { type Call, ok, type Reply, refuse } from './http.ts';
import { same, secretIn } from './secret.ts';

const HOLD_BOUND_MS = 30_000;

export type Phase = 'before' | 'after';

type Fact = { readonly kind: string };

/** Holds the `at`-th next request (default the 1st) whose booked fact has this kind and these fields. */
export interface Hook {
  readonly hold: string;
  readonly phase: Phase;
  readonly at: number;
  readonly where: Readonly<Record<string, unknown>>;
  readonly releaseMs: number;
}

/** What `GET /__hooks` answers. `seen` counts the requests of each kind since the service started. */
export interface HooksState {
  readonly held: readonly { readonly phase: Phase; readonly fact: Fact }[];
  readonly armed: readonly (Hook & { readonly seen: number })[];
  readonly seen: Readonly<Record<string, number>>;
}

export interface Hooks {
  /** True when the request may go on; false when its client went away meanwhile. */
  pass(phase: Phase, fact: Fact, closed: AbortSignal): Promise<boolean>;
  /** The reply to a control request; undefined when the call is not one (K4). */
  control(call: Call, closed: AbortSignal): Promise<Reply> | undefined;
  release(): { released: number; disarmed: number };
}

/** The key that control requests carry in `X-Hook-Key`; both services of a data folder share it. */
export function hookKey(dataDir: string): string {
  return secretIn(join(booksDir(dataDir), 'hooks.key'));
}

export function createHooks(key: string): Hooks {
  let armed: { readonly hook: Hook; seen: number }[] = [];
  const held = new Set<{ readonly phase: Phase; readonly fact: Fact; readonly released: AbortController }>();
  const seen: Record<string, number> = {};
  const waiting = new Set<AbortController>();
  return { pass, control, release };

  async function pass(phase: Phase, fact: Fact, closed: AbortSignal): Promise<boolean> {
    if (phase === 'before') seen[fact.kind] = (seen[fact.kind] ?? 0) + 1;
    const matching = armed.filter(({ hook }) => hook.phase === phase && matches(hook, fact));
    for (const one of matching) one.seen += 1;
    const due = matching.find((one) => one.seen >= one.hook.at);
    if (due === undefined) return !closed.aborted;
    armed = armed.filter((one) => one !== due); // K1
    return hold(phase, fact, due.hook.releaseMs, closed);
  }

  async function hold(phase: Phase, fact: Fact, boundMs: number, closed: AbortSignal): Promise<boolean> {
    const released = new AbortController();
    const holding = { phase, fact, released };
    held.add(holding);
    wakeAll();
    await systemClock.sleep(boundMs, AbortSignal.any([released.signal, closed])); // K2
    held.delete(holding);
    return !closed.aborted;
  }

  function control(call: Call, closed: AbortSignal): Promise<Reply> | undefined {
    if (!same(call.header('x-hook-key') ?? '', key)) return undefined;
    switch (`${call.method} ${call.path}`) {
      case 'POST /__hooks':
        return Promise.resolve(arm(call.body));
      case 'POST /__hooks/release':
        return Promise.resolve(ok(release()));
      case 'GET /__hooks':
        return look(call.query, closed);
      default:
        return undefined;
    }
  }

  function arm(body: unknown): Reply {
    const hook = toHook(body);
    if (hook === undefined) {
      return refuse(
        400,
        'hook.invalid',
        'Wanted: { hold: KIND, phase: before|after, at?: N, where?: {…}, release?: MS }',
      );
    }
    armed.push({ hook, seen: 0 });
    return ok(state(), 201);
  }

  function release(): { released: number; disarmed: number } {
    const counts = { released: held.size, disarmed: armed.length };
    armed = [];
    for (const one of held) one.released.abort();
    held.clear();
    wakeAll();
    return counts;
  }

  async function look(query: URLSearchParams, closed: AbortSignal): Promise<Reply> {
    if (query.get('wait') === 'held' && held.size === 0) {
      const waiter = new AbortController();
      waiting.add(waiter);
      await systemClock.sleep(boundMs(query.get('timeoutMs')), AbortSignal.any([waiter.signal, closed]));
      waiting.delete(waiter);
    }
    return ok(state());
  }

  function wakeAll(): void {
    for (const one of waiting) one.abort();
  }

  function state(): HooksState {
    return {
      held: [...held].map(({ phase, fact }) => ({ phase, fact })),
      armed: armed.map((one) => ({ ...one.hook, seen: one.seen })),
      seen,
    };
  }
}

function matches(hook: Hook, fact: Fact): boolean {
  const fields = fact as Readonly<Record<string, unknown>>;
  return (
    fact.kind === hook.hold && Object.entries(hook.where).every(([name, value]) => fields[name] === value)
  );
}

function toHook(body: unknown): Hook | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { hold, phase, at = 1, where = {}, release } = body as Record<string, unknown>;
  if (typeof hold !== 'string' || (phase !== 'before' && phase !== 'after')) return undefined;
  if (typeof at !== 'number' || !Number.isInteger(at) || at < 1) return undefined;
  if (typeof where !== 'object' || where === null) return undefined;
  return { hold, phase, at, where: where as Record<string, unknown>, releaseMs: boundMs(release) };
}

function boundMs(asked: unknown): number {
  const ms = Number(asked ?? HOLD_BOUND_MS);
  return ms > 0 && ms < HOLD_BOUND_MS ? ms : HOLD_BOUND_MS;
}
