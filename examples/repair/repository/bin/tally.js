#!/usr/bin/env node
import { main } from '../src/cli/main.js';

process.exitCode = main(process.argv.slice(2), {
  write: (text) => process.stdout.write(`${text}\n`),
  complain: (text) => process.stderr.write(`tally: ${text}\n`),
});
