/**
 * `<data>/server.json`: where the server of a data folder is, for the other verbs.
 *
 * J1  It appears whole, for its owner's eyes only, once the server answers.
 * J2  A server removes only its own note; one that was killed leaves it, and the next one replaces it.
 */

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from '../lib/clock.ts';
import { isRecord } from '../lib/json.ts';

interface ServerNote {
  readonly url: string;
  readonly pid: number;
  readonly startedAt: string;
}

/** The data folder that is meant: `--data`, else OUTLAST_DATA, else the one here. */
export function dataDirOf(option: string | undefined): string {
  return resolve(option ?? (process.env.OUTLAST_DATA || '.outlast'));
}

/** What the server of a data folder noted about itself; null when none did. */
export function readServerNote(dataDir: string): ServerNote | null {
  try {
    const note: unknown = JSON.parse(readFileSync(noteFile(dataDir), 'utf8'));
    return isRecord(note) && typeof note.url === 'string' ? (note as unknown as ServerNote) : null;
  } catch {
    return null;
  }
}

export function writeServerNote(dataDir: string, url: string): void {
  const note: ServerNote = { url, pid: process.pid, startedAt: new Date(systemClock.now()).toISOString() };
  const draft = `${noteFile(dataDir)}.${process.pid}`;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(draft, `${JSON.stringify(note)}\n`, { mode: 0o600, flush: true });
  renameSync(draft, noteFile(dataDir));
}

export function removeServerNote(dataDir: string): void {
  if (readServerNote(dataDir)?.pid === process.pid) rmSync(noteFile(dataDir), { force: true });
}

const noteFile = (dataDir: string): string => join(dataDir, 'server.json');
