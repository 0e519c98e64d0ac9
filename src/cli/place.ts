/** A folder or a git remote as people name it: a path is meant from where they stand, and the server stands elsewhere. */

import { resolve } from 'node:path';

const REMOTE = /^([a-z]+:\/\/|[\w.-]+@[\w.-]+:)/;

export function placeOf(text: string): string;
export function placeOf(text: string | undefined): string | undefined;
export function placeOf(text: string | undefined): string | undefined {
  return text === undefined || REMOTE.test(text) ? text : resolve(text);
}
