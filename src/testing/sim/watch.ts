/**
 * The judge's eyes on a run: reads the log of the session, and of its fork, as they grow, with the books as they are at
 * that moment, and says at the end what it thinks of it.
 */

import { asksAboutEffect, fewestQuestions } from '../../break/questions.ts';
import type { Event, ForeignEvent } from '../../core/event.ts';
import type { Owner, SessionId } from '../../core/ids.ts';
import { decode } from '../../core/upcast.ts';
import type { Store } from '../../store/port.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import { type Branch, seenBy } from './branch.ts';
import { askedInVain, type Heard } from './heard.ts';
import { judgeBooks, judgeFiles, judgeLedger, judgeMoney, untrueEnd, waitsInVain } from './judge.ts';
import { Kindred } from './kindred.ts';
import type { Scenario } from './scenario.ts';
import { shedInVain } from './shed.ts';
import type { Verdict } from './verdict.ts';
import { Witness } from './witness.ts';
import type { World } from './world.ts';

export const OWNER = 'local' as Owner;

interface Options {
  readonly scenario: Scenario;
  readonly clock: VirtualClock;
  readonly world: World;
  readonly store: Store;
}

export class Watch {
  session: SessionId | null = null;
  branch: Branch | null = null;
  readonly kindred: Kindred;
  readonly witness: Witness;
  /** One line per event: equal for equal seeds. */
  readonly trace: string[] = [];
  /** Answers that reached a machine, in the order in which they came. */
  readonly heard: Heard[] = [];
  /** When the last frozen machine went on, on the monotonic clock. */
  thawedAt = 0;
  private readonly options: Options;
  /** The world without what the fork did: the original is judged as if there were none. */
  private readonly own: World;
  private readonly events: (Event | ForeignEvent)[] = [];
  private looking: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.options = options;
    this.kindred = new Kindred(options.world);
    this.own = seenBy(
      options.world,
      (reference) => !reference.startsWith(`${this.branch?.session}.`) && !this.kindred.has(reference),
    );
    this.witness = new Witness(this.own);
  }

  /** One after the other: with two lives at work both may look. */
  look(): Promise<void> {
    this.looking = this.looking.then(() => this.see());
    return this.looking;
  }

  witnessOf(session: SessionId): Witness {
    if (session === this.branch?.session) return this.branch.witness;
    return this.kindred.witnessOf(session) ?? this.witness;
  }

  /** What another client has stopped or interrupted need not have been done; what was told of it is true all the same. */
  async verdict(stuck: readonly string[], changesCourse: boolean): Promise<Verdict> {
    await this.look();
    const { scenario, world, store } = this.options;
    const { branch, witness, session, events } = this;
    const wanted = { ...scenario.wanted, ...(branch?.isSpokenTo ? branch.wanted : {}) };
    const { duplicates, lost } = judgeBooks(wanted, world);
    const files = session
      ? judgeFiles(scenario, witness.state, world.workspaces.hands.tree(session))
      : { untrue: [], lost: [] };
    const fork = branch && session ? await branch.findings(session, store) : null;
    const kin = session ? this.kindred.findings(session, witness.state, events) : null;
    const { asked = 0, fewest = 0 } = this.kindred.questions;
    return {
      duplicates,
      lost: changesCourse ? [] : [...lost, ...files.lost],
      untrue: [
        ...witness.untrue,
        ...judgeLedger(witness.state, this.own),
        ...files.untrue,
        ...(changesCourse ? [] : untrueEnd(scenario, witness.state)),
        ...(fork?.untrue ?? []),
        ...(kin?.untrue ?? []),
      ],
      stuck: [...stuck, ...(kin?.stuck ?? [])],
      broken: [
        ...witness.broken,
        ...waitsInVain(witness.state),
        ...(fork?.broken ?? []),
        ...(kin?.broken ?? []),
      ],
      questions: events.filter(asksAboutEffect).length + (branch?.questions.asked ?? 0) + asked,
      questionsMinimum: fewestQuestions(events) + (branch?.questions.fewest ?? 0) + fewest,
    };
  }

  /** Everybody else in the store is a child, or a child of one. */
  private async others(session: SessionId, store: Store): Promise<void> {
    for (const { id } of await store.list({ limit: 100 })) {
      if (id !== session && id !== this.branch?.session) await this.kindred.look(id, store);
    }
  }

  private async see(): Promise<void> {
    const { session, witness, events } = this;
    if (!session) return;
    const { store, world, clock } = this.options;
    await this.branch?.look(store);
    if (this.options.scenario.hasChildren) await this.others(session, store);
    const rows = await store.read(session, events.at(-1)?.seq ?? 0, 10_000);
    const news = rows.map(decode);
    this.trace.push(...rows.map((row) => `${row.seq} ${row.at} ${row.kind} ${row.body.length}`));
    events.push(...news);
    witness.committed(news);
    if (news.some(({ kind }) => kind === 'session.archived'))
      witness.broken.push(...(await shedInVain(session, witness.state, store)));
    witness.untrue.push(...judgeMoney(world, witness.state, await store.budget(OWNER)));
    const { heard, thawedAt } = this;
    const hearing = { of: session, heard, thawedAt, now: clock.monotonic() };
    witness.untrue.push(...news.flatMap((event) => askedInVain(event, witness.state, hearing)));
  }
}
