/** What the verbs that listen have in common: where, how commands are confined, and where trouble is told. */

import { systemClock } from '../lib/clock.ts';
import { UsageError } from './exit.ts';
import type { Terminal } from './terminal.ts';
import { type Options, text } from './verb.ts';

interface Defaults {
  readonly port: string | undefined;
  readonly host: string | undefined;
  readonly defaultPort: number;
}

export function addressOf(
  options: Options,
  from: Defaults,
): { readonly port: number; readonly host: string } {
  const given = text(options.port) ?? (from.port || undefined);
  const port = given === undefined ? from.defaultPort : Number(given);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new UsageError(`"${given}" is no port.`, 'use --port 0 … 65535');
  }
  return { port, host: text(options.host) ?? (from.host || '127.0.0.1') };
}

export function confinementOf(
  options: Options,
): 'unconfined' | { readonly network: readonly string[] } | undefined {
  const hosts = text(options.network);
  if (options.unconfined !== true) return hosts === undefined ? undefined : { network: hosts.split(',') };
  if (hosts === undefined) return 'unconfined';
  throw new UsageError('--network confines what --unconfined does not.', 'leave one of the two out');
}

/** What no session's log can hold goes to stderr, with the time and the cause. */
export function reporter({ paint }: Terminal): (line: string, cause?: unknown) => void {
  return (line, cause) => {
    const why = cause instanceof Error ? `: ${cause.message}` : '';
    process.stderr.write(`${paint.dim(new Date(systemClock.now()).toISOString())} ${line}${why}\n`);
    if (process.env.OUTLAST_DEBUG && cause instanceof Error) process.stderr.write(`${cause.stack}\n`);
  };
}
