import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { Json } from '../../lib/json.ts';
import { noFiles } from '../../testing/no-files.ts';
import { isRefusal, NotSent, type RunContext, type Tool } from '../port.ts';
import { type FetchOptions, fetchTool } from './fetch.ts';
import type { Rule } from './grant.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener).listen(0, '127.0.0.1');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const sealer = { seal: (bytes: Uint8Array) => bytes, open: (bytes: Uint8Array) => bytes };
const context: RunContext = {
  reference: 'ses_1.e7',
  epoch: 4,
  attempt: 1,
  signal: new AbortController().signal,
  ...noFiles,
};

const toolFor = (origin: string, rules: readonly Rule[], options: Partial<FetchOptions> = {}): Tool =>
  fetchTool({ grants: [{ name: 'shop', origin, rules }], sealer, ...options });
const all: Rule = { method: '*', path: '/**' };
const keyed: Rule = { ...all, capability: { kind: 'keyed', retentionMs: 1000 } };
const queryable: Rule = {
  ...all,
  capability: { kind: 'queryable', lateMs: 10 },
  ask: { path: '/found?ref={reference}', found: '/records', reference: '/ref' },
};

const cancelable: Rule = {
  method: 'POST',
  path: '/bookings',
  capability: { kind: 'cancelable', lateMs: 10 },
  ask: { path: '/bookings?ref={reference}', found: '/bookings', reference: '/ref' },
  cancel: { method: 'DELETE', path: '/bookings/{id}', id: '/id', undone: '/cancelled' },
};

async function run(tool: Tool, args: Json, changes: Partial<RunContext> = {}) {
  const plan = tool.plan(args);
  if (isRefusal(plan)) throw new Error(plan.refused.message);
  return tool.run(plan.args, { ...context, ...changes });
}

test('the spec is for cells only, and a wrong grant is found when the tool is made', () => {
  const tool = toolFor('http://h', [all]);
  expect([tool.direct, tool.spec.name]).toEqual([false, 'fetch']);
  expect(() => toolFor('http://h/path', [all])).toThrow('grants[0].origin');
});

test('B165: nothing is reached that is not granted, and nothing is reached by redirect', async () => {
  const reached: string[] = [];
  const inner = await serve((request, response) => {
    reached.push(request.url ?? '');
    response.end('inner');
  });
  const outer = await serve((_, response) => {
    response.writeHead(307, { location: `${inner}/secret` }).end();
  });
  const tool = toolFor(outer, [all]);
  const port = new URL(inner).port;
  const hosts = [
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
    '0',
  ];
  for (const host of [...hosts.map((name) => `${name}:${port}`), '169.254.169.254', '10.0.0.1']) {
    expect(tool.plan({ url: `http://${host}/` })).toMatchObject({ refused: { code: 'grant.none' } });
  }
  expect(tool.plan({ url: `${outer}@127.0.0.1:${port}/` })).toMatchObject({
    refused: { code: 'call.invalid' },
  });
  for (const method of ['GET', 'POST']) {
    expect(await run(tool, { url: `${outer}/`, method })).toEqual({
      status: 'done',
      result: { status: 307, headers: { location: `${inner}/secret` }, body: '' },
    });
  }
  expect(reached).toEqual([]);
});

test('the key, the reference and the epoch are set by the capability, and nobody else can set them', async () => {
  let seen: IncomingHttpHeaders = {};
  const origin = await serve((request, response) => {
    seen = request.headers;
    response.end();
  });
  const theirs = {
    'Idempotency-Key': 'mine',
    'X-Reference': 'mine',
    'X-Outlast-Epoch': '99',
    'X-Key': 'mine',
  };
  const marks = async (rule: Rule, method = 'POST') => {
    await run(toolFor(origin, [rule]), { url: `${origin}/`, method, headers: theirs });
    const { 'idempotency-key': key, 'x-reference': reference, 'x-outlast-epoch': epoch, 'x-key': own } = seen;
    return { key, reference, epoch, own };
  };
  expect(await marks(keyed)).toEqual({ key: 'ses_1.e7', epoch: '4', own: 'mine' });
  expect(await marks({ ...keyed, keyHeader: 'X-Key' })).toEqual({ epoch: '4', own: 'ses_1.e7' });
  expect(await marks(queryable)).toEqual({ reference: 'ses_1.e7', epoch: '4', own: 'mine' });
  expect(await marks({ ...queryable, referenceHeader: 'X-Key' })).toEqual({ epoch: '4', own: 'ses_1.e7' });
  expect(await marks(all)).toEqual({ epoch: '4', own: 'mine' });
  expect(await marks(all, 'GET')).toEqual({ epoch: '4', own: 'mine' });
  expect(seen).toMatchObject({ 'user-agent': 'outlast', 'accept-encoding': 'identity' });
});

