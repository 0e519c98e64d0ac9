/**
 * The person: reads what is surfaced, and when asked looks into the service's own records, not before nothing can
 * arrive any more, as anybody would who takes a minute.
 */

import type { Event, ForeignEvent } from '../core/event.ts';
import type { Json } from '../lib/json.ts';
import type { Outlast } from '../runtime/runtime.ts';
import type { Told } from './judge.ts';
import type { Life } from './life.ts';
import { LATE_MS } from './terms.ts';
import type { Entry } from './world.ts';

export interface Seat {
  readonly outlast: Outlast;
  readonly session: string;
  readonly life: Life;
}

export interface Eyes {
  readonly entries: () => Promise<readonly Entry[]>;
  readonly about: (args: Json) => readonly string[];
  readonly lateMs?: number;
}

export class Person {
  private readonly heard = new Map<string, Told>();
  private readonly eyes: Eyes;

  constructor(eyes: Eyes) {
    this.eyes = eyes;
  }

  get told(): readonly Told[] {
    return [...this.heard.values()];
  }

  /** Reads along until the life is over; `seen` is called for each answer, the first time and when it is shown again. */
  async follow({ outlast, session }: Seat, seen: (event: Event) => void = () => {}): Promise<void> {
    for await (const event of outlast.follow(session, { after: 0 })) {
      if (event.kind !== 'response.surfaced') continue;
      this.hear(session, event);
      seen(event);
    }
  }

  /** Resolves once the session rests and nothing is asked any more; never, when the life ends before. */
  async attend({ outlast, session, life }: Seat): Promise<void> {
    for (;;) {
      const phase = await outlast.rest(session);
      const log = await outlast.events(session, 0, 1_000);
      for (const event of log) if (event.kind === 'response.surfaced') this.hear(session, event);
      if (phase !== 'awaiting_decision') return;
      const { decisions } = await outlast.inspect(session);
      for (const { id, effect, since } of decisions) {
        if (effect === null) continue;
        await life.clock.sleep(Math.max(0, since + (this.eyes.lateMs ?? LATE_MS) - life.clock.now()));
        const answer = (await this.isThere(log, effect)) ? 'done' : 'not-done';
        // Evidence may have answered it meanwhile.
        await outlast.decide(session, id, answer, 'I looked into the records').catch(() => {});
      }
    }
  }

  private hear(session: string, { seq, at, text }: Event & { kind: 'response.surfaced' }): void {
    const key = `${session} ${seq}`;
    if (!this.heard.has(key)) this.heard.set(key, { at, text });
  }

  /** More of it stands than the ledger knows of. */
  private async isThere(log: readonly (Event | ForeignEvent)[], effect: string): Promise<boolean> {
    const { about, entries } = this.eyes;
    const things = new Map<string, string>();
    const done = new Set<string>();
    for (const event of log) {
      if (event.kind === 'effect.intended') things.set(event.effect, about(event.args).join(' '));
      if (event.kind === 'effect.settled' && event.outcome.status === 'done') done.add(event.effect);
      if (event.kind === 'effect.reconciled' && event.finding.status === 'done') done.add(event.effect);
    }
    const thing = things.get(effect) ?? '';
    const known = [...done].filter((id) => things.get(id) === thing).length;
    const stand = (await entries()).filter(
      ({ what, undoneAt }) => what === thing && undoneAt === null,
    ).length;
    return stand > known;
  }
}
