import { ReportCache } from '../cache/store.js';
import { readConfig } from '../config/read.js';
import { readLedger } from '../ledger/read.js';
import { categoriesOf } from '../report/group.js';
import { makeReport } from '../report/report.js';
import { renderTable } from '../report/table.js';
import { parseArguments, UsageError } from './args.js';
import { EXIT } from './exit.js';
import { HELP } from './help.js';

/** Runs one command, and returns the exit code that the README promises. */
export function main(args, { write, complain }) {
  try {
    return run(parseArguments(args), write, complain);
  } catch (error) {
    complain(error.message);
    return error instanceof UsageError ? EXIT.usage : EXIT.unreadable;
  }
}

function run({ command, file, values }, write, complain) {
  if (command === 'help') {
    write(HELP);
    return EXIT.ok;
  }
  const config = readConfig();
  const entries = readLedger(file);
  if (command === 'categories') {
    write(categoriesOf(entries).join('\n'));
    return EXIT.ok;
  }
  const cache = new ReportCache();
  for (const currency of values.currency ?? [config.currency]) {
    const { rates } = config;
    const report = makeReport({ file, entries, month: values.month, currency, rates }, cache);
    if (report.count === 0) {
      complain(`there is nothing in ${values.month}`);
      return EXIT.empty;
    }
    write(renderTable(report));
  }
  return EXIT.ok;
}
