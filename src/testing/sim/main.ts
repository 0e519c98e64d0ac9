/**
 * `npm run sim`. A planted bug that changes the text of the program must be there before that text is loaded, so this
 * file imports nothing of it; the rest is `program.ts`.
 */

import { PATCHES } from './patches.ts';
import { plant } from './planting.ts';

const at = process.argv.indexOf('--mutant');
const patch = at < 0 ? undefined : PATCHES.find(({ name }) => name === process.argv[at + 1]);
if (patch) plant(patch);
await import('./program.ts');