test('W2: an answer is a result, but 408 and 5xx say nothing, unless the rule calls them clean', async () => {
  const origin = await serve((request, response) => {
    response.writeHead(Number(request.url?.slice(1)), { 'content-type': 'text/plain', 'set-cookie': 'a=b' });
    response.end('said');
  });
  const outcome = async (status: number, rule: Rule, method: string) =>
    run(toolFor(origin, [rule]), { url: `${origin}/${status}`, method }).then(
      (answer) => (answer.status === 'done' ? (answer.result as { status: number }).status : answer),
      (error: Error) => (error instanceof NotSent ? 'not sent' : error.message),
    );
  for (const status of [201, 301, 400, 401, 404, 409, 429, 501, 505]) {
    expect(await outcome(status, all, 'POST')).toBe(status);
    expect(await outcome(status, all, 'GET')).toBe(status);
  }
  for (const status of [408, 500, 502, 503, 504, 520]) {
    const said = `answered ${status}, which does not say whether anything was done`;
    expect(await outcome(status, all, 'POST')).toBe(`POST ${origin}/${status} ${said}`);
    expect(await outcome(status, all, 'GET')).toBe(`GET ${origin}/${status} ${said}`);
    const clean = await outcome(status, { ...all, failures: 'clean' }, 'POST');
    expect(clean).toEqual(status === 408 ? expect.stringContaining(said) : status);
  }
  expect(await run(toolFor(origin, [all]), { url: `${origin}/404` })).toEqual({
    status: 'done',
    result: { status: 404, headers: { 'content-type': 'text/plain' }, body: 'said' },
  });
});

test('N1: a body is cut between characters, made whole, and flagged', async () => {
  const bodies: Readonly<Record<string, Uint8Array>> = {
    '/emoji': Buffer.from('ab\u{1f600}cd'),
    '/exact': Buffer.from('abcde'),
    '/broken': Buffer.from([0x61, 0xff, 0xed, 0xa0, 0x80]),
    '/endless': Buffer.alloc(5_000_000, 'x'),
  };
  const origin = await serve((request, response) => {
    response.sendDate = false;
    response.end(bodies[request.url ?? '']);
  });
  const tool = toolFor(origin, [all], { maxBytes: 5 });
  const read = async (path: string, by = tool) => {
    const answer = await run(by, { url: `${origin}${path}` });
    return answer.status === 'done' ? answer.result : answer;
  };
  expect(await read('/emoji')).toEqual({ status: 200, headers: {}, body: 'ab', truncated: true });
  expect(await read('/exact')).toEqual({ status: 200, headers: {}, body: 'abcde' });
  expect(await read('/endless')).toMatchObject({ body: 'xxxxx', truncated: true });
  const roomy = toolFor(origin, [all]);
  expect(await read('/broken', roomy)).toMatchObject({ body: 'a\ufffd\ufffd\ufffd\ufffd' });
});

