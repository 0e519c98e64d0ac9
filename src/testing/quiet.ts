/** Virtual time stands still until everything has run that does not wait for it. */

import { setImmediate as realTurn } from 'node:timers/promises';
import type { Life } from './sim/life.ts';

/** False when that has no end. `isUnderWay` tells of something real that no life knows of. */
export async function quiet(
  lives: readonly Pick<Life, 'boundaries' | 'busy' | 'dead' | 'isCircling'>[],
  isUnderWay: () => boolean = () => false,
): Promise<boolean> {
  const crossed = (): number => lives.reduce((sum, { boundaries }) => sum + boundaries.length, 0);
  const isBusy = (): boolean => isUnderWay() || lives.some(({ busy, dead }) => busy > 0 && !dead);
  for (let calm = 0; calm < 2; ) {
    const before = crossed();
    await realTurn();
    calm = crossed() === before && !isBusy() ? calm + 1 : 0;
  }
  return lives.every(({ isCircling }) => !isCircling);
}
