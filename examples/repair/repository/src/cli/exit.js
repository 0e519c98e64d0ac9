/** What the README says about exit codes, in one place. */
export const EXIT = {
  ok: 0,
  empty: 1,
  usage: 1,
  unreadable: 3,
};
