/**
 * One command from its start to the end of all that it has started. Output goes to a file while it comes, so nothing of
 * it is kept in memory.
 *
 * B1  A command that ended is reported at once with what it has said by then: whoever still holds its output, in the
 *     background, holds nobody up.
 */

import { closeSync, openSync, writeSync } from 'node:fs';
import { systemClock } from '../../../lib/clock.ts';
import { EXCERPT_BYTES, excerptOf } from '../excerpt.ts';
import type { Held } from '../limits.ts';
import type { Command, Ending, Report } from '../port.ts';
import type { Caged } from './caged.ts';
import type { End, Entry } from './journal.ts';

/** What is in the pipe when a command ends is read within this; what comes later belongs to the background. */
const DRAIN_MS = 250;
const QUIET_MS = 10;
const LEFT_MS = 150;

export interface Outputs {
  /** On the host, and inside. */
  readonly path: string;
  readonly name: string;
}

export class Job {
  readonly entry: Omit<Entry, 'end'>;
  readonly caged: Caged;
  readonly outputs: Outputs;
  readonly isBackground: boolean;
  /** Resolves once it has ended and what it said is in its file. */
  readonly ended: Promise<End>;
  private end: End | null = null;
  private isGone = false;
  private cause: Ending | null = null;
  private bytes = 0;
  private isClosed = false;

  constructor(
    entry: Omit<Entry, 'end'>,
    command: Command,
    caged: Caged,
    outputs: Outputs,
    held: Held,
    mostBytes: number,
  ) {
    this.entry = entry;
    this.caged = caged;
    this.outputs = outputs;
    this.isBackground = command.background;
    this.spool(mostBytes);
    if (caged.stdin) this.feed(command);
    const before = held.outOfMemory();
    const over = new AbortController();
    if (command.timeoutMs !== null) {
      systemClock.sleep(command.timeoutMs, over.signal).then(() => !over.signal.aborted && this.kill('time'));
    }
    const started = systemClock.monotonic();
    this.ended = caged.ended.then(async (exitCode) => {
      over.abort();
      const ms = Math.round(systemClock.monotonic() - started);
      await this.drain();
      // Whether anything is left is asked right away: the end of what is not is given its moment.
      await Promise.race([caged.gone, systemClock.sleep(LEFT_MS)]);
      const cause = this.cause ?? (exitCode === 137 && held.outOfMemory() > before ? 'memory' : 'exit');
      this.end = { exitCode, ending: cause, ms };
      return this.end;
    });
    caged.gone.then(() => {
      this.isGone = true;
    });
  }

  get isAlive(): boolean {
    return !this.isGone;
  }

  kill(cause: Ending): void {
    if (this.end === null) this.cause ??= cause;
    this.caged.kill();
  }

  get isListening(): boolean {
    return this.end === null && this.caged.stdin?.writable === true;
  }

  /** False when nobody reads there any more. */
  write(text: string): boolean {
    const isRead = this.isListening;
    if (isRead) this.caged.stdin?.write(text);
    return isRead;
  }

  report(chars = EXCERPT_BYTES): Report {
    const { reference, job, command, startedAt } = this.entry;
    const { exitCode = null, ending = null, ms = systemClock.now() - startedAt } = this.end ?? {};
    return {
      ...{ reference, job, command, startedAt, exitCode, ending, ms },
      status: this.end ? 'ended' : 'running',
      output: excerptOf(this.outputs.path, this.outputs.name, chars),
      isAlive: this.isAlive,
    };
  }

  private feed({ input, pty }: Command): void {
    const { stdin } = this.caged;
    // Who ends without reading its input has its reasons.
    stdin?.on('error', () => {});
    if (input !== null) stdin?.write(input);
    if (!pty) stdin?.end();
  }

  private spool(mostBytes: number): void {
    const file = openSync(this.outputs.path, 'w', 0o600);
    const { output } = this.caged;
    output.on('data', (data: Buffer) => {
      if (this.isClosed) return;
      const room = mostBytes - this.bytes;
      const kept = data.subarray(0, Math.max(0, room));
      for (let at = 0; at < kept.length; ) at += writeSync(file, kept, at);
      this.bytes += data.length;
      if (data.length > room) this.kill('output');
    });
    const close = (): void => {
      if (this.isClosed) return;
      this.isClosed = true;
      closeSync(file);
    };
    output.on('close', close);
    output.on('error', close);
  }

  /** B1. */
  private async drain(): Promise<void> {
    const deadline = systemClock.monotonic() + DRAIN_MS;
    for (let before = -1; !this.isClosed && before !== this.bytes; ) {
      before = this.bytes;
      await systemClock.sleep(QUIET_MS);
      if (systemClock.monotonic() > deadline) return;
    }
  }
}
