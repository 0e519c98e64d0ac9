/** What each service of the bench can do for its clients, and the rows of its books. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { KEPT_MS, LAG_MS, type Service } from '../terms.ts';

export interface Profile {
  /** For how long a key is known; null where keys mean nothing. */
  readonly keptMs: number | null;
  readonly isAskable: boolean;
  /** How long after it was applied a question finds it. */
  readonly lagMs: number;
  readonly canUndo: boolean;
}

const NOTHING: Profile = { keptMs: null, isAskable: false, lagMs: 0, canUndo: false };

export const PROFILES: Readonly<Record<Service, Profile>> = {
  keyed: { ...NOTHING, keptMs: Number.POSITIVE_INFINITY },
  expiring: { ...NOTHING, keptMs: KEPT_MS },
  queryable: { ...NOTHING, isAskable: true },
  lagging: { ...NOTHING, isAskable: true, lagMs: LAG_MS },
  cancelable: { ...NOTHING, isAskable: true, canUndo: true },
  blind: NOTHING,
  batch: { ...NOTHING, isAskable: true },
};

export interface Row {
  readonly id: number;
  /** `<run>.<item>`: what was asked for. */
  readonly what: string;
  readonly reference: string | null;
  /** The row that this one undoes; null for a row that stands for itself. */
  readonly undoes: number | null;
  /** Milliseconds since the epoch, on the clock of this machine. */
  readonly at: number;
}

export const bookOf = (dir: string, service: Service): string => join(dir, `${service}.jsonl`);

export const runOf = (what: string): string => what.slice(0, what.indexOf('.'));

/** Reads the books as they grow. A last line without its end is being written just now. */
export class BookReader {
  readonly dir: string;
  private readonly read = new Map<
    Service,
    { offset: number; rest: string; readonly byRun: Map<string, Row[]> }
  >();

  constructor(dir: string) {
    this.dir = dir;
  }

  rows(service: Service, run: string): readonly Row[] {
    const known = this.read.get(service) ?? { offset: 0, rest: '', byRun: new Map<string, Row[]>() };
    this.read.set(service, known);
    const file = openSync(bookOf(this.dir, service), 'r');
    try {
      const more = Buffer.alloc(fstatSync(file).size - known.offset);
      known.offset += readSync(file, more, 0, more.length, known.offset);
      const lines = (known.rest + more.toString('utf8')).split('\n');
      known.rest = lines.pop() ?? '';
      for (const line of lines) {
        const row = JSON.parse(line) as Row;
        const own = known.byRun.get(runOf(row.what)) ?? [];
        known.byRun.set(runOf(row.what), [...own, row]);
      }
      return known.byRun.get(run) ?? [];
    } finally {
      closeSync(file);
    }
  }
}
