import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { distinct, openBooks, readBooks } from './books.ts';

const mail = { kind: 'mail.accepted', reference: 'r', to: 'a@b.example', subject: 's', body: 'b' } as const;

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'outlast-books-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const file = () => join(dataDir, 'books', 'mailing.jsonl');

test('books that nobody has opened are empty', () => {
  expect(readBooks(dataDir, 'mailing')).toEqual({ rows: [] });
});

test('B1 B2: rows are in the file when append returns, counted on over a new opening', () => {
  const first = openBooks(dataDir, 'mailing');
  first.append(mail);
  expect(readBooks(dataDir, 'mailing').rows).toEqual([{ n: 1, at: expect.any(String), ...mail }]);
  first.close();
  const second = openBooks(dataDir, 'mailing');
  expect(second.append(mail).n).toBe(2);
  second.close();
  expect(statSync(file()).mode & 0o777).toBe(0o600);
});

test('B3: a torn last line is reported to readers, and removed and noted at the next opening', () => {
  const books = openBooks(dataDir, 'mailing');
  books.append(mail);
  books.close();
  appendFileSync(file(), '{"n":2,"at":"20ü');
  const { rows, torn } = readBooks(dataDir, 'mailing');
  expect([rows.length, torn]).toEqual([1, '{"n":2,"at":"20ü']);

  const repaired = openBooks(dataDir, 'mailing');
  repaired.append(mail);
  repaired.close();
  const after = readBooks(dataDir, 'mailing');
  expect(after.torn).toBeUndefined();
  expect(after.rows.map(({ n, kind }) => [n, kind])).toEqual([
    [1, 'mail.accepted'],
    [2, 'books.repaired'],
    [3, 'mail.accepted'],
  ]);
});

test.each([
  ['unreadable', '{"n":1\n'],
  ['out of count', '{"n":2,"kind":"mail.asked"}\n'],
])('B3: a whole line that is %s is an error', (_name, text) => {
  openBooks(dataDir, 'mailing').close();
  writeFileSync(file(), text);
  expect(() => readBooks(dataDir, 'mailing')).toThrow('damaged at line 1');
  expect(() => openBooks(dataDir, 'mailing')).toThrow('damaged at line 1');
});

test('B4: an older writer writes no more once a newer has opened, nor when the folder is gone', () => {
  const older = openBooks(dataDir, 'mailing');
  const newer = openBooks(dataDir, 'mailing');
  expect([older.held(), newer.held()]).toEqual([false, true]);
  expect(() => older.append(mail)).toThrow('another writer');
  newer.append(mail);
  expect(readFileSync(file(), 'utf8').split('\n')).toHaveLength(2);
  rmSync(dataDir, { recursive: true });
  expect(newer.held()).toBe(false);
  expect(() => newer.append(mail)).toThrow('folder is gone');
  older.close();
  newer.close();
});

test('distinct counts a repeated call once, by kind or by family', () => {
  const books = openBooks(dataDir, 'billing');
  books.append({ kind: 'auth.begin', account: 'a' }, { key: 'k' });
  books.append({ kind: 'auth.begin', account: 'a' }, { key: 'k', repeated: true });
  books.append({ kind: 'auth.token', account: 'a', serial: 1 });
  books.close();
  const { rows } = readBooks(dataDir, 'billing');
  expect(distinct(rows, 'auth.begin')).toHaveLength(1);
  expect(distinct(rows, 'auth.')).toHaveLength(2);
});
