/**
 * A fork beside the run: followed, spoken to once, and judged by itself. The original is judged as if there were none.
 *
 * B1  It shares the original's events byte for byte, and does nothing before somebody speaks to it.
 * B2  Asked, it does what is asked, once, under a name of its own, and its heap is there.
 */

import { asksAboutEffect, fewestQuestions } from '../../break/questions.ts';
import type { Event, ForeignEvent } from '../../core/event.ts';
import { type Owner, type SessionId, sessionId } from '../../core/ids.ts';
import type { ModelRequest } from '../../core/message.ts';
import type { State } from '../../core/state.ts';
import { decode } from '../../core/upcast.ts';
import { fork } from '../../loop/fork.ts';
import { Log, type LogPorts } from '../../loop/log.ts';
import type { Ports } from '../../loop/ports.ts';
import type { ModelReply } from '../../models/port.ts';
import type { Store } from '../../store/port.ts';
import { judgeLedger } from './judge.ts';
import { calls, say } from './reply.ts';
import { Witness } from './witness.ts';
import type { World } from './world.ts';

/** What is said to a fork. */
export const FORKED = 'pay for the fork';
const PAYMENT = 'fork';
const SAID = ['forked', 'pay: done', 'code: done', 'recall: done'].join('\n');
/** In what it recalls: what was said to it, and to no other. */
const ITS_OWN = new RegExp(`#\\d+ message, .*\\n${FORKED}\\n`);

/** The model of a scenario, which knows what to do in a fork. */
export const forkable =
  (reply: (request: ModelRequest) => ModelReply) =>
  (request: ModelRequest): ModelReply => {
    const said = request.messages.findLastIndex((m) => m.role === 'user' && m.text === FORKED);
    if (said < 0) return reply(request);
    const results = request.messages.slice(said).flatMap((m) => (m.role === 'tool' ? m.results : []));
    if (results.length === 0) {
      return calls(
        ['pay', { what: PAYMENT }],
        ['code', { source: "'alive'" }],
        ['recall', { words: FORKED }],
      );
    }
    const came = results.map(({ tool, status, text }) =>
      tool === 'recall' && !ITS_OWN.test(text) ? 'recall: of another' : `${tool}: ${status}`,
    );
    return say(['forked', ...came].join('\n'));
  };

/** Another client forks the session as it stands in the store. */
export async function branchOff(
  session: SessionId,
  ports: LogPorts & Pick<Ports, 'sealer'>,
  world: World,
): Promise<Branch> {
  const log = new Log(session, ports);
  await log.catchUp();
  const made = sessionId('fork0000000000000000');
  const { forked } = await fork(made, { session, state: log.state }, {}, 'local' as Owner, ports);
  return new Branch(forked.session, forked.seq, world);
}

export class Branch {
  readonly session: SessionId;
  readonly witness: Witness;
  readonly wanted = { [`pay: ${PAYMENT}`]: 1 };
  isSpokenTo = false;
  private readonly seq: number;
  /** With the books of this session only. */
  private readonly world: World;
  private readonly events: (Event | ForeignEvent)[] = [];
  private readonly early: string[] = [];

  constructor(session: SessionId, seq: number, world: World) {
    this.session = session;
    this.seq = seq;
    this.world = seenBy(world, (reference) => reference.startsWith(`${session}.`));
    this.witness = new Witness(this.world);
  }

  async look(store: Store): Promise<void> {
    const seen = this.witness.state.head;
    const events = (await store.read(this.session, seen, 10_000)).map(decode);
    this.witness.inherited(events.filter(({ seq }) => seq < this.seq));
    const own = events.filter(({ seq }) => seq >= this.seq);
    this.events.push(...own);
    this.witness.committed(own);
  }

  /** B1, before it is spoken to. */
  rested(): void {
    const found = this.world.books.map(({ service, what }) => `the fork did "${service}: ${what}" by itself`);
    this.early.push(...found);
    if (this.witness.state.turn !== null) this.early.push('the fork has begun a turn by itself');
  }

  get questions(): { readonly asked: number; readonly fewest: number } {
    return { asked: this.events.filter(asksAboutEffect).length, fewest: fewestQuestions(this.events) };
  }

  async findings(
    original: SessionId,
    store: Store,
  ): Promise<{ readonly untrue: readonly string[]; readonly broken: readonly string[] }> {
    const { state, untrue, broken } = this.witness;
    const shared = this.seq - 1;
    const [theirs, ours] = await Promise.all([
      store.read(original, 0, shared),
      store.read(this.session, 0, shared),
    ]);
    const isSame = JSON.stringify(theirs) === JSON.stringify(ours);
    const said = state.lastTurn?.text;
    return {
      untrue: [...untrue, ...judgeLedger(ownEffects(state, this.seq), this.world)].map(ofFork),
      broken: [
        ...broken,
        ...this.early,
        ...(isSame ? [] : ['it does not begin with the events of its original']),
        ...(!this.isSpokenTo || said === SAID
          ? []
          : [`its last response should say "${SAID}", it says: ${said}`]),
      ].map(ofFork),
    };
  }
}

/** The world as one session can have changed it. */
export function seenBy(world: World, isIts: (reference: string) => boolean): World {
  const its = <E extends { readonly reference: string }>(entries: E[]): E[] =>
    entries.filter(({ reference }) => isIts(reference));
  return new Proxy(world, {
    get: (target, key) => (key === 'books' || key === 'undone' ? its(target[key]) : Reflect.get(target, key)),
  });
}

const ofFork = (finding: string): string => `fork: ${finding}`;

/** Without what the original had settled: that stands in the books under its name. */
const ownEffects = (s: State, since: number): State => ({
  ...s,
  effects: { ...s.effects, closed: s.effects.closed.filter(({ settledSeq }) => (settledSeq ?? 0) >= since) },
});
