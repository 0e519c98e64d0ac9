import { expect, it } from 'vitest';
import { VERSIONS } from './event.ts';
import { decode, encode } from './upcast.ts';

const row = (kind: string, version: number, body: object) => ({
  seq: 2,
  at: 1,
  kind,
  version,
  body: JSON.stringify(body),
});
const message = { message: 'm1', key: null, text: 'hello', when: 'next', rule: 'starts turn 1' };

it('U1 a message of version 1 came without images', () => {
  const event = decode(row('message.accepted', 1, message));
  expect(event).toEqual({ ...message, images: [], kind: 'message.accepted', seq: 2, at: 1 });
});

it('what is written is read as it was', () => {
  const images = [{ mediaType: 'image/png', blob: 'b', bytes: 3, digest: 'd' }];
  const event = decode(row('message.accepted', 2, { ...message, images }));
  const again = encode(event as never);
  expect(again.version).toBe(2);
  expect(decode(again)).toEqual(event);
});

it('U2 a version of tomorrow is foreign', () => {
  const newer = VERSIONS['message.accepted'] + 1;
  expect(decode(row('message.accepted', newer, message))).toMatchObject({ kind: 'foreign', version: newer });
});
