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
import type { HandsAddress } from '../../hands/http.ts';
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
import { addressOf, confinementOf, reporter } from '../serving.ts';
import { onClosedPipe, type Terminal } from '../terminal.ts';
import { type Options, text, type Verb, whole } from '../verb.ts';
import { VERSION } from '../version.ts';
import { welcome } from '../welcome.ts';

const DEFAULT_PORT = 4747;
const HOUR_MS = 3_600_000;
const NOTICE_MOST_MS = 366 * 24 * HOUR_MS;
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
  terminal.result({
    ready: true,
    url,
    pid: process.pid,
    data: dataDir,
    model: about.model,
    parking: about.parking,
  });
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
  /** How long after a notice kernels are given up; 0: never. */
  readonly kernelNoticeMs: number;
  readonly retentionMs: number;
  readonly slots: number | undefined;
  readonly processes: ReturnType<typeof confinementOf>;
  readonly hands: HandsAddress | undefined;
  readonly delegation: boolean;
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
  { dataDir, policy, processes, hands, kernelNoticeMs, retentionMs, slots, delegation }: Settings,
  report: (line: string, cause?: unknown) => void,
  store: Store | undefined,
): Promise<{ samples: Samples; outlast: Runtime }> {
  const samples = await startSamples({ dataDir });
  const grants = sampleGrants({ billingUrl: samples.billing.url, mailingUrl: samples.mailing.url });
  try {
    const options = {
      ...{
        dataDir,
        grants,
        briefing: SAMPLE_BRIEFING,
        report,
        delegation,
        limits: { kernelNoticeMs, retentionMs },
      },
      ...given({ policy, processes, hands, slots }),
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
  return {
    ...addressOf(options, { port: OUTLAST_PORT, host: OUTLAST_HOST, defaultPort: DEFAULT_PORT }),
    dataDir: dataDirOf(options.data),
    tokens: parseTokens(OUTLAST_TOKENS),
    isStandby: options.standby === true,
    policy: text(options.policy),
    kernelNoticeMs: kernelNoticeOf(options),
    retentionMs: retentionOf(options),
    slots: slotsOf(options),
    delegation: options.delegation !== false,
    ...placeOf(options),
  };
}

function slotsOf(options: Options): number | undefined {
  const given = text(options.slots);
  return given === undefined ? undefined : whole('--slots', given, 1, 'use --slots 20');
}

const DAY_MS = 24 * HOUR_MS;

function retentionOf(options: Options): number {
  const given = text(options.retention);
  return given === undefined ? 0 : whole('--retention', given, 1, 'use --retention 30') * DAY_MS;
}

/** `never`, or `after-notice` with or without hours. */
function kernelNoticeOf(options: Options): number {
  const when = text(options.parkKernels) ?? 'never';
  if (when === 'never') return 0;
  const [, hours = '24'] = /^after-notice(?:=(\d+(?:\.\d+)?))?$/.exec(when) ?? [when, ''];
  const ms = Math.round(Number(hours) * HOUR_MS);
  if (hours !== '' && ms > 0 && ms <= NOTICE_MOST_MS) return ms;
  throw new UsageError(
    `"${when}" does not say when kernels are parked.`,
    'use never, after-notice or after-notice=HOURS',
  );
}

/** Walls and network are said where the commands run. */
function placeOf(options: Options): Pick<Settings, 'processes' | 'hands'> {
  const { OUTLAST_HANDS = '', OUTLAST_HANDS_TOKEN: token } = process.env;
  const url = text(options.hands) ?? OUTLAST_HANDS;
  const processes = confinementOf(options);
  if (url === '') return { processes, hands: undefined };
  if (processes === undefined) return { processes, hands: { url, token } };
  throw new UsageError(
    '--network and --unconfined are about commands on this machine.',
    'give them to outlast hands, there',
  );
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
