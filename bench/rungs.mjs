// Owns: the list of the figures of `rungs`.

import * as rungs from './rungs/rungs.mjs';

export const FILES = [rungs];
export const NAMES = FILES.flatMap(({ names }) => names);
