// Owns: the list of the figures of `followup`, in the order in which they are shown. All are taken in one run.

import * as price from './followup/price.mjs';

export const FILES = [price];
export const NAMES = FILES.flatMap(({ names }) => names);
