/**
 * `<data>/server.json`: where the server of a data folder is, for the other verbs.
 *
 * J1  It appears whole, for its owner's eyes only, once the server answers.
 * J2  A server removes only its own note; one that was killed leaves it, and the next one replaces it.
 */

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { systemClock } from '../lib/clock.ts';
import { readServerNote, type ServerNote, serverFile } from './reach.ts';

export function writeServerNote(dataDir: string, url: string): void {
  const note: ServerNote = { url, pid: process.pid, startedAt: new Date(systemClock.now()).toISOString() };
  const draft = `${serverFile(dataDir)}.${process.pid}`;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(draft, `${JSON.stringify(note)}\n`, { mode: 0o600, flush: true });
  renameSync(draft, serverFile(dataDir));
}

export function removeServerNote(dataDir: string): void {
  if (readServerNote(dataDir)?.pid === process.pid) rmSync(serverFile(dataDir), { force: true });
}
