#!/usr/bin/env node
// Owns: the command `outlast`. In a clone it first brings node_modules and dist up to date; an installed package
// carries neither src nor scripts and goes straight to the CLI.

import { existsSync } from 'node:fs';

const isClone = ['../src', '../scripts/ensure.mjs'].every((path) =>
  existsSync(new URL(path, import.meta.url)),
);
if (isClone) {
  const { ensure } = await import('../scripts/ensure.mjs');
  if (!(await ensure())) process.exit(1);
}
await import('../dist/cli/main.js');
