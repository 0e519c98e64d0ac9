/**
 * One round: a session that is given batches and corrections while its server is killed at random instants, and is
 * judged once it rests. Every third kill or so lands on a server that is still recovering from the one before. Now and then
 * nobody is there for a while, longer than some services keep their keys. In some rounds a person is asked before.
 */

import { BookReader } from '../../break/service/book.ts';
import type { When } from '../../core/message.ts';
import { systemClock } from '../../lib/clock.ts';
import { seededEntropy } from '../../lib/entropy.ts';
import type { Inspection } from '../../protocol/schema.ts';
import { findingsOf, type Verdict } from '../sim/verdict.ts';
import { effectsOf } from './about.ts';
import { type Batch, SERVICES, type ServiceName, SHAPES } from './batch.ts';
import { type Arrival, type Row, readBooks } from './books.ts';
import { judge } from './judge.ts';
import { Person } from './person.ts';
import type { Server } from './processes.ts';
import { openIn, type Tallies, tallies } from './tally.ts';

export interface RoundOptions {
  readonly round: number;
  readonly seed: number;
  readonly kills: number;
  readonly server: Server;
  /** Where the outside can be reached, and where its books are. */
  readonly outside: string;
  readonly books: string;
  /** No more kills: the round comes to its end. */
  readonly finishing: AbortSignal;
  /** Gives the round up. */
  readonly signal: AbortSignal;
  readonly onKill: () => void;
}

export interface Round {
  readonly round: number;
  readonly session: string;
  readonly kills: number;
  /** Kills of a server that had not yet said that it is ready. */
  readonly early: number;
  /**
   * Kills that interrupted a recovery: those, and kills of a server that had not yet cleared up what an earlier kill had
   * left open.
   */
  readonly recovering: number;
  /** Kills after which nobody was there for a while. */
  readonly away: number;
  /** Approvals that the person decided, and how many of them with a no. */
  readonly approvals: number;
  readonly rejected: number;
  readonly kinds: Tallies;
  readonly resumed: number;
  /** Each time that the session was said to rest while an effect of it was open. */
  readonly restless: readonly string[];
  readonly verdict: Verdict;
  readonly findings: readonly string[];
}

const WITHIN_MS = 600;
/** How long progress is waited for. */
const SIGHT_MS = 2_500;
const EARLY = 0.25;
/** Of the others, how many wait for a request to leave. */
const SENT = 0.8;
/** About as long as a server takes to come up, on a machine with other things to do. */
const RECOVERY_MS = 500;
/** How likely nobody comes for a while: where a key may expire meanwhile, and otherwise. */
const AWAY = { expiring: 0.35, other: 0.01 };
/** On both sides of the time for which keys are kept. */
const AWAY_FROM_MS = 1_500;
const AWAY_TO_MS = 4_500;
/** Rounds in which a person is asked before, and of how many of the effects. */
const ASKING = 0.35;
const ASKS = 0.35;
const ITEMS = 3;
/** Time after the last kill in which a session must come to rest. */
const BOUND_MS = 90_000;
const SMALLEST = 2;

export async function playRound(options: RoundOptions): Promise<Round> {
  return new Play(options).play();
}

class Play {
  private readonly options: RoundOptions;
  private readonly person: Person;
  private readonly random: () => number;
  private readonly stuckAt = new AbortController();
  private readonly signal: AbortSignal;
  private made = 0;
  private kills = 0;
  private early = 0;
  private recovering = 0;
  private away = 0;
  private lastKillAt = 0;
  private readonly asks: number;
  private readonly reader: BookReader;
  private isOver = false;

  constructor(options: RoundOptions) {
    const { round, seed, server, books } = options;
    this.options = options;
    this.random = seededEntropy(seed + 7_919 * round).next;
    this.asks = this.random() < ASKING ? ASKS : 0;
    this.reader = new BookReader(books);
    this.signal = AbortSignal.any([options.signal, this.stuckAt.signal]);
    this.person = new Person({
      ...{ url: server.url, name: `r${round}`, signal: this.signal },
      rows: () => this.rows(),
      random: seededEntropy(seed + 104_729 * round).next,
    });
  }

