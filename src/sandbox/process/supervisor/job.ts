/**
 * One command from its start to the end of all that it has started. Output goes to a file while it comes, so nothing of
 * it is kept in memory.
 *
 * B1  A command that ended is reported at once with what it has said by then: whoever still holds its output, in the
 *     background, holds nobody up.
 */

import { systemClock } from '../../../lib/clock.ts';
import { EXCERPT_BYTES, excerptOf } from '../excerpt.ts';
import type { Held } from '../limits.ts';
import type { Command, Ending, Report } from '../port.ts';
import type { Caged } from './caged.ts';
import type { End, Entry } from './journal.ts';
import { drained, Spool } from './spool.ts';

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
  private readonly spool: Spool;

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
    this.spool = new Spool(outputs.path, mostBytes, () => this.kill('output'));
    caged.output.on('data', (data: Buffer) => this.spool.write(data));
    caged.output.on('close', () => this.spool.close());
    caged.output.on('error', () => this.spool.close());
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
      await drained(this.spool);
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
}
