/**
 * The person: a client like any other, over HTTP, through every kill. Sends under keys and repeats what was not
 * answered, follows events by offset, and answers each question truthfully, by looking into the books once nothing can
 * arrive any more.
 */

import { type Client, client } from '../../client/client.ts';
import { mayPass } from '../../client/request.ts';
import { OutlastError } from '../../core/error.ts';
import type { DecisionAnswer, Event, EventKind, ForeignEvent } from '../../core/event.ts';
import type { When } from '../../core/message.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Inspection, Verification } from '../../protocol/schema.ts';
import { Approvals } from './approvals.ts';
import { type Batch, instruction } from './batch.ts';
import { LATE_MS, type Row, standing } from './books.ts';

const AGAIN_MS = 20;

interface Options {
  readonly url: () => Promise<string>;
  /** What the services' own records say of this round. */
  readonly rows: () => readonly Row[];
  /** When approvals are decided, and how. */
  readonly random: () => number;
  /** Names the keys. */
  readonly name: string;
  readonly signal: AbortSignal;
}

export class Person {
  readonly batches: Batch[] = [];
  readonly followed: (Event | ForeignEvent)[] = [];
  /** How often the session was quarantined and had to be resumed. */
  resumed = 0;
  /** Each time that it was said to rest while effects were open. */
  readonly restless: string[] = [];
  readonly approvals: Approvals;
  private readonly options: Options;
  private readonly outlast: Client;
  private session: string | null = null;
  private following: Promise<void> = Promise.resolve();
  private readonly watching = new AbortController();
  private readonly waiters = new Set<(event: Event | ForeignEvent) => void>();

  constructor(options: Options) {
    this.options = options;
    this.outlast = client({ url: options.url });
    this.approvals = new Approvals({
      ...options,
      decide: (decision, answer) => this.say(decision, answer, `I ${answer} it`),
    });
  }

  get id(): string {
    return this.session ?? '(not started)';
  }

  async start(batch: Batch): Promise<void> {
    this.batches.push(batch);
    const request = { message: instruction(batch), persist: true, key: `${this.options.name}.${batch.id}` };
    const { session } = await this.insist((signal) => this.outlast.start({ ...request, signal }));
    this.session = session;
    this.following = this.follow(session);
  }

  /** False while there is no session to send to. */
  async send(batch: Batch, when: When = 'next'): Promise<boolean> {
    const { session } = this;
    if (session === null) return false;
    this.batches.push(batch);
    const key = `${this.options.name}.${batch.id}`;
    await this.insist((signal) => this.outlast.send(session, instruction(batch), { key, when, signal }));
    return true;
  }

  /** Until nothing more happens by itself; answers what is asked on the way, and waits for the other desk. */
  async rest(): Promise<Inspection> {
    const { session } = this;
    if (session === null) throw new Error('a session rests once it was started');
    for (;;) {
      const seen = await this.insist((signal) => this.outlast.rest(session, { signal }));
      const question = seen.decisions.find(({ about }) => about === 'unknown');
      if (seen.phase === 'awaiting_decision' && question) await this.decide(question);
      else if (seen.phase === 'awaiting_decision') await this.progress(AGAIN_MS * 10);
      else if (seen.phase === 'paused') {
        this.resumed++;
        await this.insist((signal) => this.outlast.resume(session, { signal }));
      } else if (seen.ledger.some(({ status }) => OPEN.includes(status))) {
        const open = seen.ledger.filter(({ status }) => OPEN.includes(status));
        const list = open.map(({ effect, status }) => `${effect} ${status}`).join(', ');
        this.restless.push(`${session} at ${seen.head}: ${seen.phase}, and ${list}`);
        await this.pause(AGAIN_MS * 5);
      } else if (seen.wakesAt !== null) {
        // The response is out, but code in the background is not at its end.
        await this.progress(Math.max(0, seen.wakesAt - systemClock.now()) + AGAIN_MS * 5);
      } else return seen;
    }
  }

  /** The whole log, and what verifying says of it. */
  async look(): Promise<{ log: readonly (Event | ForeignEvent)[]; verification: Verification }> {
    const { session } = this;
    if (session === null) throw new Error('there is nothing to look at before the start');
    const verification = await this.insist((signal) => this.outlast.verify(session, { signal }));
    const log: (Event | ForeignEvent)[] = [];
    for (let more = true; more; ) {
      const after = log.length;
      const page = await this.insist((signal) => this.outlast.events(session, { after, limit: 500, signal }));
      log.push(...(page.events as unknown as Event[]));
      more = page.more;
    }
    while (this.followed.length < log.length) await this.progress(1_000);
    return { log, verification };
  }

  /** The newest lease that the follower has heard of. */
  lastLease(): { epoch: number } {
    const leases = this.followed.filter((event) => event.kind === 'lease.acquired');
    return { epoch: leases.at(-1)?.epoch ?? 0 };
  }

  /** Resolves at the next event that the follower gets, of this kind if one is named, or after `atMostMs`. */
  async progress(atMostMs: number, kind?: EventKind): Promise<void> {
    const over = new AbortController();
    const watch = (event: Event | ForeignEvent): void => {
      if (kind === undefined || event.kind === kind) over.abort();
    };
    this.waiters.add(watch);
    await this.pause(atMostMs, over.signal);
    this.waiters.delete(watch);
    this.options.signal.throwIfAborted();
  }

  async leave(): Promise<void> {
    this.watching.abort();
    await this.following;
    await this.approvals.done();
  }

  private async decide({ id, since, question }: Inspection['decisions'][number]): Promise<void> {
    // Whoever sent it was gone when the question was asked, or had its connection cut.
    await this.pause(Math.max(0, since + LATE_MS + 20 - systemClock.now()));
    const what = /what\W+([\w.]+)/.exec(question)?.[1];
    const stands = standing(this.options.rows()).some((row) => row.what === what);
    await this.say(id, stands ? 'done' : 'not-done', 'looked it up');
  }

  private async say(decision: string, answer: DecisionAnswer, text: string): Promise<void> {
    const { id } = this;
    await this.insist((signal) => this.outlast.decide(id, decision, answer, { text, signal })).catch(
      (error: unknown) => {
        // Decided under a life that was killed before it could say so.
        if (!(error instanceof OutlastError && error.code === 'decision.closed')) throw error;
      },
    );
  }

  private async follow(session: string): Promise<void> {
    const signal = AbortSignal.any([this.watching.signal, this.options.signal]);
    while (!signal.aborted) {
      try {
        const after = this.followed.length;
        for await (const event of this.outlast.follow(session, { after, signal })) {
          if (event.kind === 'whisper') continue;
          this.followed.push(event);
          this.approvals.heard(event);
          for (const watch of [...this.waiters]) watch(event);
        }
      } catch (error) {
        if (!signal.aborted && !mayPass(error)) throw error;
      }
    }
  }

  /** Again and again, until it is answered. */
  private async insist<T>(attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.options;
    for (;;) {
      signal.throwIfAborted();
      try {
        return await attempt(signal);
      } catch (error) {
        if (signal.aborted || !mayPass(error)) throw error;
        await this.pause(AGAIN_MS);
      }
    }
  }

  private async pause(ms: number, also?: AbortSignal): Promise<void> {
    const { signal } = this.options;
    await systemClock.sleep(ms, also ? AbortSignal.any([also, signal]) : signal);
  }
}

const OPEN: readonly string[] = ['intended', 'dispatched', 'unknown'];
