/** What keeping sessions has cost an owner, and what closing them has. */

import type { Owner } from '../core/ids.ts';
import type { Ports } from '../loop/ports.ts';
import { eachRow } from '../loop/read.ts';
import { counted, type Guesses, NO_GUESSES } from '../projections/guesses.ts';

export async function stats(
  owner: Owner,
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
): Promise<Guesses> {
  let guesses = NO_GUESSES;
  const now = clock.now();
  for await (const row of eachRow(store, { owner })) guesses = counted(guesses, row, now);
  return guesses;
}
