/**
 * The books of services, one file for each with a JSON row a line. A service appends, whoever judges reads.
 *
 * B1  A row is on disk (fsync) before anybody is answered. Rows are only ever added, an undoing is a row.
 */

import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../lib/clock.ts';
import type { Service } from '../terms.ts';

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

const bookOf = (dir: string, service: Service): string => join(dir, `${service}.jsonl`);

export const runOf = (what: string): string => what.slice(0, what.indexOf('.'));

/** A row as its service knows it. */
interface Kept extends Row {
  /** When its request came. */
  readonly cameAt: number;
}

/** What a client that asks is shown. */
interface Shown extends Pick<Row, 'id' | 'what' | 'reference'> {
  readonly undone: boolean;
}

/** The book of one service, as that service has it. */
export class Book {
  private readonly file: number;
  private readonly byReference = new Map<string, Kept[]>();
  private readonly undone = new Set<number>();
  private lastId = 0;

  constructor(dir: string, service: Service) {
    mkdirSync(dir, { recursive: true });
    this.file = openSync(bookOf(dir, service), 'a');
    process.on('exit', () => closeSync(this.file));
  }

  /** B1. */
  append(entry: Pick<Row, 'what' | 'reference' | 'undoes'>, cameAt = systemClock.now()): void {
    const row = { id: ++this.lastId, ...entry, at: systemClock.now() };
    writeSync(this.file, `${JSON.stringify(row)}\n`);
    fsyncSync(this.file);
    const { reference, undoes } = row;
    if (undoes !== null) this.undone.add(undoes);
    else if (reference !== null) this.byReference.set(reference, [...this.of(reference), { ...row, cameAt }]);
  }

  /** Whether a request that came at `cameAt` repeats one whose key is still known then. */
  isKnown(reference: string | null, cameAt: number, keptMs: number | null): boolean {
    if (reference === null || keptMs === null) return false;
    return this.of(reference).some((row) => cameAt - row.cameAt < keptMs);
  }

  /** What stands under a reference, once that has been there for `lagMs`. */
  shown(reference: string, lagMs: number): readonly Shown[] {
    return this.of(reference)
      .filter(({ at }) => systemClock.now() - at >= lagMs)
      .map(({ id, what }) => ({ id, what, reference, undone: this.undone.has(id) }));
  }

  /** Whether there is such a row; it is undone once. */
  undo(id: number): boolean {
    const row = [...this.byReference.values()].flat().find((one) => one.id === id);
    if (row && !this.undone.has(id)) {
      this.append({ what: row.what, reference: row.reference, undoes: id });
    }
    return row !== undefined;
  }

  private of(reference: string): readonly Kept[] {
    return this.byReference.get(reference) ?? [];
  }
}

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
