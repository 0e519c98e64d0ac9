/**
 * Environments over HTTP: those of one `outlast hands`, from the brain's side.
 *
 * H1  Each request has an end: the hands answer within seconds, or say that it takes longer. A line that went dead is
 *     noticed.
 * H2  The token goes to this address and nowhere else: redirections are not followed, and no message has it.
 */

import { OutlastError } from '../core/error.ts';
import { systemClock } from '../lib/clock.ts';
import { systemEntropy } from '../lib/entropy.ts';
import { parseJson } from '../lib/json.ts';
import { errorOf } from '../protocol/error.ts';
import { Disconnected } from '../sandbox/process/connection.ts';
import { FRAME_TYPE, type Frame, fromFrame, NO_BYTES, toFrame } from './frame.ts';
import type { Environments } from './port.ts';

export interface HandsAddress {
  readonly url: string;
  readonly token?: string | undefined;
}

/** H1: longer than the hands take to say that something takes longer. */
const LIMIT_MS = 60_000;
const LEAVE_MS = 2_000;

export function httpEnvironments({ url: given, token }: HandsAddress): Environments {
  const url = addressOf(given);
  // Names this brain to the hands: another process is another brain, whatever it holds.
  const brain = systemEntropy.token(16);
  let closing = new AbortController();
  const headers = {
    'content-type': FRAME_TYPE,
    'x-outlast-brain': brain,
    ...(token ? { authorization: `Bearer ${token}` } : {}),
  };

  async function ask(path: string, head: unknown, bytes = NO_BYTES): Promise<Frame> {
    const { signal } = closing;
    const bound = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
    const body = toFrame(head, bytes);
    try {
      const init = { method: 'POST', headers, body, redirect: 'error', signal: bound } as const;
      const response = await fetch(`${url}/v1/${path}`, init);
      const data = new Uint8Array(await response.arrayBuffer());
      if (response.ok) return fromFrame(data);
      throw errorOf(parseJson(new TextDecoder().decode(data))) ?? noHands(url, response.status);
    } catch (error) {
      if (error instanceof OutlastError) throw error;
      if (signal.aborted) throw new Disconnected('this brain let go of its hands');
      throw unreachable(url, error);
    }
  }

  const one = (session: string, verb: string, head: unknown = {}, bytes = NO_BYTES): Promise<Frame> =>
    ask(`environments/${session}/${verb}`, head, bytes);

  return {
    name: `the hands at ${url}`,
    abilities: async () => (await ask('abilities', {})).head as never,
    create: async (session) => (await one(session, 'create')).head as string,
    resume: async (session) => (await one(session, 'resume')).head as string | null,
    destroy: async (session, epoch) => void (await one(session, 'destroy', { epoch })),
    pause: async (at) => void (await one(at.session, 'pause', { at })),
    exec: async (at, asked) => (await one(at.session, 'exec', { at, asked })).head as never,
    async files(at, asked, bytes) {
      const { head, bytes: back } = await one(at.session, 'files', { at, asked }, bytes);
      return { answer: head, bytes: back };
    },
    renew: async (held) => void (await ask('renew', { held })),
    async close() {
      closing.abort();
      closing = new AbortController();
      // Hands that do not hear it notice that nobody renews.
      await Promise.race([ask('leave', {}).catch(() => {}), systemClock.sleep(LEAVE_MS)]);
      closing.abort();
      closing = new AbortController();
    },
  };
}

function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol) && url.username === '') return text.replace(/\/+$/, '');
  throw new OutlastError('request.invalid', 'The address of the hands is an http or https URL.', {
    next: 'write http://HOST:4748; the token goes into OUTLAST_HANDS_TOKEN',
  });
}

const unreachable = (url: string, cause: unknown): OutlastError =>
  new OutlastError('hands.unreachable', `No hands answer at ${url}.`, {
    next: 'start them there: outlast hands; what they were at goes on, and is asked for when they are back',
    cause,
  });

const noHands = (url: string, status: number): OutlastError =>
  new OutlastError('hands.unreachable', `What answers at ${url} are no hands (status ${status}).`, {
    next: 'check the address that --hands names',
  });
