/**
 * The whole runtime over every provider's real client: what a server says on the wire, and what then stands in the log.
 * Time is virtual, the wire is real; it stands still while an answer is under way.
 */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { languageModel } from '../../src/models/ai-sdk/language-model.ts';
import type { Model } from '../../src/models/port.ts';
import type { Harness } from '../../src/testing/harness.ts';
import { type Said, wires } from '../../src/testing/wires/formats.ts';
import { startWireServer, type WireAnswer, type WireServer } from '../../src/testing/wires/server.ts';
import { events, given, responses } from '../faults/kit.ts';

let server: WireServer;
beforeEach(async () => {
  server = await startWireServer();
});
afterEach(() => server.close());

const JSON_BODY = { 'content-type': 'application/json' };
const pay = (args: string): Said => ({ call: 'theirs', tool: 'pay', args });
const sent = (at: number): string => server.requests[at]?.text ?? '';

describe.each(wires)('$name', (wire) => {
  /** A session whose model is this wire; `asked` are the instants at which it was called. */
  function over(...answers: WireAnswer[]): { h: Harness; asked: readonly number[] } {
    server.answer(...answers);
    const asked: number[] = [];
    let underWay = 0;
    const client = languageModel(wire.open(server.url, 'k'), { name: 'test/wire' });
    const model: Model = {
      ...client,
      async generate(request, options) {
        asked.push(h.clock.now());
        underWay++;
        return client.generate(request, options).finally(() => {
          underWay--;
        });
      },
    };
    const h: Harness = given({ model, isUnderWay: () => underWay > 0 });
    return { h, asked };
  }

  const ok = (text: string): WireAnswer => ({ chunks: wire.frames([{ text }], 'stop') });
  const failed = (status: number, type: string, headers: Record<string, string> = {}): WireAnswer => ({
    status,
    headers: { ...JSON_BODY, ...headers },
    chunks: [wire.error(type, 'in our own words')],
  });

  it('B074 a rate limit is waited out for as long as the provider asks, over a restart', async () => {
    const { h, asked } = over(failed(429, 'rate_limit_error', { 'retry-after': '90' }), ok('now'));
    const id = await h.start('go');
    await h.until(async () => (await events(h, id, 'model.failed')).length === 1, 'a failure');
    h.restart();
    await h.rest(id);
    const [failure] = await events(h, id, 'model.failed');
    expect(failure).toMatchObject({ code: 'rate_limited', retry: true, retryAfterMs: 90_000, partial: '' });
    expect(asked).toHaveLength(2);
    expect(asked[1]).toBeGreaterThanOrEqual((failure?.at ?? 0) + 90_000);
    expect(await responses(h, id)).toEqual(['now']);
  });

  it('B074 without its wish the pauses grow, and end with the attempts', async () => {
    const down = failed(503, 'server_error');
    const { h, asked } = over(down, down, down, down, down);
    const id = await h.start('go');
    expect(await h.rest(id)).toBe('awaiting_input');
    expect(await events(h, id, 'turn.failed')).toMatchObject([{ code: 'overloaded' }]);
    const pauses = asked.slice(1).map((at, n) => at - (asked[n] ?? 0));
    expect(pauses.length).toBe(3);
    for (const [n, least] of [500, 2_000, 8_000].entries()) {
      expect(pauses[n]).toBeGreaterThanOrEqual(least);
      expect(pauses[n]).toBeLessThan(least * 2);
    }
  });

  it('B074 overload inside a 200 stream is tried again after a pause, and nothing is said twice', async () => {
    const half = wire.frames([{ text: 'One two' }], 'nothing');
    const { h, asked } = over({ chunks: [...half, wire.overload] }, ok('One two three.'), ok('Yes.'));
    const id = await h.start('count');
    await h.rest(id);
    expect(await events(h, id, 'model.failed')).toMatchObject([
      { code: 'overloaded', retry: true, partial: 'One two' },
    ]);
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(500);
    expect(await responses(h, id)).toEqual(['One two three.']);
    expect(await events(h, id, 'model.completed')).toMatchObject([{ parts: [{ text: 'One two three.' }] }]);
    await h.tell(id, 'was that all?');
    expect(sent(2).split('One two')).toHaveLength(2);
  });

  it('B053 a stream without its proper end is called again, and never surfaced', async () => {
    const said = [{ text: 'Half a' }, pay('{"what":"rent"}')];
    const { h } = over(
      { chunks: wire.frames(said, 'nothing') },
      { chunks: wire.frames(said, 'nothing'), end: 'cut' },
      ok('Whole.'),
    );
    const id = await h.start('go');
    await h.rest(id);
    const codes = (await events(h, id, 'model.failed')).map(({ code }) => code);
    expect(codes).toEqual(['incomplete', 'incomplete']);
    expect(await responses(h, id)).toEqual(['Whole.']);
    expect(h.world.books).toEqual([]);
  });

  it('B076 a deterministic 400 is asked once a turn, and nothing of it is kept', async () => {
    const bad = failed(400, 'invalid_request_error');
    const { h } = over(bad, bad, ok('repaired'));
    const id = await h.start('one');
    await h.rest(id);
    await h.tell(id, 'two');
    expect(server.requests).toHaveLength(2);
    expect(await events(h, id, 'turn.failed')).toMatchObject([
      { code: 'refused_request', reason: expect.stringContaining('in our own words') },
      { code: 'refused_request' },
    ]);
    await h.tell(id, 'three');
    expect(sent(2)).not.toContain('in our own words');
    expect((await h.state(id)).transcript.map(({ kind }) => kind)).toEqual([
      'message',
      'message',
      'message',
      'reply',
    ]);
    expect(await responses(h, id)).toEqual(['repaired']);
  });

  it.each([
    ['B011 the limit', 'length'],
    ['B179 a provider that says otherwise', 'calls'],
  ] as const)('calls that are cut by %s never run, and end the turn at the third', async (_, ending) => {
    const cut = { chunks: wire.frames([pay('{"what":"re')], ending) };
    const { h } = over(cut, cut, cut, ok('sorry'));
    const id = await h.start('pay the rent');
    expect(await h.rest(id)).toBe('awaiting_input');
    expect(server.requests).toHaveLength(3);
    expect(await events(h, id, 'turn.failed')).toMatchObject([{ code: 'model.broken' }]);
    await h.tell(id, 'never mind');
    expect(h.world.books).toEqual([]);
    expect(await responses(h, id)).toEqual(['sorry']);
  });

  it('B075 a refusal is surfaced as one, asked once, and leaves room for the next instruction', async () => {
    const { h } = over({ chunks: wire.frames([], 'refusal') }, ok('with pleasure'));
    const id = await h.start('something bad');
    expect(await h.rest(id)).toBe('awaiting_input');
    expect(server.requests).toHaveLength(1);
    expect(await events(h, id, 'turn.failed')).toMatchObject([
      { code: 'model.refused', reason: 'The model refused.' },
    ]);
    await h.tell(id, 'something nice');
    expect(await responses(h, id)).toEqual(['with pleasure']);
  });

  it('B020 parts and metadata stand in the log as they came and go back so, by another worker', async () => {
    const seal = 'EqoB+/seal==\u00e9 "quoted" \\ \u2028';
    const said = [{ thought: 'First look.', seal }, { text: 'I pay.' }, pay('{"what":"rent"}')];
    const { h } = over({ chunks: wire.frames(said, 'calls') }, ok('Paid.'), ok('Yes.'));
    const id = await h.start('pay the rent');
    await h.rest(id);
    const [completed] = await events(h, id, 'model.completed');
    const kinds = completed?.parts.map(({ type }) => type);
    const thought = wire.name === 'OpenAI Chat' ? [] : ['reasoning'];
    expect(kinds).toEqual([...thought, 'text', 'tool-call']);
    h.restart();
    await h.tell(id, 'paid?');
    for (const at of wire.seals ? [1, 2] : []) {
      expect(sent(at)).toContain(JSON.stringify(seal));
      expect(sent(at)).toContain('First look.');
    }
    expect(h.world.books).toHaveLength(1);
  });

  it('an image goes from `send` to the wire byte for byte', async () => {
    const data = Uint8Array.from({ length: 2_000 }, (_, at) => (at * 31) % 256);
    data.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    const { h } = over(ok('hello'), ok('a cat'), ok('still a cat'));
    const id = await h.start('hello');
    await h.rest(id);
    await h.done(h.api.send(id, 'what is this?', { images: [{ mediaType: 'image/png', data }] }));
    await h.rest(id);
    h.restart();
    await h.tell(id, 'sure?');
    const base64 = Buffer.from(data).toString('base64');
    expect([0, 1, 2].map((at) => sent(at).split(base64).length - 1)).toEqual([0, 1, 1]);
  });
});
