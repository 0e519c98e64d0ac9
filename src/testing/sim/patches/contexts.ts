/** Planted bugs of compaction: what leaves the model's view, and what stands in its place. */

import type { Patch } from '../patches.ts';

const SCENARIO = 'work that is longer than the view';
const SLICE = 'core/context/evolve.js';
const first = { scenario: SCENARIO, mode: 'crash' } as const;

export const CONTEXT_PATCHES: readonly Patch[] = [
  {
    // The lines come with the next event, surely.
    name: 'half swapped: the items leave, and what stands for them does not come',
    first,
    edits: [{ file: SLICE, find: 'past, compacting: null', replace: 'compacting: null' }],
  },
  {
    // One item more makes no difference to the size.
    name: 'one too many: an item leaves that was not summed up',
    first,
    edits: [
      {
        file: SLICE,
        find: 'after.transcript.slice(e.items)',
        replace: 'after.transcript.slice(e.items + 1)',
      },
    ],
  },
  {
    // It will be answered soon, so it is as good as answered.
    name: 'out of sight: an instruction that is not answered yet is shortened like one that is',
    first,
    edits: [{ file: SLICE, find: 'if (open.has(message.id))', replace: 'if (false)' }],
  },
  {
    // Whoever sums up has read what there was.
    name: 'on trust: a line that names what is not there is taken',
    first,
    edits: [{ file: 'loop/record.js', find: 'return wrong === null ?', replace: 'return true ?' }],
  },
  {
    // The worker that asked for it is gone, and its wish with it.
    name: 'begun twice: a compaction that was under way is forgotten with its worker, and begun again',
    first,
    edits: [
      {
        file: 'core/lifetime.js',
        find: 'epoch: e.epoch, acquiredAt: e.at, crashes }',
        replace: 'epoch: e.epoch, acquiredAt: e.at, crashes }, context: { ...s.context, compacting: null }',
      },
    ],
  },
  {
    // A fork begins with what it was given, and nothing of that is under way.
    name: 'inherited: a fork goes on with the compaction of its original',
    first: { scenario: SCENARIO, mode: 'fork' },
    edits: [
      {
        file: 'core/fork/evolve.js',
        find: 'context: { ...ended.context, compacting: null, calledAt: null }',
        replace: 'context: ended.context',
      },
    ],
  },
];
