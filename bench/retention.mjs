// Owns: the list of the figures of `retention`, in the order in which they are taken.

import * as generated from './retention/generated.mjs';
import * as publicSets from './retention/public.mjs';

export const FILES = [generated, publicSets];
export const NAMES = FILES.flatMap(({ names }) => names);
