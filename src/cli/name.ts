/** How this command is called where it runs, for lines that people copy: by npx in a clone, by its name when installed. */

import { existsSync } from 'node:fs';

const sources = '../../src';

export const COMMAND = existsSync(new URL(sources, import.meta.url)) ? 'npx outlast' : 'outlast';
