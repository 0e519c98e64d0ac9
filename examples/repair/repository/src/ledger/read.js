import { readFileSync } from 'node:fs';
import { entriesOf } from './entries.js';

/** The entries of a file. */
export function readLedger(path) {
  return entriesOf(readFileSync(path, 'utf8'));
}
