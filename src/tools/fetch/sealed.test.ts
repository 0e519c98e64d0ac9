// Secrets through `fetch`: sealed as they come in, put back as they go out, and never seen in between.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Json } from '../../lib/json.ts';
import { noFiles } from '../../testing/no-files.ts';
import { isRefusal, NotSent, type RunContext, type Tool } from '../port.ts';
import type { FetchResult } from './answer.ts';
import { type FetchOptions, fetchTool } from './fetch.ts';
import type { Rule } from './grant.ts';

const SECRET = 'top/secret "tökén"';
const context: RunContext = {
  reference: 'ses_1.e7',
  epoch: 4,
  attempt: 1,
  signal: new AbortController().signal,
  ...noFiles,
};

/** Hides, checks what it is about, and never seals twice alike, as the real one. */
function fakeSealer(key = 'k'): FetchOptions['sealer'] {
  let n = 0;
  const mark = (about: string) => createHash('sha256').update(`${key} ${about}`).digest().subarray(0, 8);
  const flip = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0x5a);
  return {
    seal: (bytes, about) => Buffer.concat([mark(about), Buffer.from([++n]), flip(bytes)]),
    open(bytes, about) {
      if (!mark(about).equals(bytes.subarray(0, 8))) throw new Error(`forged: ${Buffer.from(bytes)}`);
      return flip(bytes.subarray(9));
    },
  };
}

