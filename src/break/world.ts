/**
 * The outside of one run: what is wanted, the tools that do it, the books, and what the bench can make happen there.
 * The built-in world has seven services; `--with` brings one's own (`subject.ts`).
 */

import { systemClock } from '../lib/clock.ts';
import type { Model } from '../models/port.ts';
import type { Tool } from '../tools/port.ts';
import { agent, type Call, type Order } from './agent.ts';
import { clientOf, TOOL } from './client.ts';
import type { BookReader, Row } from './service/book.ts';
import { BATCH, type Boundary, type Service, type Variant } from './terms.ts';

/** A row as the judge needs it. */
export interface Entry {
  readonly what: string;
  readonly at: number;
  /** When it was undone; null while it stands. */
  readonly undoneAt: number | null;
}

export interface Arrivals {
  /** Requests that a stalled machine would have applied too late, and that were dropped. */
  readonly missed: number;
  /** When what was to be late was applied, in milliseconds since the epoch; null when nothing was. */
  readonly lateAt: number | null;
}

export interface RunWorld {
  readonly calls: readonly Call[];
  readonly together: boolean;
  readonly model: Model;
  readonly message: (order: Order) => string;
  tools(): readonly Tool[];
  /** What the books have of this run; only judges and people look. */
  entries(): Promise<readonly Entry[]>;
  /** Makes the boundary's fault happen to the first writes, where the outside itself can do that. */
  arm(boundary: Boundary, lateMs: number): Promise<void>;
  /** Resolves when the fault has happened; null when the outside takes no part in it. */
  seen(): Promise<void> | null;
  /** Waits for what is still on its way; tells how that went. */
  quiet(): Promise<Arrivals>;
  close(): Promise<void>;
}

export interface Endpoints {
  readonly reader: BookReader;
  readonly urls: Readonly<Record<Service, string>>;
}

interface Options {
  readonly run: string;
  readonly service: Service;
  readonly variant: Variant;
  readonly splits: boolean;
  readonly message: (order: Order) => string;
}

export function builtInWorld({ reader, urls }: Endpoints, options: Options): RunWorld {
  const { run, service, variant, splits, message } = options;
  const url = urls[service];
  const calls = callsOf(run, service, variant, splits);
  const control = async (path: string, body?: object): Promise<unknown> => {
    const init = body && { method: 'POST', body: JSON.stringify(body) };
    return (await fetch(`${url}${path}`, init)).json();
  };
  let isArmed = false;
  return {
    calls,
    together: service === 'batch',
    model: agent(),
    message,
    tools: () => [clientOf(service, url, { splits })],
    entries: async () => entriesIn(reader.rows(service, run)),
    async arm(boundary, lateMs) {
      const kind = FATES[boundary];
      if (!kind) return;
      isArmed = true;
      const items = calls.length > 1 && variant === 'two' ? 1 : service === 'batch' ? BATCH : 1;
      await control('/__fate', { run, kind, items, lateMs, isCutOff: service === 'batch' });
    },
    seen: () => (isArmed ? control(`/__seen?run=${run}`).then(() => {}) : null),
    async quiet() {
      for (;;) {
        const state = (await control(`/__state?run=${run}`)) as Arrivals & { pending: number };
        if (state.pending === 0) return state;
        await systemClock.sleep(20);
      }
    },
    close: async () => {},
  };
}

const FATES: Partial<Record<Boundary, 'lost' | 'late' | 'mute'>> = {
  lost: 'lost',
  late: 'late',
  applied: 'mute',
  recovery: 'mute',
  cancel: 'mute',
};

function callsOf(run: string, service: Service, variant: Variant, splits: boolean): readonly Call[] {
  const one = (letter: string): Call => {
    const what = `${run}.${letter}`;
    return { tool: TOOL, args: { what }, what: [what] };
  };
  if (service !== 'batch') return variant === 'two' ? [one('a'), one('a')] : [one('a')];
  const letters = Array.from({ length: BATCH }, (_, i) => String.fromCharCode(97 + i));
  if (splits) return letters.map(one);
  const items = letters.map((letter) => `${run}.${letter}`);
  return [{ tool: TOOL, args: { items }, what: items }];
}

function entriesIn(own: readonly Row[]): readonly Entry[] {
  const undoneAt = new Map(own.flatMap(({ undoes, at }) => (undoes === null ? [] : [[undoes, at] as const])));
  return own.flatMap(({ id, what, at, undoes }) =>
    undoes === null ? [{ what, at, undoneAt: undoneAt.get(id) ?? null }] : [],
  );
}
