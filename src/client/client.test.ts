import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type World, world } from '../../test/server/world.ts';
import { app } from '../server/app.ts';
import { client } from './client.ts';

let outlast: World;
let server: ReturnType<typeof app>;

beforeEach(() => {
  outlast = world();
  server = app(outlast);
});

afterEach(async () => {
  outlast.release();
  await outlast.close();
});

type Meeting = 'answered' | 'answer lost' | 'not reached';

/** A client whose requests meet what is listed, one after the other, and are answered once the list is over. */
function meeting(...meetings: Meeting[]) {
  const keys: (string | null)[] = [];
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const met = meetings.shift() ?? 'answered';
    keys.push(new Headers(init?.headers).get('idempotency-key'));
    if (met === 'not reached') throw new TypeError('fetch failed');
    const response = await server.request(String(url), init);
    if (met === 'answered') return response;
    await response.text();
    throw new TypeError('the connection was cut');
  };
  return { keys, ...client({ url: 'http://localhost/', fetch }) };
}

test('B003: a start and a send whose answers were lost are done once', async () => {
  const { keys, ...http } = meeting('answer lost', 'answered', 'answer lost', 'not reached', 'answered');
  const { session } = await http.start({ message: 'say hello', persist: true });
  await outlast.rest(session);
  const receipt = await http.send(session, 'say again');
  expect(receipt).toMatchObject({ message: 'm2', rule: 'starts turn 2' });
  await outlast.rest(session);
  expect((await outlast.list()).map(({ id, turn }) => [id, turn])).toEqual([[session, 2]]);
  expect(keys[0]).toBe(keys[1]);
  expect(new Set(keys.slice(2)).size).toBe(1);
  expect(keys[0]).not.toBe(keys[2]);
});

test('images travel byte for byte', async () => {
  const http = meeting();
  const data = Uint8Array.from({ length: 100_000 }, (_, at) => at % 256);
  data.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const images = [{ mediaType: 'image/png', data }];
  const { session } = await http.start({ message: 'say hello', persist: true, images });
  await outlast.rest(session);
  await http.send(session, 'say more', { images });
  const { events } = await http.events(session);
  const refs = events.flatMap((event) => (event.kind === 'message.accepted' ? event.images : []));
  const digest = createHash('sha256').update(data).digest('hex');
  expect(refs).toMatchObject([
    { bytes: 100_000, digest },
    { bytes: 100_000, digest },
  ]);
});

test('a refusal is thrown as it was thrown there, and is not tried again', async () => {
  const { keys, ...http } = meeting();
  await expect(http.inspect('ses_00000000000000000000')).rejects.toMatchObject({
    name: 'OutlastError',
    code: 'session.unknown',
    next: 'list your sessions',
  });
  expect(keys).toHaveLength(1);
});

test('a server that stays away is given up, and it is said what to do', async () => {
  const away = client({ url: 'http://127.0.0.1:1' });
  await expect(away.list()).rejects.toMatchObject({
    code: 'server.unreachable',
    next: 'start it: npm start',
  });
});

test('what answers is no Outlast: that is said too', async () => {
  const stranger = client({
    url: 'http://localhost',
    fetch: async () => new Response('<html>', { status: 404 }),
  });
  await expect(stranger.list()).rejects.toThrow(/no Outlast server \(status 404\)/);
});

test('rest waits for as long as it takes, through a server that goes and comes back', async () => {
  const said: string[] = [];
  const http = meeting('answered', 'not reached', 'answered');
  const { session } = await http.start({ message: 'hold', persist: true });
  await outlast.holding;
  const resting = http.rest(session, { onLost: () => said.push('lost'), onBack: () => said.push('back') });
  outlast.release();
  expect(await resting).toMatchObject({ phase: 'awaiting_input', lastTurn: { text: 'hold' } });
  expect(said).toEqual(['lost', 'back']);
});

test('follow comes back from where it was, tells that the server was away, and ends when it is told to', async () => {
  const said: string[] = [];
  const http = meeting('answered', 'not reached', 'not reached', 'answered');
  const { session } = await http.start({ message: 'say hello', persist: true });
  await outlast.rest(session);
  const leave = new AbortController();
  const kinds: string[] = [];
  const options = { signal: leave.signal, onLost: () => said.push('lost'), onBack: () => said.push('back') };
  for await (const event of http.follow(session, options)) {
    kinds.push(event.kind);
    if (event.kind === 'response.surfaced') leave.abort();
  }
  expect(kinds.slice(0, 2)).toEqual(['session.started', 'message.accepted']);
  expect(kinds.at(-1)).toBe('response.surfaced');
  expect(said).toEqual(['lost', 'back']);
});

test('a signal ends any waiting', async () => {
  const { session } = await outlast.start({ message: 'hold', persist: true });
  await outlast.holding;
  const leave = new AbortController();
  const resting = meeting().rest(session, { signal: leave.signal });
  leave.abort();
  await expect(resting).rejects.toMatchObject({ name: 'AbortError' });
  expect(await outlast.inspect(session)).toMatchObject({ phase: 'working' });
});