interface Seen {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
let origin: string;
let other: string;
let seen: Seen;
let reply: (response: ServerResponse, seen: Seen) => void;
const closing: (() => void)[] = [];

beforeEach(async () => {
  [origin, other] = [await serve(), await serve()];
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    seen = { url: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() };
    if (seen.url === '/token') response.end(JSON.stringify({ token: SECRET, expires: 12 }));
    else reply(response, seen);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function toolOf(sealer: FetchOptions['sealer'], maxBytes = 100_000): Tool {
  const rules: readonly Rule[] = [
    { method: 'POST', path: '/token', secrets: ['token'] },
    { method: 'POST', path: '/secrets', secrets: ['/a/token'] },
    {
      method: 'POST',
      path: '/ask',
      capability: { kind: 'queryable', lateMs: 1 },
      ask: { path: '/asked/{reference}', found: '' },
      secrets: ['token'],
    },
    { method: '*', path: '/**' },
  ];
  const grants = [
    { name: 'one', origin, rules },
    { name: 'other', origin: other, rules },
  ];
  return fetchTool({ grants, sealer, maxBytes });
}

async function run(tool: Tool, args: Json): Promise<FetchResult> {
  const plan = tool.plan(args);
  if (isRefusal(plan)) throw new Error(plan.refused.message);
  expect(JSON.stringify(plan)).not.toContain('secret \\"');
  const answer = await tool.run(plan.args, context);
  if (answer.status !== 'done') throw new Error(answer.message);
  return answer.result as FetchResult;
}

async function handleOf(tool: Tool): Promise<string> {
  const { body } = await run(tool, { url: `${origin}/token`, method: 'POST' });
  const { token, expires } = JSON.parse(body) as { token: string; expires: number };
  expect(expires).toBe(12);
  return token;
}

/** B013: no form of the secret is in there. */
function expectClean(value: unknown): void {
  const text = JSON.stringify(value).toLowerCase();
  for (const form of ['top/secret', 'top%2fsecret', 'tökén', 't%c3%b6k', 't\\u00f6k'])
    expect(text).not.toContain(form);
}

test('S1: a named field comes in as a handle, and the handle outlives the tool', async () => {
  const handle = await handleOf(toolOf(fakeSealer()));
  expect(handle).toMatch(/^sealed:v1:[A-Za-z0-9_-]+$/);
  reply = (response) => response.end('ok');
  const another = toolOf(fakeSealer());
  await run(another, { url: `${origin}/x?t=${encodeURIComponent(handle)}` });
  expect(new URL(seen.url, origin).searchParams.get('t')).toBe(SECRET);
});

test('Q2: it is put back in queries, headers, JSON, forms and text, written as each place wants it', async () => {
  const tool = toolOf(fakeSealer());
  const handle = await handleOf(tool);
  reply = (response) => response.end('ok');
  const post = (body: string, type: string) =>
    run(tool, {
      url: `${origin}/x?a=${handle}&b=1`,
      method: 'POST',
      headers: { authorization: `Bearer ${handle}`, 'content-type': type },
      body,
    });

  await post(JSON.stringify({ a: `<${handle}>`, b: [handle] }), 'application/json');
  expect(JSON.parse(seen.body)).toEqual({ a: `<${SECRET}>`, b: [SECRET] });
  expect(seen.headers.authorization).toBe(`Bearer ${SECRET}`);
  expect([...new URL(seen.url, origin).searchParams]).toEqual([
    ['a', SECRET],
    ['b', '1'],
  ]);
  await post(new URLSearchParams({ a: handle, b: '2' }).toString(), 'application/x-www-form-urlencoded');
  expect([...new URLSearchParams(seen.body)]).toEqual([
    ['a', SECRET],
    ['b', '2'],
  ]);
  await post(`say ${handle}.`, 'text/plain');
  expect(seen.body).toBe(`say ${SECRET}.`);
});

test('S2, S3: a handle goes to no other origin, and a forged one nowhere', async () => {
  const tool = toolOf(fakeSealer());
  const handle = await handleOf(tool);
  const forged = `${handle.slice(0, 14)}AAAA${handle.slice(18)}`;
  const places = (at: string, text: string): Json[] => [
    { url: `${at}/x?q=${text}` },
    { url: `${at}/x`, headers: { authorization: text } },
    { url: `${at}/x`, method: 'POST', body: text },
    { url: `${at}/x`, method: 'POST', body: `q=${encodeURIComponent(text)}` },
  ];
  const wrong = [...places(other, handle), ...places(origin, forged), ...places(origin, 'sealed:v1:')];
  for (const args of wrong) {
    const plan = tool.plan(args);
    expect(plan).toMatchObject({ refused: { code: 'secret.foreign' } });
    expectClean(plan);
  }
});

test('S3: a key that is gone when the request is to leave sends nothing', async () => {
  const tool = toolOf(fakeSealer());
  const handle = await handleOf(tool);
  const plan = tool.plan({ url: `${origin}/x`, headers: { authorization: handle } });
  if (isRefusal(plan)) throw new Error(plan.refused.message);
  reply = () => expect.unreachable();
  await expect(toolOf(fakeSealer('new')).run(plan.args, context)).rejects.toBeInstanceOf(NotSent);
});

test('a secret that no header can hold is refused when it is planned', async () => {
  const sealer = fakeSealer();
  const sealed = Buffer.from(sealer.seal(Buffer.from('a\r\nEvil: 1'), `secret:${origin}`)).toString(
    'base64url',
  );
  const plan = toolOf(sealer).plan({ url: `${origin}/x`, headers: { authorization: `sealed:v1:${sealed}` } });
  expect(plan).toMatchObject({ refused: { message: expect.not.stringContaining('Evil') } });
});

test('B013: a service that repeats the secret, in pieces, escaped or in headers, is not repeated', async () => {
  const tool = toolOf(fakeSealer());
  const handle = await handleOf(tool);
  const echo = async (text: string, headers: Record<string, string> = {}) => {
    reply = (response) => {
      response.writeHead(200, headers);
      const bytes = Buffer.from(text);
      // Not a wait for a state: each piece is to be a chunk of its own, and one more or less changes nothing.
      const pieces = Array.from({ length: bytes.length }, (_, i) => bytes.subarray(i, i + 1));
      (function next(): void {
        const piece = pieces.shift();
        if (piece === undefined) response.end();
        else response.write(piece, () => setImmediate(next));
      })();
    };
    const result = await run(tool, { url: `${origin}/x`, headers: { authorization: `Bearer ${handle}` } });
    expectClean(result);
    return result;
  };
  expect((await echo(`you said ${SECRET}!`)).body).toBe(`you said ${handle}!`);
  const json = await echo('{"you":"Bearer top\\/secret \\"t\\u00f6k\\u00e9n\\"","n":1.50}');
  expect(json.body).toBe(`{"you":"Bearer ${handle}","n":1.50}`);
  expect((await echo(`?t=${encodeURIComponent(SECRET)}`)).body).toBe(`?t=${handle}`);
  const moved = await echo('', { location: `/y?t=${encodeURIComponent(SECRET)}`, 'x-request-id': 'r' });
  expect(moved.headers).toEqual({ location: `/y?t=${handle}`, 'x-request-id': 'r' });
});

test('N2: a secret across the cut of a long answer is not half there', async () => {
  const sealer = fakeSealer();
  const handle = await handleOf(toolOf(sealer));
  for (let maxBytes = 8; maxBytes < 40; maxBytes += 1) {
    reply = (response) => response.end(`0123456789${SECRET}${'x'.repeat(200)}`);
    const result = await run(toolOf(sealer, maxBytes), {
      url: `${origin}/x`,
      headers: { authorization: handle },
    });
    expect(result.truncated).toBe(true);
    expect(result.body).not.toMatch(/^0123456789t/);
    expect(Buffer.byteLength(result.body)).toBeLessThanOrEqual(maxBytes);
  }
});

test('N2: a fresh secret is also taken out of the rest of its answer', async () => {
  const tool = toolOf(fakeSealer());
  reply = (response) => {
    response.setHeader('link', `</x?t=${encodeURIComponent(SECRET)}>`);
    response.end(
      JSON.stringify({ a: { token: SECRET }, again: `Bearer ${SECRET}`, big: 1 }).replace('1}', '1e400}'),
    );
  };
  const result = await run(tool, { url: `${origin}/secrets`, method: 'POST' });
  expectClean(result);
  expect(result.body).toMatch(/^\{"a":\{"token":"(sealed:v1:[^"]+)"\},"again":"Bearer \1","big":1e400\}$/);
});

test('N3: where a secret is expected and cannot be found, nothing is shown', async () => {
  const asked = async (
    status: number,
    text: string,
    headers: Record<string, string> = {},
    maxBytes = 1000,
  ) => {
    reply = (response) => response.writeHead(status, headers).end(text);
    return run(toolOf(fakeSealer(), maxBytes), { url: `${origin}/secrets`, method: 'POST' });
  };
  const cut = await asked(200, JSON.stringify({ a: { token: SECRET }, more: 'x'.repeat(2000) }));
  expect(cut).toMatchObject({ status: 200, body: '', withheld: expect.stringContaining('too long') });
  const xml = await asked(200, `<token>${SECRET}</token>`, {
    'content-type': 'text/xml',
    location: SECRET.slice(0, 10),
  });
  expect(xml).toEqual({
    status: 200,
    headers: { 'content-type': 'text/xml' },
    body: '',
    withheld: expect.stringContaining('not JSON'),
  });
  const packed = await asked(200, 'x', { 'content-encoding': 'gzip' });
  expect(packed).toMatchObject({ body: '', withheld: expect.stringContaining('compressed') });
  expect(await asked(401, 'wrong grant')).toMatchObject({ status: 401, body: 'wrong grant' });
  expect(await asked(204, '')).toEqual({ status: 204, headers: {}, body: '' });
});

test('what is found later is sealed like the answer would have been', async () => {
  const tool = toolOf(fakeSealer());
  reply = (response) => response.end(JSON.stringify({ token: SECRET, id: 7, note: SECRET }));
  const plan = tool.plan({ url: `${origin}/ask`, method: 'POST' });
  if (isRefusal(plan)) throw new Error(plan.refused.message);
  const found = await tool.find?.(plan.args, context);
  expectClean(found);
  expect(found).toMatchObject({
    status: 'done',
    result: { status: 200, body: expect.stringContaining('"id":7') },
  });
});
