/** Planted bugs of the work itself: the inbox, turns, heaps and timers. */

import type { Patch } from '../patches.ts';

const NEXT = 'core/next.js';
const HEAP = 'core/heap/evolve.js';
const INBOX = 'core/inbox.js';
const LIFETIME = 'core/lifetime.js';
const RECORD = 'loop/record.js';
const HEAPS = 'loop/heap/heaps.js';

export const WORK_PATCHES: readonly Patch[] = [
  // ── the inbox ───────────────────────────────────────────────────────────────────────────────────────────
  {
    // Only what was read is read; the rest came in since.
    name: 'swept: reading takes everything away that waits',
    first: { scenario: 'effects side by side', mode: 'send', near: 'store.commit' },
    edits: [
      {
        file: INBOX,
        find: 's.inbox.unread.filter((message) => !e.messages.includes(message.id))',
        replace: '[]',
      },
    ],
  },
  {
    // A person corrects what they said before, and it is read the other way round.
    name: 'newest first: messages are read in the wrong order',
    first: { scenario: 'effects side by side', mode: 'send', near: 'store.acquire' },
    edits: [
      {
        file: INBOX,
        find: 'unread: [...s.inbox.unread, message],\n            receipts',
        replace: 'unread: [message, ...s.inbox.unread],\n            receipts',
      },
    ],
  },
  {
    // A receipt was given for it.
    name: 'lost with the answer: a message that comes in during the last reply goes with the turn',
    first: { scenario: 'effects side by side', mode: 'send', near: 'store.commit' },
    edits: [
      {
        file: 'core/turn.js',
        find: "closeTurn(progressed(s), 'surfaced', e.text, e)",
        replace: "closeTurn(progressed({ ...s, inbox: { ...s.inbox, unread: [] } }), 'surfaced', e.text, e)",
      },
    ],
  },
  {
    // The holder folds what others have written, and skips what is none of its business.
    name: 'read again: each holder reads the last message once more',
    first: { scenario: 'effects side by side', mode: 'crash', near: 'store.commit' },
    edits: [
      {
        file: LIFETIME,
        find: 'heap: { ...s.heap, opened: null },\n    };\n    return workerLost',
        replace:
          "heap: { ...s.heap, opened: null },\n        inbox: s.turn ? { ...s.inbox, unread: [...s.transcript.filter((item) => item.kind === 'message').slice(-1).map((item) => item.message), ...s.inbox.unread] } : s.inbox,\n    };\n    return workerLost",
      },
    ],
  },

  // ── turns ───────────────────────────────────────────────────────────────────────────────────────────────
  {
    // The reply is to a request without the message, and the person was told otherwise.
    name: 'not now: a message that should join at once does not end the generation',
    first: { scenario: 'effects side by side', mode: 'urge' },
    edits: [
      {
        file: NEXT,
        find: "if (s.inbox.unread.some((message) => message.when === 'now')) {",
        replace: 'if (false) {',
      },
    ],
  },
  {
    // Two replies under one number: a late one is taken for the one that is awaited.
    name: 'same step: a generation that starts again keeps its number',
    first: { scenario: 'effects side by side', mode: 'urge' },
    edits: [
      {
        file: NEXT,
        find: "message.when === 'now')) {\n        return startStep(s, number, step.number + 1,",
        replace: "message.when === 'now')) {\n        return startStep(s, number, step.number,",
      },
    ],
  },
  {
    // A clock that was set back would put events before those that they follow.
    name: 'time as it comes: an event is dated before the one that it follows',
    first: { scenario: 'effects side by side', mode: 'back', near: 'store.acquire' },
    edits: [{ file: 'core/evolve.js', find: 'const at = Math.max(now, s.at);', replace: 'const at = now;' }],
  },

  // ── heaps ───────────────────────────────────────────────────────────────────────────────────────────────
  {
    // What another cell booked meanwhile stands outside; back before that, its code would book again.
    name: 'taken back: an aborted cell takes back what other code did meanwhile',
    first: { scenario: 'two cells in one heap', mode: 'interrupt' },
    edits: [
      {
        file: HEAP,
        find: '(cell.isMixed ? cell : { ...cell, isMixed: true })',
        replace: 'cell',
      },
    ],
  },
  {
    // It runs away each time, for ever, and nothing else of the session is done any more.
    name: 'let in again: an answer on which code in the background ran away',
    first: { scenario: 'code in the background that runs away', mode: 'crash' },
    edits: [{ file: HEAP, find: 'guestCall !== first', replace: 'true' }],
  },
  {
    // The disk gave out another image than the one that was written, and it is taken for the heap.
    name: 'any image will do: the digest is not looked at when a heap wakes',
    first: { scenario: 'an image in place of another' },
    edits: [
      {
        file: 'sandbox/quickjs/heap.js',
        find: 'if (heapDigest({ engine, book }) !== chain.digest)',
        replace: 'if (false)',
      },
    ],
  },
  {
    // The model is told that the heap is as it was before, and code goes on from the middle.
    name: 'half done: an aborted cell keeps what it did to the heap',
    first: { scenario: 'a cell that is taken back' },
    edits: [{ file: HEAP, find: 'chain: before.chain, live: before.live, pending', replace: 'pending' }],
  },
  {
    // Everything up to the last move is there, and the guest waits for what it was given long ago.
    name: 'last but one: a heap is brought back without its newest image',
    first: { scenario: 'a cell over several awaits', mode: 'crash', near: 'store.commit' },
    edits: [
      {
        file: HEAPS,
        find: 'const images = [chain.base, ...chain.deltas];',
        replace: 'const images = [chain.base, ...chain.deltas.slice(0, -1)];',
      },
      {
        file: 'sandbox/quickjs/heap.js',
        find: 'if (heapDigest({ engine, book }) !== chain.digest)',
        replace: 'if (false)',
      },
    ],
  },
  {
    // What the guest had is gone, and it is told that all is there.
    name: 'empty and exact: a new heap is made in place of the one that was kept',
    first: { scenario: 'stop and reopen' },
    edits: [
      {
        file: HEAPS,
        find: 'await this.ports.sandbox.restore(await this.load(session, s, chain), optionsOf(s));',
        replace: 'await this.ports.sandbox.create(optionsOf(s));',
      },
    ],
  },
  {
    // A second delivery of the same answer moves the heap away from what the log says of it.
    name: 'moved twice: a move of the heap is written whether or not it stands already',
    first: { scenario: 'two cells in one heap', seed: 4 },
    edits: [{ file: RECORD, find: 'if (!awaited || s.heap.opened !== by.epoch)', replace: 'if (false)' }],
  },
  {
    // Parked means that its memory is given up, not what was in it.
    name: 'parked is gone: a session that was parked wakes with a new heap',
    first: { scenario: 'parked and woken' },
    edits: [{ file: HEAPS, find: 'if (!chain) {', replace: 'if (!chain || s.heap.parked) {' }],
  },
  {
    // The call that started it got its answer when it was suspended; the end has no other way to the model.
    name: 'silent end: a cell that was suspended ends and nobody is told',
    first: { scenario: 'a cell that waits for a person' },
    edits: [
      {
        file: HEAP,
        find: 'return reportToSelf(ended, id,',
        replace: 'return ended;\n    reportToSelf(ended, id,',
      },
    ],
  },

  // ── timers ──────────────────────────────────────────────────────────────────────────────────────────────
  {
    // A sleep lasts longer than a machine.
    name: 'timers of the holder: a takeover forgets what sleeps',
    first: { scenario: 'a question, then a nap', mode: 'crash', near: 'store.release' },
    edits: [
      {
        file: LIFETIME,
        find: 'heap: { ...s.heap, opened: null },\n    };\n    return workerLost',
        replace: 'heap: { ...s.heap, opened: null },\n        timers: [],\n    };\n    return workerLost',
      },
    ],
  },
  {
    // Fired before the crash, not yet heard by the guest: it is set again.
    name: 'fired again: a takeover sets timers that have fired',
    first: { scenario: 'a cell over several awaits', mode: 'crash', near: 'store.commit' },
    edits: [
      {
        file: LIFETIME,
        find: 'heap: { ...s.heap, opened: null },\n    };\n    return workerLost',
        replace:
          "heap: { ...s.heap, opened: null, pending: s.heap.pending.map((call) => (call.on === 'timer' ? { ...call, answer: null } : call)) },\n    };\n    return workerLost",
      },
    ],
  },
  {
    // Nobody looks at the session when its time has come.
    name: 'no alarm: a sleeping session is not due when its timer is',
    first: { scenario: 'a question, then a nap' },
    edits: [
      {
        file: NEXT,
        find: ': wake(due)));',
        replace: ': REST));',
      },
    ],
  },
];
