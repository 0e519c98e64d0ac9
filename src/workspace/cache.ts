/**
 * What is known of files without reading them: the digests of their pieces, as long as the system says that they are as
 * they were. Stands beside the files and never among them; lost, everything is read once more.
 */

import type { BigIntStats } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { parseJson } from '../lib/json.ts';

export interface Digests {
  readonly digest: string;
  /** Of the pieces of the file. */
  readonly pieces: readonly string[];
}

/** What the system says of a file, and what it was when somebody read it then. */
type Line = readonly [signature: string, readAt: number, digest: string, pieces: readonly string[]];

/** A file that was changed just before it was read may be changed again within the same tick of the file system. */
const TICK_MS = 50;
/** Where only whole seconds are kept. */
const COARSE_MS = 2_100;

export class StatCache {
  private readonly path: string;
  private lines: Map<string, Line> | null = null;
  private isNew = false;

  constructor(path: string) {
    this.path = path;
  }

  async load(): Promise<void> {
    if (this.lines) return;
    const text = await readFile(this.path, 'utf8').catch(() => '[]');
    const found = parseJson(text);
    this.lines = new Map(Array.isArray(found) ? (found as unknown as [string, Line][]) : []);
  }

  get(path: string, stats: BigIntStats): Digests | null {
    const line = this.lines?.get(path);
    if (line?.[0] !== signatureOf(stats)) return null;
    const [, readAt, digest, pieces] = line;
    const changedAt = Number(stats.ctimeNs / 1_000_000n);
    const isCoarse = stats.mtimeNs % 1_000_000_000n === 0n;
    return changedAt + (isCoarse ? COARSE_MS : TICK_MS) < readAt ? { digest, pieces } : null;
  }

  set(path: string, stats: BigIntStats, readAt: number, { digest, pieces }: Digests): void {
    this.lines?.set(path, [signatureOf(stats), readAt, digest, pieces]);
    this.isNew = true;
  }

  /** Forgets all but these. */
  keepOnly(paths: ReadonlySet<string>): void {
    for (const path of this.lines?.keys() ?? []) {
      if (paths.has(path)) continue;
      this.lines?.delete(path);
      this.isNew = true;
    }
  }

  async save(): Promise<void> {
    if (!this.isNew || !this.lines) return;
    this.isNew = false;
    await writeFile(`${this.path}.new`, JSON.stringify([...this.lines]));
    await rename(`${this.path}.new`, this.path);
  }
}

const signatureOf = ({ size, mtimeNs, ctimeNs, ino, mode }: BigIntStats): string =>
  `${size}:${mtimeNs}:${ctimeNs}:${ino}:${mode}`;
