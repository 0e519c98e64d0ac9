/**
 * How a command ends: its exit code, and what it says when something went wrong. Scripts rely on the codes.
 *
 *   0 ok · 1 failed · 2 wrong usage · 3 no server · 4 refused by the server · 5 the session rests on a decision
 */

import { OutlastError } from '../core/error.ts';
import { errorBody, statusOf } from '../protocol/error.ts';
import type { Terminal } from './terminal.ts';

export const EXIT = { ok: 0, failed: 1, usage: 2, noServer: 3, refused: 4, decision: 5 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command line itself does not fit. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly next: string;

  constructor(message: string, next: string) {
    super(message);
    this.next = next;
  }
}

function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return EXIT.usage;
  if (!(error instanceof OutlastError)) return EXIT.failed;
  if (error.code === 'server.unreachable') return EXIT.noServer;
  return statusOf(error) < 500 ? EXIT.refused : EXIT.failed;
}

/** Says what went wrong and what to do now, for people on stderr and for programs on stdout. */
export function complain(error: unknown, terminal: Terminal): ExitCode {
  const { code, message, next } = wordsOf(error);
  terminal.complain(message, next);
  terminal.result({ error: { code, message, next } });
  return exitCodeOf(error);
}

function wordsOf(error: unknown): { code: string; message: string; next: string } {
  if (error instanceof UsageError) return { code: 'usage', message: error.message, next: error.next };
  if (error instanceof OutlastError) return errorBody(error).error;
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'internal', message, next: 'run it again with OUTLAST_DEBUG=1 to see where it arose' };
}
