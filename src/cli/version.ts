/** The version of the package, from its manifest. */

import { createRequire } from 'node:module';

const manifest = createRequire(import.meta.url)('../../package.json') as { readonly version: string };

export const VERSION = manifest.version;
