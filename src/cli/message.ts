/** The words of a message: what stands on the command line, or, for `-`, what comes in on stdin. */

import { text as readAll } from 'node:stream/consumers';

export async function messageOf(words: readonly string[]): Promise<string> {
  if (words.length === 1 && words[0] === '-') return (await readAll(process.stdin)).trimEnd();
  return words.join(' ');
}
