/**
 * A secret that is made once and kept in a file. Owns the making; what it opens is its caller's affair.
 *
 * S1. Whoever asks first makes it, everybody gets the same, also when two processes ask at once.
 * S2. Only the user of this data folder can read it (0600).
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemEntropy } from '../lib/entropy.ts';

export function secretIn(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${systemEntropy.token(8)}`;
  writeFileSync(draft, systemEntropy.token(52), { mode: 0o600, flush: true });
  try {
    linkSync(draft, path); // unlike a rename it refuses to replace: the first one stays (S1)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return readFileSync(path, 'utf8');
}

/** Compares without telling by its time how much was right. */
export function same(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
