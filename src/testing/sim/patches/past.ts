/** Planted bugs of recall: what a session reads of its past. */

import type { Patch } from '../patches.ts';

const RECALL = 'loop/recall/recall.js';
const RECALLED = { scenario: 'the past, recalled' };

export const PAST_PATCHES: readonly Patch[] = [
  {
    // What is sealed goes by the lineage, so why not this.
    name: 'the past of another: a fork recalls the log that it comes from',
    first: { scenario: 'effects side by side', mode: 'fork', near: 'store.commit' },
    edits: [
      {
        file: 'loop/perform.js',
        find: 'recallFor(by.session, s, by.ports.store)',
        replace: 'recallFor(s.fork?.from ?? by.session, s, by.ports.store)',
      },
    ],
  },
  {
    // As much as the view shows is surely enough.
    name: 'cut for good: what is recalled by its id is what the view has shown',
    first: RECALLED,
    edits: [
      {
        file: RECALL,
        find: 'const said = textOf(event);',
        replace: 'const said = textOf(event).slice(0, 9_600);',
      },
    ],
  },
  {
    // What is new will be indexed with what comes.
    name: 'behind the log: a search finds only what is indexed',
    first: RECALLED,
    edits: [{ file: RECALL, find: 'while (after < end) {', replace: 'while (after + LOOSE <= end) {' }],
  },
];
