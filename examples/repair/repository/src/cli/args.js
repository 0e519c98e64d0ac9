import { parseArgs } from 'node:util';
import { isMonth } from '../dates/period.js';

export class UsageError extends Error {}

const OPTIONS = {
  month: { type: 'string' },
  currency: { type: 'string', multiple: true },
  help: { type: 'boolean', default: false },
};

/** `report ledger.csv --month 2026-03` as `{ command, file, values }`. */
export function parseArguments(args) {
  const { values, positionals } = parse(args);
  const [command = 'help', file, ...more] = positionals;
  if (values.help || command === 'help') return { command: 'help', values };
  if (command !== 'report' && command !== 'categories')
    throw new UsageError(`there is no command "${command}"`);
  if (file === undefined || more.length > 0) throw new UsageError(`${command} wants one file`);
  if (command === 'report' && !isMonth(values.month))
    throw new UsageError('--month is a month such as 2026-03');
  return { command, file, values };
}

function parse(args) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error.message);
  }
}
