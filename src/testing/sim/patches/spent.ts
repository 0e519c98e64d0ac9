/** Planted bugs of budgets: what is spent, and what rests. */

import type { Patch } from '../patches.ts';

const SCENARIO = 'a budget that ends, and is raised';

export const SPENT_PATCHES: readonly Patch[] = [
  {
    // It has been paid; what is paid is not held any more.
    name: 'released: a settlement gives back what was held, and the owner has spent nothing',
    first: { scenario: SCENARIO, mode: 'crash', near: 'store.settle' },
    edits: [
      { file: 'store/ledger.js', find: 'spent: plus(owner.spent, actual)', replace: 'spent: owner.spent' },
    ],
  },
  {
    // Whoever has to raise it is asked for ever, and each time it is written down.
    name: 'restless: a turn that rests on a budget asks again at once',
    first: { scenario: SCENARIO, mode: 'crash' },
    edits: [
      {
        file: 'core/next.js',
        find: 'if (s.budget.exhausted !== null)\n        return REST;\n    if (s.inbox',
        replace: 'if (s.inbox',
      },
    ],
  },
  {
    // A raise is for what comes next.
    name: 'too late: a budget that is raised is for the next turn',
    first: { scenario: SCENARIO, mode: 'crash', near: 'store.reserve' },
    edits: [
      {
        file: 'core/budget/evolve.js',
        find: 'limits: { turn: e.turn, session: e.session }, exhausted: null',
        replace: 'limits: { turn: e.turn, session: e.session }',
      },
    ],
  },
  {
    // Refused, then raised, and only then written down: it rests on what is no limit any more.
    name: 'stale: what was refused before a raise is written down after it',
    first: { scenario: 'a budget that ends, and is raised', seed: 19 },
    edits: [{ file: 'loop/record.js', find: 'current && s.budget === budget', replace: 'current' }],
  },
];
