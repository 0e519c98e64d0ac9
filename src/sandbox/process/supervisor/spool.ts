/** What a process says goes to a file while it comes, up to a bound, so that nothing of it is kept in memory. */

import { closeSync, openSync, writeSync } from 'node:fs';
import { systemClock } from '../../../lib/clock.ts';

/** What is in the pipe when a command ends is read within this; what comes later belongs to the background. */
const DRAIN_MS = 250;
const QUIET_MS = 10;

export class Spool {
  private readonly file: number;
  private readonly most: number;
  private readonly over: () => void;
  private said = 0;
  private closed = false;

  /** `over` is called when more comes than is kept. */
  constructor(path: string, most: number, over: () => void) {
    this.file = openSync(path, 'w', 0o600);
    this.most = most;
    this.over = over;
  }

  /** All that came. */
  get bytes(): number {
    return this.said;
  }

  get isClosed(): boolean {
    return this.closed;
  }

  write(data: Uint8Array): void {
    if (this.closed) return;
    const room = this.most - this.said;
    const kept = data.subarray(0, Math.max(0, room));
    for (let at = 0; at < kept.length; ) at += writeSync(this.file, kept, at);
    this.said += data.length;
    if (data.length > room) this.over();
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    closeSync(this.file);
  }
}

/** Resolves when nothing more comes for the moment: what was said before an end is read after it. */
export async function drained(spool: Spool): Promise<void> {
  const deadline = systemClock.monotonic() + DRAIN_MS;
  for (let before = -1; !spool.isClosed && before !== spool.bytes; ) {
    before = spool.bytes;
    await systemClock.sleep(QUIET_MS);
    if (systemClock.monotonic() > deadline) return;
  }
}
