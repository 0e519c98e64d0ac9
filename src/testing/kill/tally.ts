/** What happened in a round, kind by kind, as its log tells it. */

import { asksAboutEffect } from '../../break/questions.ts';
import type { Event, ForeignEvent } from '../../core/event.ts';
import { effectsOf } from './about.ts';
import { SERVICES, type ServiceName } from './batch.ts';
import type { Row } from './books.ts';

export interface Tally {
  effects: number;
  /** Marks of sending, those of repeats included. */
  sendings: number;
  /** Sendings whose own answer never came, whatever their service can do about it. */
  inDoubt: number;
  /** Questions to a person whether it happened. */
  questions: number;
  /** Extra rows that stood for a while, were undone and told. */
  undone: number;
}

export type Tallies = Readonly<Record<ServiceName, Tally>>;

export const noTallies = (): Tallies =>
  Object.fromEntries(
    SERVICES.map((name) => [name, { effects: 0, sendings: 0, inDoubt: 0, questions: 0, undone: 0 }]),
  ) as unknown as Tallies;

export function tallies(log: readonly (Event | ForeignEvent)[], rows: readonly Row[]): Tallies {
  const all = noTallies();
  const effects = effectsOf(log);
  for (const { service } of effects.values()) all[service].effects++;
  for (const event of log) {
    const about = 'effect' in event && event.effect !== null ? effects.get(event.effect) : undefined;
    if (!about) continue;
    if (event.kind === 'effect.dispatched') all[about.service].sendings++;
    if (asksAboutEffect(event)) all[about.service].questions++;
  }
  for (const sending of dispatchesInDoubt(log)) {
    const about = effects.get(sending.slice(0, sending.indexOf(':')));
    if (about) all[about.service].inDoubt++;
  }
  for (const { service, undoes } of rows) if (undoes !== null) all[service].undone++;
  return all;
}

/** Requests that left and whose own answer never came: `effect:attempt`. */
function dispatchesInDoubt(log: readonly (Event | ForeignEvent)[]): ReadonlySet<string> {
  const waiting = new Set<string>();
  for (const event of log) {
    if (event.kind === 'effect.dispatched') waiting.add(`${event.effect}:${event.attempt}`);
    if (event.kind === 'effect.settled' && event.outcome.status !== 'unknown')
      waiting.delete(`${event.effect}:${event.attempt}`);
  }
  return waiting;
}

/** Effects that were marked as sent, and when; not those whose end is known. */
export function openIn(log: readonly (Event | ForeignEvent)[]): ReadonlyMap<string, number> {
  const open = new Map<string, number>();
  for (const event of log) {
    if (event.kind === 'effect.dispatched') open.set(event.effect, event.at);
    if (event.kind === 'effect.settled' && event.outcome.status !== 'unknown') open.delete(event.effect);
    if (event.kind === 'effect.reconciled') open.delete(event.effect);
  }
  return open;
}
