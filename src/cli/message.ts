/** A message as the command line has it: its words, or `-` for what comes in on stdin; and `--image FILE`, several times. */

import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { type FileData, IMAGE_TYPES, imageTypeOf } from '../core/file.ts';
import { UsageError } from './exit.ts';
import type { Options } from './verb.ts';

export async function wordsOf(words: readonly string[]): Promise<string> {
  if (words.length === 1 && words[0] === '-') return (await readAll(process.stdin)).trimEnd();
  return words.join(' ');
}

export async function imagesOf({ image }: Options): Promise<readonly FileData[]> {
  return Promise.all(Array.isArray(image) ? image.map(read) : []);
}

/** The type of an image is told by its bytes. */
async function read(file: string): Promise<FileData> {
  const data = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--image ${file} cannot be read (${error.code}).`, 'name a file that is there');
  });
  const mediaType = imageTypeOf(data);
  if (mediaType === null) {
    throw new UsageError(`--image ${file} is no image that is read here.`, `use ${IMAGE_TYPES.join(', ')}`);
  }
  return { mediaType, data: new Uint8Array(data) };
}
