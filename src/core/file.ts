/**
 * Files that a message or a reply carries: images from people, files from models. What may come in, and how they are
 * named in words.
 *
 * F1  The log holds references; the bytes are blobs of the same commit, sealed, since an image can show a secret.
 * F2  `digest` is that of the bytes before they were sealed: equal files have equal digests, equal blobs they never have.
 * F3  What is accepted can be shown: one message with all its images fits into one request (`SHOWN_BYTES`).
 */

import { OutlastError } from './error.ts';
import type { BlobRef } from './ids.ts';

/** A file as the log and the state know it. */
export interface FileRef {
  /** For example `image/png`. */
  readonly mediaType: string;
  readonly blob: BlobRef;
  /** Of the file itself, not of the sealed blob. */
  readonly bytes: number;
  readonly digest: string;
}

/** A file with what is in it. */
export interface FileData {
  readonly mediaType: string;
  readonly data: Uint8Array;
}

export const FILE_BYTES = 5 * 1024 * 1024;
export const MESSAGE_IMAGES = 8;
/** Files in one request. Google takes 20 MB in all, and a byte is 4/3 of a byte in base64. */
export const SHOWN_BYTES = 14 * 1024 * 1024;
export const SHOWN_FILES = 20;

/** The kinds of image that every provider reads, by the bytes they begin with, in hexadecimal. */
const MAGIC: { readonly [mediaType: string]: RegExp } = {
  'image/png': /^89504e470d0a1a0a/,
  'image/jpeg': /^ffd8ff/,
  'image/gif': /^474946383[79]61/,
  'image/webp': /^52494646.{8}57454250/,
};

export const IMAGE_TYPES: readonly string[] = Object.keys(MAGIC);

/** Throws `message.invalid`, with the place of the image that cannot be taken. */
export function checkImages(images: readonly FileData[]): void {
  if (images.length > MESSAGE_IMAGES) {
    throw invalid(
      `A message has at most ${MESSAGE_IMAGES} images, not ${images.length}.`,
      'send several messages',
    );
  }
  for (const [index, { mediaType, data }] of images.entries()) {
    const which = `Image ${index + 1}`;
    const magic = Object.hasOwn(MAGIC, mediaType) ? MAGIC[mediaType] : undefined;
    if (!magic) throw invalid(`${which} is of no type that is read here.`, `send ${IMAGE_TYPES.join(', ')}`);
    if (data.length > FILE_BYTES) {
      throw invalid(
        `${which} has ${sizeOf(data.length)}; ${sizeOf(FILE_BYTES)} is the most.`,
        'make it smaller',
      );
    }
    if (!magic.test(beginning(data))) {
      throw invalid(`${which} is not the ${mediaType} that it is said to be.`, 'name its true type');
    }
  }
  const bytes = images.reduce((sum, { data }) => sum + data.length, 0);
  if (bytes > SHOWN_BYTES) {
    throw invalid(
      `The images of this message have ${sizeOf(bytes)} together; ${sizeOf(SHOWN_BYTES)} is the most.`,
      'send several messages, or make them smaller',
    );
  }
}

/** The type that the bytes show; null when it is none that is read here. */
export function imageTypeOf(data: Uint8Array): string | null {
  return Object.entries(MAGIC).find(([, magic]) => magic.test(beginning(data)))?.[0] ?? null;
}

const beginning = (data: Uint8Array): string =>
  Array.from(data.subarray(0, 12), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** `image m3.1, png, 812 KB`; a reply's file has no number of its own. */
export function nameOf({ mediaType, bytes }: Pick<FileRef, 'mediaType' | 'bytes'>, id?: string): string {
  const [kind = 'file', form = ''] = mediaType.split('/');
  return `${kind === 'image' ? 'image' : 'file'}${id === undefined ? '' : ` ${id}`}, ${form || kind}, ${sizeOf(bytes)}`;
}

export function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function invalid(message: string, next: string): OutlastError {
  return new OutlastError('message.invalid', message, { next });
}
