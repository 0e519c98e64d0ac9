// Owns: the list of the figures of `workspace`.

import * as files from './workspace/files.mjs';

export const FILES = [files];
export const NAMES = FILES.flatMap(({ names }) => names);
