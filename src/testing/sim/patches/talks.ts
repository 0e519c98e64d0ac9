/** Planted bugs of a conversation. */

import type { Patch } from '../patches.ts';

const TALK = 'a conversation, two tasks beside it, and one more instruction for one of them';

const KERNEL = 'a task of a conversation with a kernel that is to be given up';

export const TALK_PATCHES: readonly Patch[] = [
  {
    // It has what was told before the worker died, and takes it for new.
    name: 'announced twice: a result that is told again wakes the conversation again',
    first: { scenario: TALK, mode: 'crash' },
    edits: [
      {
        file: 'core/family/evolve.js',
        find: 'result !== null && result.seq > (last?.seq ?? 0)',
        replace: 'result !== null && result.seq >= (last?.seq ?? 0)',
      },
    ],
  },
  {
    name: 'talked over: what comes while the conversation speaks is gone when it has spoken',
    first: { scenario: TALK, mode: 'crash' },
    edits: [
      {
        file: 'core/turn.js',
        find: 'lastTurn: { number, end, text, at: e.at, step: stepNumber, partial: [] },',
        replace:
          "lastTurn: { number, end, text, at: e.at, step: stepNumber, partial: [] }, inbox: { ...s.inbox, unread: s.inbox.unread.filter((one) => one.from === 'person') },",
      },
    ],
  },
  {
    // It speaks of tasks as they stood long ago.
    name: 'stale: the conversation looks at its tasks once and never again',
    first: { scenario: TALK, mode: 'crash' },
    edits: [
      {
        file: 'core/conversation/next.js',
        find: 'return lookedAt?.turn !== turn || lookedAt.step !== step;',
        replace: 'return lookedAt === null;',
      },
    ],
  },
  {
    name: 'unheard: what a task is to lose is not told above',
    first: { scenario: KERNEL, mode: 'crash' },
    edits: [{ file: 'core/family/state.js', find: '...standingNotices(s).map(noticeKey),', replace: '' }],
  },
  {
    // Its conversation has said that it is to stay.
    name: 'deaf: a notice stands although somebody has spoken since',
    first: { scenario: KERNEL, mode: 'crash' },
    edits: [
      {
        file: 'core/kernel/evolve.js',
        find: 'notice?.since === activeAt ? notice : null',
        replace: 'notice',
      },
    ],
  },
  {
    name: 'lost in silence: what came to be with a late answer is given up by no name',
    first: { scenario: KERNEL, mode: 'outage' },
    edits: [{ file: 'loop/kernel/record.js', find: '...unheardOf(unsaved, s, epoch),', replace: '' }],
  },
];
