// Owns: whole-system tests run what is built, so what is built must be what is written. A vitest global setup.

import { ensure } from './ensure.mjs';

export default async function setup() {
  if (!(await ensure())) throw new Error('dist is not up to date; the lines above say why');
}
