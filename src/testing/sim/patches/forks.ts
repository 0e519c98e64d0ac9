/** Planted bugs of forks: what a copy of a session takes along that is not its own. */

import type { Patch } from '../patches.ts';

const FORK = 'core/fork/evolve.js';
const WAITING = 'a fork, while code waits for a person';

export const FORK_PATCHES: readonly Patch[] = [
  {
    // The original has sent it, and so does the copy.
    name: 'sent from both: a fork goes on with the effects that were open',
    first: { scenario: 'effects side by side', mode: 'fork', near: 'pay.run' },
    edits: [
      {
        file: FORK,
        find: 'withoutWaiting(leaveOpen(leaveChildren(s), e), e)',
        replace: 'withoutWaiting(leaveChildren(s), e)',
      },
    ],
  },
  {
    // A keyed service takes the payment of the fork for a repeat of another one of the original.
    name: 'one name for two: effects of a fork bear the name of its original',
    first: { scenario: WAITING },
    edits: [
      {
        file: 'loop/perform.js',
        find: 'async function runEffect(s, call, by, halt) {',
        replace:
          'async function runEffect(s, call, by, halt) {\n    by = { ...by, session: s.fork?.lineage ?? by.session };',
      },
    ],
  },
  {
    // A person is asked in two places about one thing, and what they say here reaches nobody.
    name: 'asked twice: questions of the original stay open in a fork',
    first: { scenario: WAITING },
    edits: [
      {
        file: FORK,
        find: 'withdrawQuestions(withoutWaiting(leaveOpen(leaveChildren(s), e), e), () => true)',
        replace: 'withoutWaiting(leaveOpen(leaveChildren(s), e), e)',
      },
    ],
  },
  {
    // What the original sleeps for happens in the fork as well.
    name: 'two alarms: timers of code go on in a fork',
    first: { scenario: 'a cell over several awaits', mode: 'fork', near: 'store.commit' },
    edits: [
      {
        file: FORK,
        find: "if (call.on === 'note' || call.answer)",
        replace: "if (call.on === 'note' || call.on === 'timer' || call.answer)",
      },
    ],
  },
  {
    // The original reads it, too, and the work is done twice.
    name: 'read by both: a message that was not read goes along into a fork',
    first: { scenario: 'effects side by side', mode: 'fork', near: 'store.commit' },
    edits: [
      {
        file: FORK,
        find: 'inbox: { unread: [], receipts: {} }',
        replace: 'inbox: { unread: s.inbox.unread, receipts: {} }',
      },
    ],
  },
  {
    // A fork in the middle of a turn starts to work by itself, on what the original works on.
    name: 'goes on by itself: a turn that was open goes on in a fork',
    first: { scenario: 'effects side by side', mode: 'fork', near: 'model.generate' },
    edits: [
      {
        file: FORK,
        find: "closeTurn({ ...waits, timers: [] }, 'interrupted', 'left with the original', e)",
        replace: '({ ...waits, timers: [] })',
      },
    ],
  },
  {
    // It catches the refusal and books what the original books as well.
    name: 'old code, new hands: code of the original acts in a fork',
    first: { scenario: WAITING },
    edits: [
      {
        file: FORK,
        find: 'if (s.fork === null || Number(cell.slice(1)) > s.fork.cells)',
        replace: 'if (true)',
      },
    ],
  },
  {
    // Images are in the store of another session; the heap has to be made anew.
    name: 'without its blobs: a fork names images that it does not have',
    first: { scenario: 'stop and reopen', mode: 'fork', near: 'store.commit' },
    edits: [
      {
        file: 'loop/fork.js',
        find: 'blobs: await copied(state, origin.session, ports.store)',
        replace: 'blobs: []',
      },
    ],
  },
  {
    // Its own leases begin at 1, and all of them are taken for old ones.
    name: 'the old epoch: a fork is fenced by the leases of its original',
    first: { scenario: 'effects side by side', mode: 'fork' },
    edits: [
      {
        file: FORK,
        find: '{ ...NEW_LIFETIME, acquiredAt: e.at }',
        replace: '{ ...NEW_LIFETIME, acquiredAt: e.at, epoch: s.lifetime.epoch }',
      },
    ],
  },
];