test('O1: refused connections are not sent, torn and silent ones are unknown', async () => {
  let mode: 'torn' | 'half' | 'silent' = 'torn';
  const server = createTcpServer((socket: Socket) =>
    socket
      .on('error', () => {})
      .once('data', () => {
        if (mode === 'torn') socket.resetAndDestroy();
        if (mode === 'half') socket.end('HTTP/1.1 201 Created\r\ncontent-length: 99\r\n\r\n{"half":');
      }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = { url: `${origin}/pay?q=topsecret`, method: 'POST', headers: { authorization: 'topsecret' } };
  const failure = (rule: Rule, changes: Partial<RunContext> = {}) =>
    run(toolFor(origin, [rule]), args, changes).catch((error: Error) => error) as Promise<Error>;

  for (mode of ['torn', 'half'] as const) {
    const error = await failure(all);
    expect(error).not.toBeInstanceOf(NotSent);
    expect(error.message).toContain(
      `POST ${origin}/pay: the connection broke before the answer was complete`,
    );
    expect(`${error.stack} ${error.cause}`).not.toContain('topsecret');
  }
  mode = 'silent';
  const late = await failure(all, { signal: AbortSignal.timeout(50) });
  expect([late instanceof NotSent, late.message]).toEqual([false, `POST ${origin}/pay: no answer in time`]);

  server.close();
  const refused = await failure(all);
  expect(refused).toBeInstanceOf(NotSent);
  expect(refused.message).toBe(`POST ${origin}/pay: the service could not be reached (ECONNREFUSED)`);
  expect(await failure(keyed)).toBeInstanceOf(NotSent);
  const second = await failure(keyed, { attempt: 2 });
  expect([second instanceof NotSent, second.message]).toEqual([false, refused.message]);
});

test('W1: a grant that is gone sends nothing', async () => {
  let requests = 0;
  const origin = await serve((_, response) => {
    requests += 1;
    response.end();
  });
  const plan = toolFor(origin, [all]).plan({ url: `${origin}/`, method: 'POST' });
  if (isRefusal(plan)) throw new Error(plan.refused.message);
  const narrowed = toolFor(origin, [{ method: 'GET', path: '/**' }]);
  expect(await narrowed.run(plan.args, context)).toMatchObject({ status: 'failed', code: 'grant.none' });
  await expect(narrowed.run(plan.args, { ...context, attempt: 2 })).rejects.toThrow('is not granted');
  expect(requests).toBe(0);
});

test('find asks with the same reference, as the same caller, and changes nothing', async () => {
  let answer: { status: number; body: Json } = { status: 200, body: { records: [] } };
  const asked: unknown[] = [];
  const origin = await serve((request, response) => {
    const { authorization, 'content-type': type } = request.headers;
    asked.push([request.method, request.url, authorization, type]);
    response.writeHead(answer.status).end(JSON.stringify(answer.body));
  });
  const tool = toolFor(origin, [queryable]);
  const headers = { authorization: 'Bearer me', 'content-type': 'application/json' };
  const plan = tool.plan({ url: `${origin}/send`, method: 'POST', headers, body: '{}' });
  if (isRefusal(plan)) throw new Error(plan.refused.message);
  const find = () => tool.find?.(plan.args, context);

  expect(await find()).toEqual({ status: 'absent' });
  expect(asked).toEqual([['GET', '/found?ref=ses_1.e7', 'Bearer me', undefined]]);
  answer = { status: 200, body: { records: [{ ref: 'ses_1.e7', id: 'm1' }] } };
  expect(await find()).toEqual({
    status: 'done',
    result: {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '{"ref":"ses_1.e7","id":"m1"}',
    },
  });
  for (answer of [
    { status: 503, body: null },
    { status: 401, body: null },
    { status: 200, body: { error: 'busy' } },
    { status: 200, body: { records: [{ ref: 'ses_2.e7' }] } },
  ]) {
    expect(await find()).toEqual({
      status: 'unclear',
      reason: expect.stringContaining(`${origin} was asked, and `),
    });
  }
});

test('find is unclear where nobody can be asked', async () => {
  const origin = 'http://127.0.0.1:9';
  const of = async (rule: Rule) => {
    const tool = toolFor(origin, [rule]);
    const plan = tool.plan({ url: `${origin}/`, method: 'POST' });
    return isRefusal(plan) ? plan : tool.find?.(plan.args, context);
  };
  expect(await of(all)).toEqual({ status: 'unclear', reason: expect.stringContaining('cannot be asked') });
  expect(await of(queryable)).toEqual({
    status: 'unclear',
    reason: expect.stringContaining('could not be reached'),
  });
});

interface Booking {
  readonly id: string | number | null;
  readonly ref: string;
  cancelled?: boolean;
}

/** A service with these records; `seen` is what it was asked. */
async function bookings(records: Booking[], answers: { cancel?: number; list?: number } = {}) {
  const seen: string[] = [];
  const origin = await serve((request, response) => {
    const { method, url = '', headers } = request;
    seen.push(`${method} ${url} as ${headers.authorization}, epoch ${headers['x-outlast-epoch']}`);
    if (method === 'GET') {
      response.writeHead(answers.list ?? 200).end(JSON.stringify({ bookings: records }));
      return;
    }
    const found = records.find(({ id }) => url === `/bookings/${encodeURIComponent(String(id))}`);
    if (found && !answers.cancel) found.cancelled = true;
    response.writeHead(answers.cancel ?? 204).end();
  });
  const tool = toolFor(origin, [cancelable]);
  const headers = { authorization: 'Bearer me', 'content-type': 'application/json' };
  const plan = tool.plan({ url: `${origin}/bookings`, method: 'POST', headers, body: '{}' });
  if (isRefusal(plan)) throw new Error(plan.refused.message);
  return { seen, audit: () => tool.audit?.(plan.args, context) };
}

const kept = (id: string) => ({
  status: 'done',
  result: {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id, ref: 'ses_1.e7' }),
  },
});

