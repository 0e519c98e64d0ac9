/** Images through the whole runtime: from `send` to what the model gets, over restarts, limits and lost blobs. */

import { expect, it } from 'vitest';
import type { FileData } from '../../src/core/file.ts';
import type { ModelRequest } from '../../src/core/message.ts';
import { ModelError, type ModelReply } from '../../src/models/port.ts';
import { type Harness, say } from '../../src/testing/harness.ts';
import { events, given, notes, responses } from '../faults/kit.ts';

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

function png(mark: number, length = 64): FileData {
  const data = new Uint8Array(length).fill(mark);
  data.set(PNG);
  return { mediaType: 'image/png', data };
}

/** The images that a model was shown, in order. */
const shown = (request: ModelRequest | undefined): readonly FileData[] =>
  (request?.messages ?? []).flatMap((message) => (message.role === 'user' ? (message.images ?? []) : []));

const drawn = (data: Uint8Array): ModelReply => ({
  ...say('Here it is.'),
  parts: [
    { type: 'text', text: 'Here it is.' },
    { type: 'file', mediaType: 'image/png', data, meta: { google: { thoughtSignature: 'sig==' } } },
  ],
});

async function show(h: Harness, id: string, text: string, ...images: FileData[]): Promise<void> {
  await h.done(h.api.send(id, text, { images }));
  await h.rest(id);
}

it('images of the first message and of later ones reach the model, also over a restart', async () => {
  const h = given();
  const id = await h.start('look', { images: [png(1), png(2)] });
  await h.rest(id);
  await show(h, id, 'and this?', png(3));
  h.restart();
  await h.tell(id, 'what did you see?');

  expect(shown(h.requests[0])).toEqual([png(1), png(2)]);
  expect(shown(h.requests[1])).toEqual([png(1), png(2), png(3)]);
  expect(shown(h.requests[2])).toEqual([png(1), png(2), png(3)]);
  // What was sent is the beginning of what is sent next.
  expect(h.requests[2]?.messages.slice(0, 3)).toEqual(h.requests[1]?.messages.slice(0, 3));
});

it('the log holds a reference, the store a sealed blob of the same commit', async () => {
  const h = given();
  const id = await h.start('look', { images: [png(7, 500)] });
  await h.rest(id);
  const [accepted] = await events(h, id, 'message.accepted');
  const [ref] = accepted?.images ?? [];
  expect(ref).toMatchObject({ mediaType: 'image/png', bytes: 500 });
  const blob = await h.store.blob(id, ref?.blob as never);
  expect(Buffer.from(blob).includes(Buffer.from(png(7, 500).data.subarray(0, 32)))).toBe(false);
  expect(JSON.stringify(await h.log(id))).not.toContain(Buffer.from(png(7).data).toString('base64'));
});

it('what cannot be taken is refused, and nothing is written', async () => {
  const h = given();
  const id = await h.start('hello');
  await h.rest(id);
  const before = await h.log(id);
  let commits = 0;
  h.faulty.commit = (commit) => {
    commits++;
    return h.store.commit(commit);
  };
  const gif = { mediaType: 'image/gif', data: png(1).data };
  await expect(h.api.send(id, 'look', { images: [png(1), gif] })).rejects.toMatchObject({
    code: 'message.invalid',
    message: expect.stringContaining('Image 2'),
  });
  await expect(h.api.start({ message: 'look', images: Array(9).fill(png(1)) })).rejects.toMatchObject({
    code: 'message.invalid',
  });
  await expect(h.api.send(id, '  ', { images: [png(1)] })).rejects.toMatchObject({ code: 'message.invalid' });
  expect(commits).toBe(0);
  expect(await h.log(id)).toEqual(before);
});

it('a key stands for the words and the images: a repeat gets its receipt, another image a conflict', async () => {
  const h = given();
  const id = await h.start('hello');
  await h.rest(id);
  const look = (...images: FileData[]) => h.done(h.api.send(id, 'look', { key: 'k', images }));
  const first = await look(png(1));
  expect(await look(png(1))).toEqual(first);
  await expect(look(png(2))).rejects.toMatchObject({ code: 'key.conflict' });
  await expect(look()).rejects.toMatchObject({ code: 'key.conflict' });
  await h.rest(id);
  expect(await events(h, id, 'message.accepted')).toHaveLength(2);

  const begin = (...images: FileData[]) => h.done(h.api.start({ message: 'go', key: 's', images }));
  const started = await begin(png(1));
  expect((await begin(png(1))).session).toBe(started.session);
  await expect(begin(png(2))).rejects.toMatchObject({ code: 'key.conflict' });
  await h.rest(started.session);
});

it.each([
  ['is gone', async (h: Harness) => h.store.blob('ses_x' as never, 'x' as never)],
  ['is another', async () => Uint8Array.from([1, 2, 3])],
] as const)('an image whose blob %s is told in words, and the turn goes on', async (_, blob) => {
  const h = given();
  const id = await h.start('look', { images: [png(1, 831_488)] });
  await h.rest(id);
  h.faulty.blob = () => blob(h);
  await h.tell(id, 'again');
  expect(shown(h.requests[1])).toEqual([]);
  expect(notes(h.requests[1])).toEqual(['[outlast] [image m1.1, png, 812 KB could not be read]']);
  expect(await responses(h, id)).toEqual(['done', 'done']);
});

