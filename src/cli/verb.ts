/** What a verb is to the command line, and what it gets. A verb is loaded when it is asked for. */

import { type ExitCode, UsageError } from './exit.ts';
import type { Terminal } from './terminal.ts';

export interface Options {
  readonly url?: string;
  readonly token?: string;
  readonly data?: string;
  readonly json?: boolean;
  readonly [name: string]: string | boolean | readonly string[] | undefined;
}

export interface Invocation {
  readonly args: readonly string[];
  readonly options: Options;
  readonly terminal: Terminal;
}

export type Verb = (invocation: Invocation) => Promise<ExitCode>;

export interface VerbSpec {
  readonly name: string;
  readonly summary: string;
  /** As commander writes them: `<session>`, `[text...]`. */
  readonly args: readonly (readonly [form: string, about: string])[];
  /** One that may be given several times is a list. */
  readonly options?: readonly (readonly [flags: string, about: string, many?: 'many'])[];
  /** What it does, in a few lines, and examples. */
  readonly help: string;
  /** Talks to a server, and so takes `--url` and `--token`. */
  readonly isRemote: boolean;
  load(): Promise<{ readonly run: Verb }>;
}

export const text = (value: Options[string]): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** A whole number from `least` up. */
export function whole(what: string, written: string, least: number, next: string): number {
  const number = Number(written);
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new UsageError(`${what} takes a whole number from ${least} up.`, next);
}
