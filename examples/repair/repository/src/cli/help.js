export const HELP = `tally report FILE --month YYYY-MM [--currency CODE …]
tally categories FILE

  --month      the month to report on
  --currency   another currency than that of the ledger; several are reported one by one
  --help       this text`;
