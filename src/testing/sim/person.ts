/**
 * The person of a scenario: does its acts, one after the other, tries again what was not heard, and answers every
 * question truthfully, since they can look into the books.
 */

import type { Budget } from '../../core/budget/budget.ts';
import { OutlastError } from '../../core/error.ts';
import type { DecisionAnswer } from '../../core/event.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Phase } from '../../core/phase.ts';
import type { Residency } from '../../core/residency/policy.ts';
import { type Decision, findEffect, openDecisions, type State } from '../../core/state.ts';
import { assert } from '../../lib/assert.ts';
import type { Clock } from '../../lib/clock.ts';
import { given } from '../../lib/given.ts';
import type { Outlast } from '../../runtime/runtime.ts';
import { Branch, FORKED } from './branch.ts';
import { NOTE } from './reply.ts';
import type { Act, Scenario } from './scenario.ts';
import type { Watch } from './watch.ts';
import { type World, whatOf } from './world.ts';

/** Small heaps: the simulator makes thousands. Few deaths in a row: what comes of them is seen all the sooner. */
const LIMITS = { heapMb: 8, crashes: 3 };
/** How often somebody looks whether a child asks. */
const TEND_MS = 2_000;
const TOO_LATE: ReadonlySet<string> = new Set(['decision.closed', 'decision.expired']);

interface Options {
  readonly scenario: Scenario;
  readonly clock: Clock;
  readonly world: World;
  readonly watch: Watch;
  /** What somebody else does meanwhile. */
  readonly other: { readonly changesCourse: boolean; readonly hasActed: boolean };
  /** What they send arrives twice. */
  readonly isRepeated: boolean;
}

export class Person {
  private readonly options: Options;

  constructor(options: Options) {
    this.options = options;
  }

  async perform(api: Outlast, act: Act, key: string): Promise<void> {
    const { clock, watch, other, scenario } = this.options;
    if (act.do === 'wait') return clock.sleep(act.ms ?? 0);
    if (act.do === 'start' && scenario.isTalk) {
      watch.session = (await api.converse(act.text ?? '', { key })).session;
      return this.rest(api, watch.session, act.leavesOpen);
    }
    if (act.do === 'start') {
      const budget = { session: (act.budget ?? {}) as Budget };
      const asked = {
        message: act.text ?? '',
        persist: true,
        key,
        limits: { ...LIMITS, ...scenario.limits },
        budget,
      };
      watch.session = (await api.start(asked)).session;
      return this.rest(api, watch.session, act.leavesOpen);
    }
    const { session } = watch;
    if (!session) throw new Error('a scenario begins with start');
    if (act.do === 'fork') return this.fork(api, session, key);
    if (act.do === 'edit' || act.do === 'lose') return this.atTheMachine(session, act);
    await this.say(api, session, act, key).catch((error: unknown) => {
      // Somebody else has stopped it, or ended the turn; then there is nothing to say to it.
      const isRefused = error instanceof OutlastError && error.action !== 'retry';
      // Interrupted before the crash, and not noticed.
      const isDone = isRefused && act.do === 'interrupt' && error.code === 'turn.none';
      if (!isDone && !(other.changesCourse && isRefused)) throw error;
    });
    await this.rest(api, session, act.leavesOpen);
  }

  private async say(api: Outlast, id: SessionId, act: Act, key: string): Promise<void> {
    const { text = '', when } = act;
    if (act.do === 'send') {
      const send = () => api.send(id, text, { key, ...given({ when }) });
      const [first, ...again] = await Promise.all(this.options.isRepeated ? [send(), send()] : [send()]);
      assert(
        again.every(({ seq }) => seq === first?.seq),
        'a repeat gets the first receipt',
      );
      this.isToldFromWhere(act, first?.woke);
    } else if (act.do === 'raise') {
      const { whose, budget = {} } = act;
      await (whose === 'owner' ? api.setOwnerBudget(budget) : api.setBudget(id, { session: budget }));
    } else if (isCall(act.do)) await api[act.do](id);
  }

  /** Somebody else may have woken it before. */
  private isToldFromWhere({ woke: from }: Act, woke: Residency | undefined): void {
    const { watch, other } = this.options;
    if (from === undefined || from === woke || other.hasActed) return;
    watch.witness.untrue.push(`the receipt says that it woke from ${woke}, where it was ${from}`);
  }

  /** Until it rests and nothing is asked any more. */
  async rest(api: Outlast, session: SessionId, leavesOpen = false): Promise<void> {
    const { scenario, watch } = this.options;
    for (;;) {
      const now = await this.rested(api, session);
      if (now === 'paused' && (await this.mayResume(session))) {
        await api.resume(session);
        continue;
      }
      if (now !== 'awaiting_decision' || leavesOpen) return;
      await watch.look();
      const { state } = watch.witnessOf(session);
      if (!takesUp(scenario, state)) return;
      await this.answer(api, session, state);
    }
  }