  async play(): Promise<Round> {
    const { person } = this;
    const killing = this.kill();
    const correcting = this.correct();
    // Their errors are met below, where they are awaited.
    for (const task of [killing, correcting]) task.catch(() => {});
    const stuck: string[] = [];
    let inspection: Inspection | null = null;
    let looked: Awaited<ReturnType<Person['look']>> | null = null;
    try {
      await person.start(this.batch());
      for (let given = 1; !this.isOver || given < SMALLEST; given++) {
        await person.rest();
        await person.send(this.batch());
      }
      await Promise.all([killing, correcting]);
      inspection = await person.rest();
      await this.outsideIsQuiet();
      looked = await person.look();
    } catch (error) {
      this.options.signal.throwIfAborted();
      if (!this.stuckAt.signal.aborted) throw error;
      stuck.push(`${person.id} did not come to rest within ${BOUND_MS / 1_000} s after the last kill`);
    } finally {
      this.isOver = true;
      await Promise.allSettled([killing, correcting]);
      this.stuckAt.abort();
      await person.leave();
    }
    const { batches, followed, resumed, restless, approvals } = person;
    const rows = this.rows();
    const log = looked?.log ?? followed;
    const verdict = judge({
      ...{ batches, followed, log, inspection, rows, stuck },
      ...{ verification: looked?.verification ?? null, approvals: approvals.made },
      arrivals: await this.arrivals(),
    });
    const { kills, early, recovering, away } = this;
    const answers = [...approvals.made.values()].map(({ answer }) => answer);
    return {
      ...{ round: this.options.round, session: person.id, kills, early, recovering, away },
      approvals: answers.length,
      rejected: answers.filter((answer) => answer === 'reject').length,
      kinds: tallies(log, rows),
      ...{ resumed, restless, verdict, findings: findingsOf(verdict) },
    };
  }

  private async kill(): Promise<void> {
    const { server, kills, finishing, onKill } = this.options;
    for (let n = 0; n < kills && !this.signal.aborted && !finishing.aborted; n++) {
      let isReady = false;
      const ready = server.ready().then(() => {
        isReady = true;
      });
      if (this.random() < EARLY) await this.pause(this.random() * RECOVERY_MS);
      else {
        await ready;
        await this.person.progress(SIGHT_MS, this.random() < SENT ? 'effect.dispatched' : undefined);
        // Soon after more often than long after: requests are answered soon.
        await this.pause(this.random() ** 2 * WITHIN_MS);
      }
      if (!isReady) this.early++;
      if (!isReady || this.leftOpen()) this.recovering++;
      this.lastKillAt = systemClock.now();
      const awayMs = this.awayMs();
      if (awayMs > 0) this.away++;
      await server.kill(awayMs, this.signal);
      this.kills++;
      onKill();
    }
    this.isOver = true;
    void this.boundTheRest();
  }

  /** Whether something that left before the last kill is still open. */
  private leftOpen(): boolean {
    return [...openIn(this.person.followed).values()].some((at) => at < this.lastKillAt);
  }

  private awayMs(): number {
    const { followed } = this.person;
    const effects = effectsOf(followed);
    const mayExpire = [...openIn(followed).keys()].some((id) => effects.get(id)?.service === 'expiring');
    if (this.random() >= (mayExpire ? AWAY.expiring : AWAY.other)) return 0;
    return AWAY_FROM_MS + this.random() * (AWAY_TO_MS - AWAY_FROM_MS);
  }

  private async boundTheRest(): Promise<void> {
    const done = this.stuckAt.signal;
    await systemClock.sleep(BOUND_MS, done);
    this.stuckAt.abort();
  }

  /** Corrections come when they come: while a cell runs, while a question is open, while nobody serves. */
  private async correct(): Promise<void> {
    const whens: readonly When[] = ['next', 'later', 'now'];
    while (!this.isOver) {
      await this.pause(200 + this.random() * 1_500);
      if (this.isOver) return;
      await this.person.send(this.batch(2), pick(whens, this.random));
    }
  }

  private batch(most = 5): Batch {
    const id = `r${this.options.round}.${++this.made}`;
    const count = 1 + Math.floor(this.random() * most);
    const services = Array.from({ length: count }, () => pick(SERVICES, this.random)).flatMap((service) =>
      service === 'batch' ? Array<ServiceName>(ITEMS).fill(service) : [service],
    );
    const wanted = services.map((service, i) => ({
      ...{ service, what: `${id}.${i + 1}` },
      asks: this.random() < this.asks,
    }));
    return { id, shape: pick(SHAPES, this.random), wanted };
  }

  /** What was still on its way outside has been applied, or never will be. */
  private async outsideIsQuiet(): Promise<void> {
    for (;;) {
      const { pending } = (await (await fetch(`${this.options.outside}/pending`)).json()) as {
        pending: number;
      };
      if (pending === 0) return;
      this.signal.throwIfAborted();
      await this.pause(20);
    }
  }

  private rows(): readonly Row[] {
    return readBooks(this.reader, `r${this.options.round}`);
  }

  private async arrivals(): Promise<readonly Arrival[]> {
    const { outside, round } = this.options;
    const answer = await fetch(`${outside}/arrivals?of=r${round}`);
    return ((await answer.json()) as { arrivals: readonly Arrival[] }).arrivals;
  }

  private async pause(ms: number): Promise<void> {
    await systemClock.sleep(ms, this.signal);
  }
}

const pick = <T>(from: readonly T[], random: () => number): T =>
  from[Math.floor(random() * from.length)] as T;
