/**
 * Who holds the session, as far as its supervisor knows.
 *
 * H1  Epochs only grow, over the life of supervisors: the newest is on the disk. Who comes with an older one is refused.
 * H2  Without a holder that renews, the supervisor's time is over after `holdMs`. So nothing acts for longer than that
 *     after another machine has taken over, although nobody could tell it.
 */

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../lib/clock.ts';
import { files } from './settings.ts';

export class Holder {
  private renewedAt = systemClock.monotonic();
  private readonly dir: string;
  private readonly holdMs: number;

  constructor(dir: string, holdMs: number) {
    this.dir = dir;
    this.holdMs = holdMs;
  }

  /** Whether this epoch may ask for anything; a newer one is the holder from here on. */
  admit(epoch: number): boolean {
    if (!raise(this.dir, epoch)) return false;
    this.renewedAt = systemClock.monotonic();
    return true;
  }

  /** Resolves when nobody has renewed for too long. */
  async lapse(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const left = this.renewedAt + this.holdMs - systemClock.monotonic();
      if (left <= 0) return;
      await systemClock.sleep(left, signal);
    }
  }
}

/** H1. False when a newer epoch stands there already. */
export function raise(dir: string, epoch: number): boolean {
  const known = newestEpoch(dir);
  if (epoch < known) return false;
  if (epoch > known) {
    const draft = join(dir, `${files.epoch}.draft`);
    writeFileSync(draft, `${epoch}`, { mode: 0o600, flush: true });
    renameSync(draft, join(dir, files.epoch));
  }
  return true;
}

/** 0 before anybody has been there. */
export function newestEpoch(dir: string): number {
  try {
    return Number(readFileSync(join(dir, files.epoch), 'utf8'));
  } catch {
    return 0;
  }
}
