/**
 * One round: a session that is given batches and corrections while its server is killed at random instants, and is
 * judged once it rests. Every third kill or so lands on a server that is still recovering from the one before.
 */

import type { When } from '../../core/message.ts';
import { systemClock } from '../../lib/clock.ts';
import { seededEntropy } from '../../lib/entropy.ts';
import type { Verdict } from '../sim/judge.ts';
import { type Batch, SERVICES, SHAPES } from './batch.ts';
import { readBooks } from './books.ts';
import { dispatchesInDoubt, extras, findingsOf, judge } from './judge.ts';
import { Person } from './person.ts';
import type { Server } from './processes.ts';

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
  readonly effects: number;
  /** Requests that left and whose own answer never came: what kills are meant to leave behind. */
  readonly inDoubt: number;
  /** Rows that stood twice for a while, were undone and told. */
  readonly extras: number;
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
  private isOver = false;

  constructor(options: RoundOptions) {
    const { round, seed, server, books } = options;
    this.options = options;
    this.random = seededEntropy(seed + 7_919 * round).next;
    this.signal = AbortSignal.any([options.signal, this.stuckAt.signal]);
    this.person = new Person({ url: server.url, books, name: `r${round}`, signal: this.signal });
  }

  async play(): Promise<Round> {
    const { person } = this;
    const killing = this.kill();
    const correcting = this.correct();
    // Their errors are met below, where they are awaited.
    for (const task of [killing, correcting]) task.catch(() => {});
    const stuck: string[] = [];
    let inspection = null;
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
    const { batches, followed, resumed, restless } = person;
    const verdict = judge({
      batches,
      followed,
      log: looked?.log ?? followed,
      inspection,
      verification: looked?.verification ?? null,
      stuck,
      rows: this.ownRows(),
    });
    const effects = batches.reduce((sum, batch) => sum + batch.wanted.length, 0);
    const { kills, early } = this;
    const { round } = this.options;
    const findings = findingsOf(verdict);
    const inDoubt = dispatchesInDoubt(followed);
    return {
      round,
      session: person.id,
      kills,
      early,
      effects,
      inDoubt,
      extras: extras(this.ownRows()).length,
      resumed,
      restless,
      verdict,
      findings,
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
      await server.kill();
      this.kills++;
      onKill();
    }
    this.isOver = true;
    void this.boundTheRest();
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
    const id = `r${this.options.round}b${++this.made}`;
    const count = 1 + Math.floor(this.random() * most);
    const wanted = Array.from({ length: count }, (_, i) => ({
      service: pick(SERVICES, this.random),
      what: `${id}.${i + 1}`,
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

  private ownRows(): ReturnType<typeof readBooks> {
    const own = `r${this.options.round}b`;
    return readBooks(this.options.books).filter(({ what }) => what.startsWith(own));
  }

  private async pause(ms: number): Promise<void> {
    await systemClock.sleep(ms, this.signal);
  }
}

const pick = <T>(from: readonly T[], random: () => number): T =>
  from[Math.floor(random() * from.length)] as T;
