/** Bytes that are no text: what they are, in words. */

const MAGIC: readonly (readonly [string, string])[] = [
  ['89504e470d0a1a0a', 'a PNG image'],
  ['ffd8ff', 'a JPEG image'],
  ['47494638', 'a GIF image'],
  ['25504446', 'a PDF document'],
  ['504b0304', 'a ZIP archive'],
  ['1f8b', 'a gzip archive'],
  ['7f454c46', 'a program'],
];

export function whatIs(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('hex');
  if (start.startsWith('52494646') && start.endsWith('57454250')) return 'a WebP image';
  return MAGIC.find(([magic]) => start.startsWith(magic))?.[1] ?? 'a binary file';
}
