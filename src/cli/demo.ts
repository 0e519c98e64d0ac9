/** `outlast demo`: the main job, narrated. The demo is a program of its own; here it is only found. */

import { EXIT } from './exit.ts';
import type { Verb } from './verb.ts';

export const run: Verb = async () => {
  await import('../demo/main.ts');
  return EXIT.ok;
};
