import { describe, expect, it } from 'vitest';
import { checkImages, FILE_BYTES, type FileData, imageTypeOf, nameOf, SHOWN_BYTES } from './file.ts';

const bytes = (text: string): number[] => Array.from(text, (char) => char.charCodeAt(0));
const STARTS: { readonly [mediaType: string]: readonly number[] } = {
  'image/png': [0x89, ...bytes('PNG\r\n\x1a\n')],
  'image/jpeg': [0xff, 0xd8, 0xff, 0xe0],
  'image/gif': bytes('GIF89a'),
  'image/webp': bytes('RIFF\0\0\0\0WEBP'),
};

function image(mediaType: string, length = 64): FileData {
  const data = new Uint8Array(length);
  data.set(STARTS[mediaType] ?? []);
  return { mediaType, data };
}

const refusal = (...images: FileData[]): unknown => {
  try {
    checkImages(images);
  } catch (error) {
    return error;
  }
  return null;
};

describe('images', () => {
  it.each(Object.keys(STARTS))('takes %s, by the bytes it begins with', (mediaType) => {
    expect(refusal(image(mediaType))).toBe(null);
    expect(imageTypeOf(image(mediaType).data)).toBe(mediaType);
  });

  it.each<[string, FileData[], RegExp]>([
    [
      'a type that is not read',
      [{ mediaType: 'image/svg+xml', data: new Uint8Array(9) }],
      /Image 1 is of no type/,
    ],
    [
      'a name of every object',
      [{ mediaType: 'constructor', data: new Uint8Array(9) }],
      /Image 1 is of no type/,
    ],
    [
      'bytes of another type',
      [image('image/png'), { mediaType: 'image/png', data: image('image/gif').data }],
      /Image 2 is not the image\/png/,
    ],
    ['nothing', [{ mediaType: 'image/png', data: new Uint8Array() }], /Image 1 is not the image\/png/],
    ['too many', Array(9).fill(image('image/gif')), /at most 8 images, not 9/],
    ['too large a one', [image('image/jpeg', FILE_BYTES + 1)], /Image 1 has 5\.0 MB/],
    [
      'too much together',
      Array(3).fill(image('image/png', FILE_BYTES)),
      /15\.0 MB together; 14\.0 MB is the most/,
    ],
  ])('refuses %s', (_, images, words) => {
    expect(refusal(...images)).toMatchObject({
      code: 'message.invalid',
      message: expect.stringMatching(words),
    });
  });

  it('takes what is just small enough', () => {
    const rest = SHOWN_BYTES - 2 * FILE_BYTES;
    const large = image('image/png', FILE_BYTES);
    expect(refusal(large, large, image('image/png', rest))).toBe(null);
  });

  it('names files in words', () => {
    expect(nameOf({ mediaType: 'image/png', bytes: 831_488 }, 'm3.1')).toBe('image m3.1, png, 812 KB');
    expect(nameOf({ mediaType: 'audio/mpeg', bytes: 12 })).toBe('file, mpeg, 12 bytes');
  });
});
