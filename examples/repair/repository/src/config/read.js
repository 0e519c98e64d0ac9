import { existsSync, readFileSync } from 'node:fs';
import { DEFAULTS } from './defaults.js';

/** The defaults, and over them what `tally.json` in the current folder says. */
export function readConfig(path = 'tally.json') {
  if (!existsSync(path)) return DEFAULTS;
  const own = JSON.parse(readFileSync(path, 'utf8'));
  return { ...DEFAULTS, ...own, rates: { ...DEFAULTS.rates, ...own.rates } };
}
