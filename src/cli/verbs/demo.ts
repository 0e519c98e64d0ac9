/** `outlast demo`: the main job, narrated. The demo is a program of its own; here it is only found. */

import { EXIT, type ExitCode } from '../exit.ts';
import type { Verb } from '../verb.ts';

export const run: Verb = async () => {
  await import('../../demo/main.ts');
  // It has said how it ended.
  return (process.exitCode ?? EXIT.ok) as ExitCode;
};
