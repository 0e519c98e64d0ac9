/** Chance, by a seed. */

import { seededEntropy } from '../lib/entropy.ts';

export interface Dice {
  /** 0 ≤ n < `below`. */
  roll(below: number): number;
  chance(percent: number): boolean;
}

export function diceOf(seed: number): Dice {
  const { next } = seededEntropy(seed);
  return {
    roll: (below) => Math.floor(next() * below),
    chance: (percent) => next() * 100 < percent,
  };
}