it('an image of another session opens nowhere else', async () => {
  const h = given();
  const one = await h.start('look', { images: [png(1)] });
  const two = await h.start('look', { images: [png(1)] });
  await h.rest(one);
  await h.rest(two);
  const [accepted] = await events(h, two, 'message.accepted');
  const stolen = await h.store.blob(two, accepted?.images[0]?.blob as never);
  h.faulty.blob = async () => stolen;
  await h.tell(one, 'again');
  expect(shown(h.requests.at(-1))).toEqual([]);
  expect(notes(h.requests.at(-1)).join()).toContain('could not be read');
});

it('old images make room for new ones, and are named; the beginning of the request stays for long', async () => {
  // Each image is reckoned with much: nothing is to be compacted meanwhile.
  const h = given({ limits: { windowTokens: 400_000, contextTokens: 200_000 } });
  const id = await h.start('first', { images: [png(0)] });
  await h.rest(id);
  for (let n = 1; n <= 24; n++) await show(h, id, `look ${n}`, png(n));

  const counts = h.requests.map((request) => shown(request).length);
  expect(Math.max(...counts)).toBe(20);
  expect(counts.at(-1)).toBeLessThan(20);
  expect(shown(h.requests.at(-1)).at(-1)).toEqual(png(24));
  expect(notes(h.requests.at(-1))[0]).toBe(
    '[outlast] [image m1.1, png, 64 bytes: not shown here: newer files take its place]',
  );
  const kept = h.requests.filter((request, n) => {
    const before = h.requests[n - 1]?.messages.slice(0, -1);
    return before && JSON.stringify(request.messages).startsWith(JSON.stringify(before).slice(0, -1));
  });
  // All but the one at which the window moved.
  expect(kept).toHaveLength(h.requests.length - 2);
});

it('what a model drew is kept byte for byte, goes back to it, and people are told of it', async () => {
  const bytes = png(9, 70_000).data;
  const h = given({ model: [drawn(bytes), say('bluer')] });
  const id = await h.start('draw');
  await h.rest(id);
  h.restart();
  await h.tell(id, 'bluer');

  expect(await responses(h, id)).toEqual(['Here it is.\n[image, png, 68 KB]', 'bluer']);
  const sent = h.requests[1]?.messages.flatMap((m) => (m.role === 'assistant' ? m.parts : []));
  expect(sent).toEqual(drawn(bytes).parts);
  const [completed] = await events(h, id, 'model.completed');
  expect(completed?.parts[1]).toMatchObject({ type: 'file', bytes: 70_000, blob: expect.any(String) });
});

it('a reply that is a picture alone is an answer', async () => {
  const [, picture] = drawn(png(1).data).parts;
  const h = given({ model: [{ ...say(''), parts: picture ? [picture] : [] }] });
  const id = await h.start('draw');
  await h.rest(id);
  expect(await responses(h, id)).toEqual(['[image, png, 64 bytes]']);
});

it('B110 images that a provider refuses are left out of what follows: the session never wedges', async () => {
  const refused = new ModelError('refused_request', 'test refuses this request (413): too large', {
    retry: false,
  });
  const h = given({
    model: (request) => {
      const bytes = shown(request).reduce((sum, { data }) => sum + data.length, 0);
      if (bytes > 1024 * 1024) throw refused;
      return say(`${shown(request).length} seen`);
    },
  });
  const id = await h.start('look', { images: [png(1, 700_000)] });
  await h.rest(id);
  await show(h, id, 'and this', png(2, 700_000));
  expect(await h.done(h.api.inspect(id))).toMatchObject({
    phase: 'awaiting_input',
    reason: expect.stringContaining('(413)'),
  });
  h.restart();
  await h.tell(id, 'without it, then');
  expect(await responses(h, id)).toEqual(['1 seen', '1 seen']);
  expect(notes(h.requests.at(-1))).toEqual([
    '[outlast] [image m2.1, png, 684 KB: not shown: the provider refused a request that held it]',
  ]);
});

it('B110 a model that takes no image at all is asked without any, once it has refused', async () => {
  const refused = new ModelError('refused_request', 'test refuses this request (400): no images', {
    retry: false,
  });
  let isBlind = false;
  const h = given({
    model: (request) => {
      if (isBlind && shown(request).length > 0) throw refused;
      return say('fine');
    },
  });
  const id = await h.start('look', { images: [png(1)] });
  await h.rest(id);
  await show(h, id, 'this too', png(2));
  isBlind = true;
  for (const text of ['three', 'four']) await h.tell(id, text);
  expect(await events(h, id, 'turn.failed')).toHaveLength(1);
  expect(await responses(h, id)).toEqual(['fine', 'fine', 'fine']);
});
