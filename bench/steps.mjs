// Owns: the list of the figures of `steps`, in the order in which they are taken. The longest history comes last.

import { scriptFigure } from './kit/script-figure.mjs';
import * as cell from './steps/cell.mjs';
import * as commit from './steps/commit.mjs';
import * as kill from './steps/kill.mjs';
import * as long from './steps/long.mjs';
import * as rate from './steps/rate.mjs';
import * as steer from './steps/steer.mjs';

const wake = scriptFigure(new URL('./steps/wake.mjs', import.meta.url), ['wake20MbMs']);

export const FILES = [commit, rate, cell, wake, steer, kill, long];
export const NAMES = FILES.flatMap(({ names }) => names);
