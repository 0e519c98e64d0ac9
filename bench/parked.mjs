// Owns: the list of the figures of `parked`.

import * as sessions from './parked/sessions.mjs';

export const FILES = [sessions];
export const NAMES = FILES.flatMap(({ names }) => names);
