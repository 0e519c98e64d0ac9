/**
 * Watching a session until it rests, line by line as things happen. The server may be killed and come back meanwhile:
 * nothing is missed and nothing is told twice.
 */

import type { Client } from '../client/client.ts';
import type { Inspection } from '../protocol/schema.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { COMMAND } from './name.ts';
import { narrator } from './narrate.ts';
import type { Terminal } from './terminal.ts';

export interface Watch {
  readonly session: string;
  /** What came of the call that begins the watch: it leads the result. */
  readonly receipt?: object;
  readonly after: number;
  readonly headline?: string;
}

/** How long a server that went away is waited for. The session is safe in any case. */
const PATIENCE_MS = 120_000;

/** Ends with what the session waits for: in words, as the result, and as an exit code. */
export async function watch(
  outlast: Client,
  { receipt, ...watch }: Watch,
  terminal: Terminal,
): Promise<ExitCode> {
  const watched = await untilRest(outlast, watch, terminal);
  const code = conclude(watched, terminal);
  const { seen, response } = watched;
  const { id: session, phase, head, reason, decisions } = seen;
  const hasEnded = response !== null || seen.lastTurn?.end === 'failed';
  const partial = hasEnded ? (seen.lastTurn?.partial ?? []) : [];
  const ofChildren = seen.children.flatMap(({ questions }) => questions);
  terminal.result({
    ...{ ...receipt, session, phase, response, partial, reason, head, decisions },
    childDecisions: ofChildren,
  });
  return code;
}

interface Watched {
  readonly seen: Inspection;
  /** The last response that came while watching; null when none did. */
  readonly response: string | null;
}

async function untilRest(
  outlast: Client,
  { session, after, headline }: Watch,
  terminal: Terminal,
): Promise<Watched> {
  const over = new AbortController();
  const detach = detachOnInterrupt(session, terminal);
  // Whoever reads the headline may press Ctrl-C: by then it must mean what it says.
  if (headline !== undefined) terminal.say(headline);
  const { tell } = narrator(session, terminal.paint, terminal.width);
  const watched: Watching = { reached: after, response: null, resting: null, failure: null };
  const asked = outlast.rest(session, { signal: over.signal, patienceMs: PATIENCE_MS }).then(
    (seen) => {
      watched.resting = seen;
      if (watched.reached >= seen.head) over.abort();
    },
    (error: unknown) => {
      watched.failure = error;
      over.abort();
    },
  );
  try {
    for await (const event of outlast.follow(session, {
      after,
      signal: over.signal,
      ...patience(terminal),
    })) {
      if (event.kind === 'whisper') continue;
      if (event.kind === 'response.surfaced') watched.response = event.text;
      for (const line of tell(event)) terminal.say(line);
      watched.reached = event.seq;
      if (watched.resting && watched.reached >= watched.resting.head) break;
    }
  } finally {
    over.abort();
    detach();
    await asked;
  }
  const { resting: seen, response, failure } = watched;
  if (seen === null) throw failure;
  return { seen, response };
}

interface Watching {
  reached: number;
  response: string | null;
  resting: Inspection | null;
  failure: unknown;
}

/** Tells when the server is away, and when it is back. */
export function patience(terminal: Terminal, patienceMs = PATIENCE_MS) {
  const { dim } = terminal.paint;
  return {
    patienceMs,
    onLost: () => terminal.say(dim('· the server is away; waiting for it (start it again: npm start)')),
    onBack: () => terminal.say(dim('· the server is back')),
  };
}

function conclude({ seen, response }: Watched, terminal: Terminal): ExitCode {
  const { dim, yellow, red } = terminal.paint;
  const { id, phase, decisions, reason, budget } = seen;
  switch (phase) {
    case 'awaiting_decision':
      terminal.say(
        yellow(
          `It rests on ${decisions.map((decision) => decision.id).join(', ')}: ${COMMAND} inspect ${id}`,
        ),
      );
      return EXIT.decision;
    case 'sleeping':
      // It rests on what a child of it asks.
      terminal.say(yellow(`${reason ?? ''} Answer: ${COMMAND} inspect ${id}`.trim()));
      return EXIT.decision;
    case 'paused':
      terminal.say(reason === null ? dim(`paused; go on with: ${COMMAND} resume ${id}`) : red(reason));
      if (budget.isExhausted) return EXIT.decision;
      return reason === null ? EXIT.ok : EXIT.failed;
    case 'awaiting_input':
      terminal.say(dim(`awaiting input: ${COMMAND} send ${id} "…"${ahead(seen)}`));
      break;
    default:
      terminal.say(dim(phase));
  }
  return response === null ? EXIT.failed : EXIT.ok;
}

/** What its code left in the background goes on without anybody. */
const ahead = ({ wakesAt }: Inspection): string =>
  wakesAt === null ? '' : `; goes on by itself at ${new Date(wakesAt).toISOString()}`;

/** Ctrl-C ends the watching and says how to come back; the session goes on. */
function detachOnInterrupt(session: string, terminal: Terminal): () => void {
  const detach = () => {
    terminal.say(
      terminal.paint.dim(
        `\nNo longer watching; the session goes on. Come back: ${COMMAND} attach ${session}`,
      ),
    );
    process.exit(EXIT.ok);
  };
  process.once('SIGINT', detach);
  return () => process.off('SIGINT', detach);
}
