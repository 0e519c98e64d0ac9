/** What the effects of a log are about: the service and the name, by their arguments. */

import type { Event, ForeignEvent } from '../../core/event.ts';
import { type ServiceName, serviceAt } from './batch.ts';

export interface About {
  readonly service: ServiceName;
  readonly what: string;
}

/** Null for an effect that only reads. */
export function aboutOf(event: Extract<Event, { kind: 'effect.intended' }>): About | null {
  const { url, body } = event.args as { url: string; body: string | null };
  const service = serviceAt(new URL(url).pathname);
  if (typeof body !== 'string' || service === undefined) return null;
  return { service, what: String((JSON.parse(body) as { what: unknown }).what) };
}

export function effectsOf(log: readonly (Event | ForeignEvent)[]): ReadonlyMap<string, About> {
  const effects = new Map<string, About>();
  for (const event of log) {
    const about = event.kind === 'effect.intended' ? aboutOf(event) : null;
    if (event.kind === 'effect.intended' && about) effects.set(event.effect, about);
  }
  return effects;
}