  /** And its children, whom it may have left alone. */
  async restAll(api: Outlast, session: SessionId): Promise<void> {
    await this.rest(api, session);
    const { watch, clock } = this.options;
    for (const child of watch.kindred.ids) await this.rest(api, child);
    // What is due to a parent nobody waits for; it may be tried again only after a while.
    for (let look = 0; look < 100 && watch.kindred.isDue; look++) {
      await clock.sleep(TEND_MS);
      await watch.look();
    }
  }

  /** A session that waits for a child rests only when that one has been answered. */
  private async rested(api: Outlast, session: SessionId): Promise<Phase> {
    const { scenario, clock, watch } = this.options;
    const resting = api.rest(session);
    if (!scenario.hasChildren) return resting;
    for (;;) {
      const now = await Promise.race([resting, clock.sleep(TEND_MS)]);
      if (now !== undefined) return now;
      await watch.look();
      const asking = watch.kindred.asking();
      if (asking) await this.answer(api, asking.session, asking.state);
    }
  }

  private async answer(api: Outlast, session: SessionId, state: State): Promise<void> {
    const { scenario, world, clock } = this.options;
    const decision = takesUp(scenario, state);
    if (!decision) return;
    const { answer, text } = answerTo(decision, state, { scenario, world, session });
    await api.decide(session, decision.id, answer, text).catch((error: unknown) => {
      // Decided by this person before the crash and not noticed, or by somebody else; or its time is over.
      if (!(error instanceof OutlastError && TOO_LATE.has(error.code))) throw error;
      return clock.sleep(1_000);
    });
  }

  /** After a stop or an interruption: the session is there, with all that it knows. */
  async takeUpAgain(api: Outlast): Promise<void> {
    const { watch, other } = this.options;
    const { session } = watch;
    if (!session || !other.hasActed) return;
    await this.rest(api, session);
    await api.reopen(session);
    await api.send(session, `${NOTE} are you there?`, { key: 'again' });
    await this.rest(api, session);
  }

  /** A fork that somebody made meanwhile is left alone so far. */
  async speakTo(api: Outlast, branch: Branch): Promise<void> {
    if (!branch.isSpokenTo) {
      await api.rest(branch.session);
      await this.options.watch.look();
      branch.rested();
      await api.send(branch.session, FORKED, { key: 'to the fork' });
      branch.isSpokenTo = true;
    }
    await this.rest(api, branch.session);
  }

  private atTheMachine(session: SessionId, { do: what, path = '', text = '', mode }: Act): void {
    const { hands } = this.options.world.workspaces;
    if (what === 'lose') hands.lose(session);
    else hands.put(session, path, text, mode);
  }

  private async fork(api: Outlast, id: SessionId, key: string): Promise<void> {
    const { watch, world } = this.options;
    const { session, seq } = await api.fork(id, { key, message: FORKED });
    watch.branch ??= new Branch(session, seq, world);
    watch.branch.isSpokenTo = true;
    await this.rest(api, session);
  }

  /** Somebody else has held it, or too many machines died; a budget that is spent is not theirs to resume. */
  private async mayResume(session: SessionId): Promise<boolean> {
    const { watch, other } = this.options;
    await watch.look();
    const { lifetime, budget } = watch.witnessOf(session).state;
    if (lifetime.quarantine !== null) return true;
    return other.hasActed && (lifetime.status === 'paused' || budget.exhausted === null);
  }
}

type Call = 'stop' | 'delete' | 'reopen' | 'interrupt' | 'pause' | 'resume';
const CALLS: ReadonlySet<string> = new Set<Call>([
  'stop',
  'delete',
  'reopen',
  'interrupt',
  'pause',
  'resume',
]);
const isCall = (what: Act['do']): what is Call => CALLS.has(what);

/** A client does what an error tells it to do: it tries again, under the same key. */
export async function patiently(clock: Clock, work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof OutlastError) || error.action !== 'retry') throw error;
      await clock.sleep(100);
    }
  }
}

/** What is taken up next: the oldest question, or the newest. */
export const takesUp = ({ isBackward }: Scenario, s: State): Decision | undefined =>
  openDecisions(s).at(isBackward ? -1 : 0);

/** The truth. */
export function answerTo(
  { about, effect: id }: Decision,
  s: State,
  { scenario, world, session }: Pick<Options, 'scenario' | 'world'> & { readonly session: SessionId },
): { readonly answer: DecisionAnswer; readonly text: string } {
  const { answer = 'yes', approves = () => true } = scenario;
  if (id === null) return { answer: 'answer', text: answer };
  if (about === 'approval') {
    const isWanted = approves(whatOf(findEffect(s, id)?.args ?? null));
    return { answer: isWanted ? 'approve' : 'reject', text: 'as was agreed' };
  }
  const stands = world.books.some(({ reference }) => reference === `${session}.${id}`);
  return { answer: stands ? 'done' : 'not-done', text: 'looked it up' };
}