test('T4: an audit undoes all records but the first, and asked again it says the same and undoes nothing', async () => {
  const ref = 'ses_1.e7';
  const records = [
    { id: 'a', ref },
    { id: 'b/1', ref },
    { id: 'x', ref: 'ses_9.e1' },
    { id: 3, ref },
  ];
  const { seen, audit } = await bookings(records);
  expect(await audit()).toEqual({ finding: kept('a'), undone: 2 });
  const as = 'as Bearer me, epoch 4';
  const look = `GET /bookings?ref=ses_1.e7 ${as}`;
  expect(seen).toEqual([look, `DELETE /bookings/b%2F1 ${as}`, `DELETE /bookings/3 ${as}`]);
  expect(await audit()).toEqual({ finding: kept('a'), undone: 2 });
  expect(seen.slice(3)).toEqual([look]);
});

test('T4: one record is once, none is absent, and one that somebody else has undone is not sent again', async () => {
  const ref = 'ses_1.e7';
  expect(await (await bookings([{ id: 'a', ref }])).audit()).toEqual({ finding: kept('a'), undone: 0 });
  expect(await (await bookings([])).audit()).toEqual({ finding: { status: 'absent' }, undone: 0 });
  const gone = await bookings([{ id: 'a', ref, cancelled: true }]);
  expect(await gone.audit()).toEqual({
    finding: {
      status: 'failed',
      code: 'undone',
      message: expect.stringMatching(/has been undone at the service/),
    },
    undone: 1,
  });
  expect(gone.seen).toHaveLength(1);
});

test('T4: an extra that is gone already is undone; what cannot be looked at or undone is unclear', async () => {
  const ref = 'ses_1.e7';
  const two = (): Booking[] => [
    { id: 'a', ref },
    { id: 'b', ref },
  ];
  for (const cancel of [404, 410])
    expect(await (await bookings(two(), { cancel })).audit()).toEqual({ finding: kept('a'), undone: 1 });
  const unclear = (reason: RegExp) => ({
    finding: { status: 'unclear', reason: expect.stringMatching(reason) },
    undone: 0,
  });
  for (const cancel of [302, 403, 409, 500])
    expect(await (await bookings(two(), { cancel })).audit()).toEqual(unclear(/asked to undo an extra/));
  expect(await (await bookings(two(), { list: 503 })).audit()).toEqual(
    unclear(/was asked, and it answered 503/),
  );
  // An id that is a step upwards would undo something else.
  for (const id of [null, '..', '.']) {
    const nameless = await bookings([
      { id: 'a', ref },
      { id, ref },
    ]);
    expect(await nameless.audit()).toEqual(unclear(/no id to undo it by/));
    expect(nameless.seen).toHaveLength(1);
  }
});
