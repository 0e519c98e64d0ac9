/** `outlast break`: the bench. It is a program of its own and reads its own options; here it is only found. */

import type { ExitCode } from '../exit.ts';
import type { Verb } from '../verb.ts';

export const run: Verb = async () => {
  const { main } = await import('../../break/program.ts');
  const [, , , ...args] = process.argv;
  return (await main(args)) as ExitCode;
};
