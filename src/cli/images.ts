/** `--image FILE`: the images of a message, read from files; their types are told by their bytes. */

import { readFile } from 'node:fs/promises';
import { type FileData, IMAGE_TYPES, imageTypeOf } from '../core/file.ts';
import { UsageError } from './exit.ts';
import type { Options } from './verb.ts';

export async function imagesOf(option: Options[string]): Promise<{ readonly images?: readonly FileData[] }> {
  const files = Array.isArray(option) ? option : [];
  return files.length === 0 ? {} : { images: await Promise.all(files.map(read)) };
}

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
