/**
 * The books of the sample services: what the outside world remembers, whatever became of its client.
 *
 * Owns the files `<data>/books/<service>.jsonl`, one JSON row a line, and the list of facts that a row may hold.
 * The services append; judges read with `readBooks`. What a fact means to a client is the service's business.
 *
 * B1. A row is on disk (fsync) before its answer goes out.
 * B2. Rows are only ever added; `n` counts 1, 2, 3 … without a gap.
 * B3. A last line without its newline was never answered. Readers report it; `openBooks` removes it and says so in
 *     a row of its own. Damage anywhere else is an error, never skipped.
 * B4. One writer, the newest to open. One that finds itself replaced or revoked, or its folder gone, writes no more.
 */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../lib/clock.ts';
import { systemEntropy } from '../lib/entropy.ts';

type CommonFact =
  | { readonly kind: 'refused'; readonly method: string; readonly path: string; readonly code: string }
  | { readonly kind: 'books.repaired'; readonly torn: string };

export type BillingFact =
  | { readonly kind: 'account.lookup'; readonly name: string }
  | { readonly kind: 'auth.begin'; readonly account: string }
  | { readonly kind: 'auth.answer'; readonly account: string; readonly serial: number }
  | { readonly kind: 'auth.token'; readonly account: string; readonly serial: number }
  | {
      readonly kind: 'invoices.page';
      readonly account: string;
      readonly from: string;
      readonly to: string;
      readonly page: number;
    }
  | CommonFact;

export type MailingFact =
  | {
      readonly kind: 'mail.accepted';
      readonly reference: string | null;
      readonly to: string;
      readonly subject: string;
      readonly body: string;
    }
  | { readonly kind: 'mail.asked'; readonly reference: string }
  | CommonFact;

export interface FactsOf {
  readonly billing: BillingFact;
  readonly mailing: MailingFact;
}
export type ServiceName = keyof FactsOf;

/** `key` is the caller's Idempotency-Key; `repeated` marks a call whose key had been answered before. */
export interface Mark {
  readonly key?: string;
  readonly repeated?: true;
}
export type Row<F> = { readonly n: number; readonly at: string } & Mark & F;

export interface Reading<F> {
  readonly rows: readonly Row<F>[];
  /** A last line that was cut short, or is being written now; absent when the books are whole. */
  readonly torn?: string;
}

/** `readBooks(dataDir, 'mailing').rows.filter((row) => row.kind === 'mail.accepted').length` */
export function readBooks<S extends ServiceName>(dataDir: string, service: S): Reading<FactsOf[S]> {
  const file = bookFile(dataDir, service);
  const text = readIfThere(file) ?? '';
  const lines = text.split('\n');
  const torn = lines.pop() ?? '';
  const rows = lines.map((line, index) => parseRow<FactsOf[S]>(line, index + 1, file));
  return torn === '' ? { rows } : { rows, torn };
}

/** The rows of a kind, or of a family (`auth.`), each call counted once however often it was repeated. */
export function distinct<F extends { readonly kind: string }>(
  rows: readonly Row<F>[],
  kind: string,
): readonly Row<F>[] {
  return rows.filter(
    (row) => (row.kind === kind || (kind.endsWith('.') && row.kind.startsWith(kind))) && !row.repeated,
  );
}

export interface Books<F> {
  readonly rows: readonly Row<F>[];
  append(fact: F, mark?: Mark): Row<F>;
  /** Whether these books are still ours to write (B4). */
  held(): boolean;
  close(): void;
}

export function openBooks<S extends ServiceName>(dataDir: string, service: S): Books<FactsOf[S]> {
  type Fact = FactsOf[S];
  mkdirSync(booksDir(dataDir), { recursive: true, mode: 0o700 });
  const writer = `${process.pid} ${systemEntropy.token(26)}`;
  writeFileSync(writerFile(dataDir, service), writer, { mode: 0o600 });

  const { rows: read, torn } = readBooks(dataDir, service);
  const rows = [...read];
  const file = openSync(bookFile(dataDir, service), 'a', 0o600);
  syncDirectory(booksDir(dataDir));
  if (torn !== undefined) {
    ftruncateSync(file, fstatSync(file).size - Buffer.byteLength(torn));
    append({ kind: 'books.repaired', torn } as Fact);
  }
  return { rows, append, held, close: () => closeSync(file) };

  function append(fact: Fact, mark: Mark = {}): Row<Fact> {
    if (!held())
      throw new Error(`The ${service} books were given to another writer, or their folder is gone`);
    const row: Row<Fact> = {
      n: rows.length + 1,
      at: new Date(systemClock.now()).toISOString(),
      ...fact,
      ...mark,
    };
    const before = fstatSync(file).size;
    try {
      writeWhole(file, `${JSON.stringify(row)}\n`);
      fsyncSync(file);
    } catch (cause) {
      ftruncateSync(file, before); // a half row from a full disk would damage the rows after it
      throw new Error(`The ${service} books could not be written`, { cause });
    }
    rows.push(row);
    return row;
  }

  function held(): boolean {
    return readIfThere(writerFile(dataDir, service)) === writer;
  }
}

/** Takes the books from whoever writes them: a service that cannot be reached ends by itself when it notices. */
export function revokeBooks(dataDir: string, service: ServiceName): void {
  rmSync(writerFile(dataDir, service), { force: true });
}

export function booksDir(dataDir: string): string {
  return join(dataDir, 'books');
}

function bookFile(dataDir: string, service: ServiceName): string {
  return join(booksDir(dataDir), `${service}.jsonl`);
}

function writerFile(dataDir: string, service: ServiceName): string {
  return join(booksDir(dataDir), `${service}.writer`);
}

function parseRow<F>(line: string, n: number, file: string): Row<F> {
  try {
    const row = JSON.parse(line) as Row<F>;
    if (row.n === n) return row;
  } catch {
    // falls through: whether unreadable or out of count, the reader is told the same
  }
  throw new Error(`${file} is damaged at line ${n}`);
}

function writeWhole(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}

/** Makes the new file's name durable too. */
function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  fsyncSync(directory);
  closeSync(directory);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
