/** `npm run break`: the program, in a process of its own. */

import { main } from './program.ts';

process.exitCode = await main(process.argv.slice(2));
