/**
 * `outlast serve`: the server with its page, and the sample services beside it.
 *
 * V1  The port is taken first and the data folder second, so a server that cannot have them has changed nothing.
 *     Requests that come while it opens wait for it.
 * V2  It ends cleanly within ten seconds: streams get a last word, running calls an answer, and what was started is
 *     stopped. Killed instead, it loses nothing, and the next one finds the sample services again.
 * V3  Standing by, it is loaded and has nothing: neither port nor folder. When the folder is free it is taken first and
 *     the port second, which is free by then as well, so that clients find the new server where the old one was.
 */

import { createOutlast, standBy } from '../../compose.ts';
import { OutlastError } from '../../core/error.ts';
import { systemClock } from '../../lib/clock.ts';
import { given } from '../../lib/given.ts';
import { app } from '../../server/app.ts';
import { parseTokens } from '../../server/auth.ts';
import { type Listening, listen } from '../../server/listen.ts';
import { type Samples, startSamples } from '../../services/spawn.ts';
import { SAMPLE_BRIEFING, sampleGrants } from '../../tools/fetch/samples.ts';
import { toldToEnd } from '../ending.ts';
import { complain, EXIT, UsageError } from '../exit.ts';
import { dataDirOf, removeServerNote, writeServerNote } from '../server-note.ts';
import { onClosedPipe, type Terminal } from '../terminal.ts';
import { type Options, text, type Verb, whole } from '../verb.ts';
import { VERSION } from '../version.ts';
import { welcome } from '../welcome.ts';

const DEFAULT_PORT = 4747;
const RUNTIME_BOUND_MS = 6_000;
const END_BOUND_MS = 9_000;

export const run: Verb = async ({ options, terminal }) => {
  const told = toldToEnd();
  onClosedPipe(() => {});
  const settings = settingsOf(options);
  const opening = settings.isStandby ? takeOver(settings, terminal, told) : open(settings, terminal);
  const server = await opening.catch((error: unknown) => complain(error, terminal));
  if (typeof server === 'number') return EXIT.failed;
  const { url, about, samples, dataDir } = server;
  for (const line of welcome({ url, about, samples }, terminal.paint)) terminal.say(line);
  terminal.result({ ready: true, url, pid: process.pid, data: dataDir, model: about.model });
  const reason = await told;
  terminal.say(terminal.paint.dim(`ending (${reason}) …`));
  const isClean = await Promise.race([server.close(), systemClock.sleep(END_BOUND_MS)]);
  removeServerNote(dataDir);
  terminal.say(
    isClean ? 'ended; everything is in the data folder' : 'ended in haste; nothing durable is lost',
  );
  // Whatever still holds the process has had its time.
  process.exit(EXIT.ok);
};

interface Settings {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  readonly tokens: ReturnType<typeof parseTokens>;
  readonly isStandby: boolean;
  readonly policy: string | undefined;
  readonly slots: number | undefined;
  readonly processes: 'unconfined' | { readonly network: readonly string[] } | undefined;
}

export type Runtime = Awaited<ReturnType<typeof createOutlast>>;

type Store = Awaited<ReturnType<typeof standBy>>;

/** V3. */
async function takeOver(settings: Settings, terminal: Terminal, told: Promise<string>) {
  const { dataDir } = settings;
  const free = standBy(dataDir, reporter(terminal), ({ message }) => {
    terminal.say(`standing by: ${message} When that ends, this one takes its place.`);
    terminal.data({ standby: true, pid: process.pid, data: dataDir });
  });
  const store = await Promise.race([free, told]);
  if (typeof store === 'string') process.exit(EXIT.ok); // Whoever waits has nothing to give back.
  return open(settings, terminal, store).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
}

