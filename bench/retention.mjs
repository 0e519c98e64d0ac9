// Owns: the list of the figures of `retention`, in the order in which they are taken.

import * as compacted from './retention/compacted.mjs';
import * as cost from './retention/cost.mjs';
import * as generated from './retention/generated.mjs';
import * as publicSets from './retention/public.mjs';

export const FILES = [compacted, generated, cost, publicSets];
export const NAMES = FILES.flatMap(({ names }) => names);
