import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Caller, caller, refusal } from '../../test/server/caller.ts';
import { type World, world } from '../../test/server/world.ts';
import { client } from '../client/client.ts';
import type { Event, ForeignEvent } from '../core/event.ts';
import { app } from './app.ts';

let outlast: World;
let server: ReturnType<typeof app>;
let http: Caller;
const closing = new AbortController();

beforeEach(() => {
  outlast = world();
  server = app(outlast, { closing: closing.signal });
  http = caller(server);
});

afterEach(async () => {
  outlast.release();
  await outlast.close();
});

const stream = { accept: 'text/event-stream' };

/** A client whose connection is cut in the middle of a frame, after `frames` whole ones, again and again. */
function flaky(frames: number) {
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await server.request(String(url), init);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    return response.body && isStream ? new Response(cut(response.body, frames), response) : response;
  };
  return client({ url: 'http://localhost', fetch });
}

function cut(body: ReadableStream<Uint8Array>, frames: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let left = frames;
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      const parts = new TextDecoder().decode(value).split(/(?<=\n\n)/);
      const whole = parts.slice(0, left).join('');
      const half = parts[left]?.slice(0, 20) ?? '';
      left -= parts.length;
      controller.enqueue(new TextEncoder().encode(whole + half));
      if (left >= 0) return;
      await reader.cancel();
      controller.error(new TypeError('the connection was cut'));
    },
    cancel: () => reader.cancel(),
  });
}

async function collect(
  source: AsyncIterable<Event | ForeignEvent | { kind: 'whisper' }>,
  head: number,
): Promise<(Event | ForeignEvent)[]> {
  const events: (Event | ForeignEvent)[] = [];
  for await (const event of source) {
    if (!('seq' in event)) continue;
    events.push(event);
    if (event.seq >= head) break;
  }
  return events;
}

test('B015: a follower that is cut at every event sees each once and in order', async () => {
  const id = await http.start('look');
  const { head } = await http.rested(id);
  const whole = (await http.call('events', id)).events;
  expect(whole.map(({ seq }) => seq)).toEqual(Array.from({ length: head }, (_, i) => i + 1));
  for (const frames of [2, 3, 5]) {
    expect(await collect(flaky(frames).follow(id), head)).toEqual(whole);
  }
  for (let after = 0; after < head; after++) {
    expect(await collect(flaky(100).follow(id, { after }), head)).toEqual(whole.slice(after));
  }
});

test('B015: pages and the stream tell the same', async () => {
  const id = await http.start('look');
  const { head } = await http.rested(id);
  const { events } = client({
    url: 'http://localhost',
    fetch: async (url, init) => server.request(String(url), init),
  });
  const paged: (Event | ForeignEvent)[] = [];
  for (let after = 0, more = true; more; ) {
    const page = await events(id, { after, limit: 3 });
    paged.push(...page.events);
    ({ after, more } = page);
  }
  expect(paged).toEqual(await collect(flaky(100).follow(id), head));
});

test('a frame carries seq as id and the kind as event; Last-Event-ID wins over the address', async () => {
  const id = await http.start('say hello');
  const { head } = await http.rested(id);
  const response = await http.get(`/v1/sessions/${id}/events?after=0`, {
    ...stream,
    'last-event-id': `${head - 1}`,
  });
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const reader = response.body?.getReader();
  const text = new TextDecoder().decode((await reader?.read())?.value);
  const frame = `id: ${head}\nevent: response.surfaced\ndata: {.*"text":"hello".*}`;
  expect(text).toMatch(new RegExp(`^retry: 1000\n\n${frame}\n\n$`));
  await reader?.cancel();
});

test('whispers come without an id, and only to those who want them', async () => {
  const id = await http.start('hold');
  await outlast.holding;
  const { follow } = client({
    url: 'http://localhost',
    fetch: async (url, init) => server.request(String(url), init),
  });
  const quiet = follow(id, { whispers: false });
  const seen: string[] = [];
  const listening = (async () => {
    for await (const event of follow(id, { whispers: true })) {
      if (event.kind === 'whisper') seen.push(event.text);
      if (event.kind === 'response.surfaced' && event.text === 'one two') return;
    }
  })();
  outlast.release();
  await http.rested(id);
  await http.call('send', id, { message: 'whisper one two' });
  await listening;
  expect(seen.join('')).toBe('one two ');
  const { head } = await http.rested(id);
  expect((await collect(quiet, head)).map(({ kind }) => kind as string)).not.toContain('whisper');
});

