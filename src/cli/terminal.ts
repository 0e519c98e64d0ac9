/**
 * What a command writes, and where.
 *
 * T1  With `--json` stdout carries JSON and nothing else; its last line is the result. What people read goes to stderr.
 * T2  Colour only where a person looks, and never with NO_COLOR.
 * T3  Text of models and services cannot steer the terminal: control characters are taken out of it.
 */

export interface Terminal {
  readonly json: boolean;
  readonly isInteractive: boolean;
  readonly width: number;
  readonly paint: Paint;
  /** A line for people. */
  say(line?: string): void;
  /** A line of data on the way, for programs: nothing without `--json`. */
  data(value: object): void;
  /** The last line for programs: nothing without `--json`. */
  result(value: object): void;
  complain(message: string, next: string): void;
}

export interface Paint {
  dim(text: string): string;
  bold(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

const DEFAULT_WIDTH = 100;

export function terminalOf(options: { readonly json?: boolean | undefined }): Terminal {
  const json = options.json === true;
  const people = json ? process.stderr : process.stdout;
  const paint = painter(hasColour(people));
  const data = (value: object) => {
    if (json) process.stdout.write(`${JSON.stringify(value)}\n`);
  };
  return {
    json,
    isInteractive: process.stdin.isTTY === true && people.isTTY === true,
    width: people.columns || DEFAULT_WIDTH,
    paint,
    say: (line = '') => people.write(`${line}\n`),
    data,
    result: data,
    complain(message, next) {
      const { red, dim } = painter(hasColour(process.stderr));
      process.stderr.write(`${red('outlast:')} ${clean(message)}\n${dim(`  → ${clean(next)}`)}\n`);
    },
  };
}

/** T3. Also the marks that make text read in another order than it is written. */
export function clean(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '');
}

function hasColour(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '' && FORCE_COLOR !== '0') return true;
  return stream.isTTY === true && TERM !== 'dumb';
}

function painter(on: boolean): Paint {
  const code = (open: number, close: number) => (text: string) =>
    on ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    dim: code(2, 22),
    bold: code(1, 22),
    red: code(31, 39),
    green: code(32, 39),
    yellow: code(33, 39),
    cyan: code(36, 39),
  };
}

/** What happens when nobody reads any more: `outlast follow … | head` is no failure, and a server serves on. */
export function onClosedPipe(then: () => void): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error').on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      then();
    });
  }
}