async function open(settings: Settings, terminal: Terminal, store?: Store) {
  const { port, host, dataDir, tokens } = settings;
  const closing = new AbortController();
  const report = reporter(terminal);
  const handler = later<ReturnType<typeof app>>();
  const fetch = async (request: Request) => (await handler.promise).fetch(request);
  const listening = await listen({ fetch, port, host, hasTokens: tokens.length > 0 });
  const { samples, outlast } = await openRuntime(settings, report, store).catch(async (error: unknown) => {
    handler.reject(
      new OutlastError('server.closing', 'This server could not open its data.', { cause: error }),
    );
    await listening.close(0);
    throw error;
  });
  handler.resolve(app(outlast, { tokens, version: VERSION, closing: closing.signal, report }));
  writeServerNote(dataDir, listening.url);
  return {
    url: listening.url,
    about: store ? { ...outlast.about, store: 'sqlite' } : outlast.about,
    samples,
    dataDir,
    close() {
      closing.abort();
      return closeAll(listening, outlast, samples);
    },
  };
}

async function openRuntime(
  { dataDir, policy, processes, slots }: Settings,
  report: (line: string, cause?: unknown) => void,
  store: Store | undefined,
): Promise<{ samples: Samples; outlast: Runtime }> {
  const samples = await startSamples({ dataDir });
  const grants = sampleGrants({ billingUrl: samples.billing.url, mailingUrl: samples.mailing.url });
  try {
    const options = {
      dataDir,
      grants,
      briefing: SAMPLE_BRIEFING,
      report,
      ...given({ policy, processes, slots }),
    };
    return { samples, outlast: await createOutlast(store ? { ...options, store } : options) };
  } catch (error) {
    // A folder that another server holds: then the sample services are that server's.
    if (!(error instanceof OutlastError && error.code === 'store.locked')) await samples.stop();
    throw error;
  }
}

/**
 * New requests are refused first, and what runs may answer. Resolves with whether all came to an end by itself; the
 * services end in any case: a runtime that hangs must not keep them alive.
 */
async function closeAll(listening: Listening, outlast: Runtime, samples: Samples): Promise<boolean> {
  const ended = Promise.all([listening.close(), outlast.close()]).then(
    () => true,
    () => false,
  );
  const isClean = await Promise.race([ended, systemClock.sleep(RUNTIME_BOUND_MS).then(() => false)]);
  await samples.stop();
  return isClean;
}

function settingsOf(options: Options): Settings {
  const { OUTLAST_PORT, OUTLAST_HOST, OUTLAST_TOKENS = '' } = process.env;
  const given = text(options.port) ?? (OUTLAST_PORT || undefined);
  const port = given === undefined ? DEFAULT_PORT : Number(given);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new UsageError(`"${given}" is no port.`, 'use --port 0 … 65535');
  }
  const host = text(options.host) ?? (OUTLAST_HOST || '127.0.0.1');
  return {
    port,
    host,
    dataDir: dataDirOf(options.data),
    tokens: parseTokens(OUTLAST_TOKENS),
    isStandby: options.standby === true,
    policy: text(options.policy),
    slots: slotsOf(options),
    processes: processesOf(options),
  };
}

function slotsOf(options: Options): number | undefined {
  const given = text(options.slots);
  return given === undefined ? undefined : whole('--slots', given, 1, 'use --slots 20');
}

function processesOf(options: Options): Settings['processes'] {
  const hosts = text(options.network);
  if (options.unconfined !== true) return hosts === undefined ? undefined : { network: hosts.split(',') };
  if (hosts === undefined) return 'unconfined';
  throw new UsageError('--network confines what --unconfined does not.', 'leave one of the two out');
}

/** What no session's log can hold goes to stderr, with the time and the cause. */
function reporter({ paint }: Terminal): (line: string, cause?: unknown) => void {
  return (line, cause) => {
    const why = cause instanceof Error ? `: ${cause.message}` : '';
    process.stderr.write(`${paint.dim(new Date(systemClock.now()).toISOString())} ${line}${why}\n`);
    if (process.env.OUTLAST_DEBUG && cause instanceof Error) process.stderr.write(`${cause.stack}\n`);
  };
}

function later<Value>() {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<Value>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => {});
  return { promise, resolve, reject };
}