test('B157: a cursor that the log never had is said to be stale, as a page and as a stream', async () => {
  const id = await http.start('say hello');
  const { head } = await http.rested(id);
  for (const after of [head + 1, 9_999_999, -1]) {
    const refused = await refusal(http.get(`/v1/sessions/${id}/events?after=${after}`));
    expect(refused).toMatchObject({
      status: 410,
      code: 'cursor.stale',
      next: expect.stringContaining('after=0'),
    });
    const streamed = await (await http.get(`/v1/sessions/${id}/events?after=${after}`, stream)).text();
    expect(streamed).toMatch(/^event: stale\ndata: {"error":{"code":"cursor.stale".*}\n\n$/);
    await expect(collect(flaky(9).follow(id, { after }), head)).rejects.toMatchObject({
      code: 'cursor.stale',
    });
  }
  expect((await http.get(`/v1/sessions/${id}/events?after=${head}`)).status).toBe(200);
  for (const wrong of ['x', '1.5', 'NaN', '1e99']) {
    expect((await http.get(`/v1/sessions/${id}/events?after=${wrong}`)).status, wrong).toBe(400);
    expect((await http.get(`/v1/sessions/${id}/events`, { ...stream, 'last-event-id': wrong })).status).toBe(
      400,
    );
  }
});

test('B085: closing a stream stops nothing', async () => {
  const id = await http.start('hold');
  await outlast.holding;
  const response = await http.get(`/v1/sessions/${id}/events`, stream);
  await response.body?.cancel();
  outlast.release();
  expect(await http.rested(id)).toMatchObject({ phase: 'awaiting_input', lastTurn: { text: 'hold' } });
});

test('B158: who watches sees that another decided, and comes too late', async () => {
  const id = await http.start('pay');
  await http.rested(id);
  const watching = (async () => {
    for await (const event of flaky(100).follow(id)) if (event.kind === 'decision.made') return event;
  })();
  await http.call('decide', id, { decision: 'd1', answer: 'done' });
  expect(await watching).toMatchObject({ decision: 'd1', answer: 'done', by: 'local' });
  const late = await refusal(
    http.post(`/v1/sessions/${id}/decisions`, { decision: 'd1', answer: 'not-done' }),
  );
  expect(late.code).toBe('decision.closed');
});

test('B168: a reader that does not read holds nothing in memory', async () => {
  const id = await http.start('hold');
  await outlast.holding;
  await http.call('pause', id);
  for (let n = 0; n < 500; n++) await outlast.send(id, `say ${n}`);
  let given = 0;
  const counting = {
    ...outlast,
    as: () => ({
      ...outlast,
      async *follow(...args: Parameters<World['follow']>) {
        for await (const event of outlast.follow(...args)) {
          given++;
          yield event;
        }
      },
    }),
  };
  const response = await app(counting).request(`/v1/sessions/${id}/events`, { headers: stream });
  const reader = response.body?.getReader();
  await reader?.read();
  const { head } = await outlast.inspect(id);
  // One chunk was taken. What is left stays in the store until the next one is.
  expect(given).toBeGreaterThan(10);
  expect(given).toBeLessThan(200);
  await reader?.cancel();
  expect((await collect(flaky(9_999).follow(id), head)).length).toBe(head);
});

test('a silent stream beats, and ends with a word when the server goes', async () => {
  const going = new AbortController();
  const server = app(outlast, { closing: going.signal, heartbeatMs: 5 });
  const id = await http.start('hold');
  await outlast.holding;
  const { head } = await outlast.inspect(id);
  const response = await server.request(`/v1/sessions/${id}/events?after=${head}`, { headers: stream });
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk);
    if (text.includes(': still here')) going.abort();
  }
  expect(text).toMatch(/: still here\n\n: the server is closing; come back with Last-Event-ID\n\n$/);
});

test('the inbox is streamed whole, and again when it has changed; another owner sees none of it', async () => {
  const response = await http.get('/v1/inbox', stream);
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const reader = response.body?.getReader();
  let text = '';
  const until = async (wanted: RegExp) => {
    while (!wanted.test(text)) text += new TextDecoder().decode((await reader?.read())?.value);
  };
  await until(/event: inbox\ndata: {"items":\[\]}\n\n/);
  const id = await http.start('pay');
  await http.rested(id);
  await until(new RegExp(`event: inbox\ndata: {"items":\\[{"session":"${id}".*"about":"unknown"`));
  await http.call('decide', id, { decision: 'd1', answer: 'done' });
  text = '';
  await until(/event: inbox\ndata: {"items":\[\]}\n\n/);
  await reader?.cancel();
});
