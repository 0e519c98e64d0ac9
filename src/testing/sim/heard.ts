/** What machines were told by services: the answers that reached one, in the order in which they came. */

import type { Event, ForeignEvent } from '../../core/event.ts';
import type { SessionId } from '../../core/ids.ts';
import type { State } from '../../core/state.ts';
import { overlaid } from '../../lib/overlaid.ts';
import type { Tool } from '../../tools/port.ts';
import type { Life } from './life.ts';

/** An answer that a machine has; it may have died with it. */
export interface Heard {
  readonly by: Life;
  readonly reference: string;
  readonly attempt: number;
  readonly at: number;
}

/** Notes what a machine is told, for the judge. */
export function heeded(by: Life, tool: Tool, now: () => number, heard: Heard[]): Tool {
  const run: Tool['run'] = async (args, context) => {
    const answer = await tool.run(args, context);
    const { reference, attempt } = context;
    heard.push({ by, reference, attempt, at: now() });
    return answer;
  };
  return overlaid(tool, { run });
}

/** So long a machine may take to hand in what it knows. */
const PATIENCE_MS = 5_000;

interface Hearing {
  readonly of: SessionId | null;
  readonly heard: readonly Heard[];
  /** When the last frozen machine went on, and now, on the monotonic clock. */
  readonly thawedAt: number;
  readonly now: number;
}

/** Whether a person had to say what a machine, alive and awake, had known for long. */
export function askedInVain(event: Event | ForeignEvent, s: State, hearing: Hearing): readonly string[] {
  if (event.kind !== 'decision.made') return [];
  const decision = s.decisions.find(({ id }) => id === event.decision);
  const isIt = ({ by, reference, attempt, at }: Heard): boolean =>
    reference === `${hearing.of}.${decision?.effect}` &&
    attempt === decision?.attempt &&
    !by.dead &&
    !by.frozen &&
    hearing.now - Math.max(at, hearing.thawedAt) > PATIENCE_MS;
  return hearing.heard.some(isIt) ? [`${event.decision} was put to a person, and a machine knew it`] : [];
}
