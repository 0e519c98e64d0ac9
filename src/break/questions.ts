/** Questions to a person whether something happened: which those are, and how few would have done. */

import type { Capability } from '../core/capability.ts';
import type { Event, ForeignEvent } from '../core/event.ts';

type Log = readonly (Event | ForeignEvent)[];

/** A question of the work itself is no doubt of ours, and neither is one that comes before anything is sent. */
export const asksAboutEffect = (event: Event | ForeignEvent): boolean =>
  event.kind === 'decision.requested' && event.about === 'unknown';

/**
 * The fewest questions that this log allows: one for each dispatch of a blind effect whose own answer never came, and one
 * for each of a keyed effect without an answer under its key, where the service has forgotten that key before anybody
 * asked. The log cannot tell whether it was applied, and nobody but a person can. Whoever asks twice about one dispatch,
 * or about one that is answered, asks too much. `able` is what the service can do in truth, where the effects of the log
 * declare something else.
 */
export function fewestQuestions(log: Log, able?: Capability): number {
  const declared = new Map<string, Capability>();
  const doubtful = new Set<string>();
  const forgotten = new Set<string>();
  const underKey = new Map<string, { readonly attempt: number; readonly since: number }>();
  const asked = new Set<string>();
  for (const event of log) {
    if (!('effect' in event) || event.effect === null) continue;
    const { effect } = event;
    const capability = able ?? declared.get(effect);
    switch (event.kind) {
      case 'effect.intended':
        declared.set(effect, event.capability);
        break;
      case 'effect.dispatched':
        asked.delete(effect);
        // Sent again under the same key, it is as old as that key.
        underKey.set(effect, { attempt: event.attempt, since: underKey.get(effect)?.since ?? event.at });
        if (capability?.kind === 'blind') doubtful.add(`${effect}:${event.attempt}`);
        break;
      case 'effect.settled':
        if (event.outcome.status === 'unknown') break;
        underKey.delete(effect);
        doubtful.delete(`${effect}:${event.attempt}`);
        break;
      // A result that was handed in before anybody was asked answers it, too.
      case 'evidence.received':
        if (asked.has(effect)) break;
        underKey.delete(effect);
        doubtful.delete(`${effect}:${event.attempt}`);
        break;
      case 'effect.reconciled':
        if (event.finding.status !== 'unclear') underKey.delete(effect);
        if (event.evidence !== 'unsent' || asked.has(effect)) break;
        for (const one of doubtful) if (one.startsWith(`${effect}:`)) doubtful.delete(one);
        break;
      case 'decision.requested': {
        if (!asksAboutEffect(event)) break;
        asked.add(effect);
        const sent = underKey.get(effect);
        if (capability?.kind === 'keyed' && sent && event.at >= sent.since + capability.retentionMs)
          forgotten.add(`${effect}:${sent.attempt}`);
        break;
      }
      default:
    }
  }
  return doubtful.size + forgotten.size;
}
