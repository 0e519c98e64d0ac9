/**
 * The hands' side over HTTP: a handler of requests around the environments of this machine.
 *
 * S1  Whoever has the token may run commands here, behind the walls. It is compared in constant time, and no answer has it.
 * S2  Without a token only what is addressed to this machine by a loopback name is answered, and nothing that a page in
 *     a browser can send.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { OutlastError } from '../core/error.ts';
import { isRecord } from '../lib/json.ts';
import { errorBody, HttpRefusal, statusOf } from '../protocol/error.ts';
import { guardTasks, isLoopback } from '../server/guard.ts';
import { FRAME_TYPE, fromFrame, toFrame } from './frame.ts';
import type { Machine } from './machine.ts';
import type { At, Exec, FileCall } from './port.ts';

export interface HandsAppOptions {
  readonly token: string | null;
  readonly report: (line: string, cause?: unknown) => void;
}

/** The list of a very large tree. */
const MOST_BYTES = 256 * 2 ** 20;

export function handsApp(machine: Machine, { token, report }: HandsAppOptions): Hono {
  const server = new Hono();

  server.use(async (c, next) => {
    guardTasks(c.req.raw);
    if (token === null) guardLoopback(c.req.raw);
    else if (!isToken(token, c.req.header('authorization'))) throw unauthorized();
    if (c.req.header('content-type') !== FRAME_TYPE)
      throw new HttpRefusal(415, 'request.invalid', ...NO_FRAME);
    await next();
    c.header('cache-control', 'no-store');
  });
  server.use(bodyLimit({ maxSize: MOST_BYTES, onError: tooLarge }));

  server.post('/v1/abilities', (c) => said(c, { abilities: machine.abilities, says: machine.says }));
  server.post('/v1/renew', async (c) => {
    const { held } = await headOf(c);
    await machine.renew(brainOf(c), held as readonly At[]);
    return said(c, null);
  });
  server.post('/v1/leave', async (c) => said(c, (await machine.leave(brainOf(c))) ?? null));
  server.post('/v1/environments/:session/create', (c) => said(c, machine.create(sessionOf(c))));
  server.post('/v1/environments/:session/resume', (c) => said(c, machine.resume(sessionOf(c))));
  server.post('/v1/environments/:session/destroy', async (c) => {
    const { epoch } = await headOf(c);
    await machine.destroy(brainOf(c), sessionOf(c), Number(epoch));
    return said(c, null);
  });
  server.post('/v1/environments/:session/pause', async (c) => {
    await machine.pause(brainOf(c), atOf(c, await headOf(c)));
    return said(c, null);
  });
  server.post('/v1/environments/:session/exec', async (c) => {
    const head = await headOf(c);
    return said(c, await machine.exec(brainOf(c), atOf(c, head), head.asked as Exec));
  });
  server.post('/v1/environments/:session/files', async (c) => {
    const { head, bytes } = await frameOf(c);
    const { answer, bytes: back } = await machine.files(
      brainOf(c),
      atOf(c, head),
      head.asked as FileCall,
      bytes,
    );
    return said(c, answer, back);
  });

  server.notFound((c) =>
    refused(c, new OutlastError('route.unknown', `There is no ${c.req.method} ${c.req.path} here.`)),
  );
  server.onError((error, c) => {
    if (statusOf(error) === 500) report(`${c.req.method} ${c.req.path} failed`, error);
    return refused(c, error);
  });
  return server;
}

type Head = Readonly<Record<string, unknown>>;

async function frameOf(c: Context): Promise<{ readonly head: Head; readonly bytes: Uint8Array }> {
  const { head, bytes } = fromFrame(new Uint8Array(await c.req.arrayBuffer()));
  if (!isRecord(head)) throw new OutlastError('request.invalid', 'A frame begins with an object.');
  return { head, bytes };
}

const headOf = async (c: Context): Promise<Head> => (await frameOf(c)).head;

const said = (c: Context, head: unknown, bytes?: Uint8Array): Response =>
  c.body(toFrame(head, bytes), 200, { 'content-type': FRAME_TYPE });

const sessionOf = (c: Context): string => c.req.param('session') ?? '';

function atOf(c: Context, { at }: Head): At {
  const { id, epoch } = isRecord(at) ? at : {};
  if (typeof id === 'string' && Number.isSafeInteger(epoch)) {
    return { session: sessionOf(c), id, epoch: epoch as number };
  }
  throw new OutlastError('request.invalid', 'at: the id of an environment, and an epoch.');
}

function brainOf(c: Context): string {
  const brain = c.req.header('x-outlast-brain') ?? '';
  if (/^[a-z0-9]{8,64}$/i.test(brain)) return brain;
  throw new OutlastError('request.invalid', 'x-outlast-brain: who asks.');
}

/** S1. */
function isToken(token: string, header: string | undefined): boolean {
  const given = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(token), digest(given));
}

const digest = (text: string): Uint8Array => createHash('sha256').update(text).digest();

/** S2. A page cannot send our type of content without asking first, and is refused by its origin before that. */
function guardLoopback(request: Request): void {
  const host = (request.headers.get('host') ?? '').replace(/:\d+$/, '');
  if (isLoopback(host) && !request.headers.has('origin')) return;
  throw new HttpRefusal(
    403,
    'owner.unauthorized',
    'These hands have no token and so answer only to loopback names, and to no page.',
    'ask for http://127.0.0.1, or set OUTLAST_HANDS_TOKEN on both sides',
  );
}

const unauthorized = (): OutlastError =>
  new OutlastError(
    'owner.unauthorized',
    'These hands want a token, and this request carries none they know.',
    {
      next: 'set the same OUTLAST_HANDS_TOKEN on both sides',
    },
  );

const NO_FRAME = [
  'A call is a frame and says so.',
  'use outlast serve --hands, or httpEnvironments',
] as const;

function tooLarge(): never {
  throw new HttpRefusal(
    413,
    'request.invalid',
    `A call has at most ${MOST_BYTES} bytes.`,
    'write .outlastignore',
  );
}

function refused(c: Context, error: unknown): Response {
  return c.json(errorBody(error), statusOf(error) as ContentfulStatusCode);
}
