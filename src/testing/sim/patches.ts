/**
 * Planted bugs in the text of the program, as it is built: what a slip of the hand, or a shortcut that seemed to do,
 * would make of one rule of the protocol. `main.ts` plants one before the program is loaded; nothing of it is in the
 * product. Each says why it would hurt, and `first` where it shows first.
 *
 * `find` stands once in its file under `dist/` (J1); when a line has moved on, its patch has to follow.
 */

import type { Where } from './hunt.ts';
import type { Edit } from './patch-hook.ts';

export interface Patch {
  readonly name: string;
  readonly first?: Where;
  readonly edits: readonly Edit[];
}

const NEXT = 'core/next.js';
const RESOLVE = 'core/resolve.js';
const DECIDE = 'core/decide.js';
const EFFECT = 'core/slices/effect.js';
const HEAP = 'core/slices/heap.js';
const INBOX = 'core/slices/inbox.js';
const LIFETIME = 'core/slices/lifetime.js';
const ACTOR = 'runtime/actor.js';
const RECORD = 'runtime/record.js';
const LOG = 'runtime/log.js';
const HEAPS = 'runtime/heaps.js';

export const PATCHES: readonly Patch[] = [
  // ── the dispatch mark ────────────────────────────────────────────────────────────────────────────────────
  {
    // The next holder sees "sent" and does not know that nobody alive waits for the answer: it sends again.
    name: 'old mark: a dispatch of a dead holder counts as in flight',
    first: { scenario: 'a blind effect', mode: 'crash', near: 'post.run' },
    edits: [
      {
        file: 'core/state.js',
        find: '(effect.dispatch?.epoch ?? 0) < epoch',
        replace: 'false',
      },
    ],
  },
  {
    // The doubt about the first sending is what the mark of the second would have kept.
    name: 'unmarked repeat: what is sent again leaves without a mark of its own',
    first: { scenario: 'an extra that can be undone' },
    edits: [
      {
        file: NEXT,
        find: "s.lifetime.status === 'paused' ? REST : choose(dispatch(s, effect));",
        replace: "s.lifetime.status === 'paused' ? REST : callOf(effect);",
      },
    ],
  },
  {
    // A frozen machine wakes up long after its lease and does what its successor has done already.
    name: 'late sender: a mark is acted on although the lease has ended since',
    first: { scenario: 'a blind effect', mode: 'freeze', near: 'store.commit' },
    edits: [
      {
        file: 'runtime/perform.js',
        find: 'if (by.ports.clock.monotonic() >= by.leaseEnds())',
        replace: 'if (false)',
      },
    ],
  },
  {
    // Services that know the newest epoch of a session refuse older ones; they must be told the true one.
    name: 'same epoch for all: services are told nothing by which to refuse a frozen holder',
    first: { scenario: 'effects side by side', mode: 'freeze', near: 'mail.run' },
    edits: [{ file: 'runtime/perform.js', find: 'epoch: by.epoch,', replace: 'epoch: 1,' }],
  },

  // ── settlements ──────────────────────────────────────────────────────────────────────────────────────────
  {
    // A commit that stood although its answer was lost is made again, and with it the fact.
    name: 'recorded twice: a settlement is written whether or not it stands already',
    first: { seed: 79 },
    edits: [
      {
        file: RECORD,
        find: 'const waits = open && open.attempts === attempt &&',
        replace:
          'if (!open)\n        return { events: [{ kind: "effect.settled", effect, attempt, outcome }] };\n    const waits = open.attempts === attempt &&',
      },
    ],
  },
  {
    // The service has done it; the model is told that it failed, and does it by other means.
    name: 'late is failed: no answer in time is reported as a failure',
    first: { scenario: 'answers that get lost' },
    edits: [
      {
        file: 'runtime/perform.js',
        find: 'const reason = limit.aborted ?',
        replace:
          "if (limit.aborted)\n                return { status: 'failed', code: 'timeout', message: 'no answer in time' };\n            const reason = limit.aborted ?",
      },
    ],
  },

  // ── the resolver ─────────────────────────────────────────────────────────────────────────────────────────
  {
    // What is still on its way arrives after it was found absent and sent again.
    name: 'asked too early: a queryable write is looked for while it may still arrive',
    first: { scenario: 'slow services', mode: 'crash', near: 'look.run' },
    edits: [
      {
        file: RESOLVE,
        find: 'const since = effect.unknownSince ??',
        replace: 'const since = Number.NEGATIVE_INFINITY ??',
      },
    ],
  },
  {
    // The old holder may have sent until its lease ended, long after its mark.
    name: 'from the mark: the time to wait is counted from the dispatch, not from the takeover',
    first: { scenario: 'slow services', mode: 'crash', near: 'look.run' },
    edits: [
      {
        file: RESOLVE,
        find: 'const since = effect.unknownSince ?? state.lifetime.acquiredAt;',
        replace: 'const since = effect.unknownSince ?? effect.dispatch.at;',
      },
    ],
  },
  {
    // A service forgets its keys after a time, and then a repeat is a second payment.
    name: 'keys for ever: a keyed write is repeated after the service has forgotten its key',
    first: { scenario: 'effects side by side', mode: 'down', near: 'pay.run' },
    edits: [{ file: RESOLVE, find: 'return now < kept &&', replace: 'return' }],
  },
  {
    // The answer to the second sending says nothing about the first.
    name: 'closed by its answer: a write that was sent twice is closed before anybody looks for the extra',
    first: { scenario: 'an extra that can be undone' },
    edits: [
      {
        file: EFFECT,
        find: 'id === e.effect && doubtSince !== null)',
        replace: 'false)',
      },
    ],
  },
  {
    // The first sending arrives after the look, and stands beside the second for good.
    name: 'looked too early: extras are looked for while one may still arrive',
    first: { scenario: 'slow services', mode: 'crash', near: 'look.run' },
    edits: [
      {
        file: RESOLVE,
        find: 'const since = effect.answer ? effect.doubtSince : (effect.unknownSince ?? state.lifetime.acquiredAt);',
        replace: 'const since = Number.NEGATIVE_INFINITY;',
      },
    ],
  },
  {
    // Two seats stood there for a while; somebody may have seen the second.
    name: 'kept quiet: nobody is told of the extra that stood for a while',
    first: { scenario: 'an extra that can be undone' },
    edits: [{ file: RECORD, find: ': undone === 0', replace: ': undone >= 0' }],
  },
  {
    // Nothing helps against a second letter.
    name: 'blind resent: what only a person can say is tried again',
    first: { scenario: 'a blind effect', mode: 'crash', near: 'post.run' },
    edits: [
      {
        file: RESOLVE,
        find: "case 'blind':\n            return { do: 'ask' };",
        replace: "case 'blind':\n            return { do: 'redispatch' };",
      },
    ],
  },
  {
    // It never arrived, and the model reads that it failed although nobody refused it.
    name: 'absent is the end: what never arrived is not sent again',
    first: { scenario: 'effects side by side', mode: 'crash', near: 'store.commit' },
    edits: [
      {
        file: EFFECT,
        find: "case 'absent':\n            return",
        replace:
          "case 'absent':\n            return close(s, e.effect, { status: 'failed', code: 'absent', message: 'It never arrived.' }, evidence, e);\n            return",
      },
    ],
  },
  {
    // The question is closed and nothing follows from it.
    name: 'deaf: what the person says is not acted on',
    first: { scenario: 'a blind effect', mode: 'crash', near: 'post.run' },
    edits: [{ file: RESOLVE, find: 'if (decision?.made)', replace: 'if (false)' }],
  },
  {
    // "It did not happen, send it now" is what they chose.
    name: 'not-done is believed, and nothing is sent',
    first: { scenario: 'a blind effect', mode: 'crash', near: 'store.commit' },
    edits: [
      {
        file: RESOLVE,
        find: "return conclude(effect, { status: 'absent' }, 'person', said);",
        replace:
          "return conclude(effect, { status: 'failed', code: 'absent', message: 'It did not happen' }, 'person', said);",
      },
    ],
  },

  // ── leases and fencing ───────────────────────────────────────────────────────────────────────────────────
  {
    // Two holders under one number: nothing tells their marks, their answers and their commits apart.
    name: 'same epoch: a lease that is taken over does not grow its epoch',
    first: { scenario: 'a blind effect', mode: 'crash', near: 'post.run' },
    edits: [
      { file: 'store/memory.js', find: 'kept.epoch += 1;', replace: 'kept.epoch = Math.max(1, kept.epoch);' },
    ],
  },
  {
    // It is no holder any more, and it goes on writing as if it were.
    name: 'fenced and going on: a holder that is refused writes under the epoch of the new one',
    first: { scenario: 'nobody to ask', mode: 'contend', near: 'store.commit' },
    edits: [
      {
        file: LOG,
        find: "throw leaseLost(result.status === 'fenced' ? result.epoch : 0);",
        replace: 'commit = { ...commit, epoch: result.epoch };\n                continue;',
      },
      { file: ACTOR, find: 'if (log.state.lifetime.epoch !== this.performer.epoch)', replace: 'if (false)' },
    ],
  },
  {
    // The answer was there, and a person is asked all the same.
    name: 'thrown away: what a holder without its lease knows is not handed in',
    first: { scenario: 'nobody to ask', mode: 'contend' },
    edits: [
      {
        file: ACTOR,
        find: 'await handIn(this.log.session, performed, this.performer.epoch, this.ports);',
        replace: '',
      },
      { file: ACTOR, find: 'if (this.fenced && performed)', replace: 'if (false)' },
    ],
  },
  {
    // An answer that comes with the next drive of this process needs nobody to ask.
    name: 'leftovers: answers that came in while the store was down are forgotten',
    first: { scenario: 'a blind effect', mode: 'outage' },
    edits: [
      { file: 'runtime/leftovers.js', find: 'if (leftover.results.length === 0)', replace: 'if (true)' },
    ],
  },

  // ── heads ────────────────────────────────────────────────────────────────────────────────────────────────
  {
    // The choices were right for a log that has grown since: by a stop, an interruption, a message.
    name: 'stale choices: what was decided on an old head is written at the new one',
    first: { scenario: 'effects side by side', mode: 'stop', near: 'store.commit' },
    edits: [
      {
        file: LOG,
        find: 'const { events, state } = saturate(this.folded, bodies, now, choosing ? this.planner : null);',
        replace:
          'const again = this.decided?.facts === facts ? this.decided.choices : null;\n            const { events, state } = saturate(this.folded, again ?? bodies, now, choosing && !again ? this.planner : null);\n            this.decided = { facts, choices: events };',
      },
    ],
  },
  {
    // Asked once, written later: by then another has given the same answer, or stopped the session.
    name: 'stale input: what a person wants is not decided again when the log has grown',
    first: { scenario: 'a question, then a nap', mode: 'decide', near: 'store.commit' },
    edits: [
      {
        file: 'runtime/input.js',
        find: 'const bodies = decide(log.state);',
        replace: 'const bodies = (log.decided ??= decide(log.state));',
      },
    ],
  },
  {
    // The stop stands in the log, and the turn goes on after it.
    name: 'half a stop: it ends the session and not the turn',
    first: { scenario: 'effects side by side', mode: 'stop', near: 'store.commit' },
    edits: [
      {
        file: LIFETIME,
        find: "const ended = s.turn ? closeTurn(s, 'interrupted', 'stopped', e) : s;",
        replace: 'const ended = s;',
      },
    ],
  },
  {
    // The model takes back up what a person has just ended.
    name: 'late reply: what the model says to a step that is over is recorded',
    first: { scenario: 'effects side by side', mode: 'urge' },
    edits: [{ file: RECORD, find: 'if (!current)', replace: 'if (false)' }],
  },
  {
    // Held means that nothing new begins.
    name: 'no pause: a session that is held works on',
    first: { scenario: 'effects side by side', mode: 'pause', near: 'store.acquire' },
    edits: [{ file: NEXT, find: "if (s.lifetime.status === 'paused')", replace: 'if (false)' }],
  },

  // ── the inbox ────────────────────────────────────────────────────────────────────────────────────────────
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
        file: 'core/slices/turn.js',
        find: "return closeTurn(progressed(s), 'surfaced', e.text, e);",
        replace:
          "return closeTurn(progressed({ ...s, inbox: { ...s.inbox, unread: [] } }), 'surfaced', e.text, e);",
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
        find: 'heap: { ...s.heap, opened: null },\n    };\n}\n/** Called',
        replace:
          "heap: { ...s.heap, opened: null },\n        inbox: s.turn ? { ...s.inbox, unread: [...s.transcript.filter((item) => item.kind === 'message').slice(-1).map((item) => item.message), ...s.inbox.unread] } : s.inbox,\n    };\n}\n/** Called",
      },
    ],
  },

  // ── turns ────────────────────────────────────────────────────────────────────────────────────────────────
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
    edits: [
      { file: 'runtime/saturate.js', find: 'const at = Math.max(now, s.at);', replace: 'const at = now;' },
    ],
  },

  // ── heaps ────────────────────────────────────────────────────────────────────────────────────────────────
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
        find: 'await this.ports.sandbox.restore(await this.load(session, chain), optionsOf(s));',
        replace: 'await this.ports.sandbox.create(optionsOf(s));',
      },
    ],
  },
  {
    // A second delivery of the same answer moves the heap away from what the log says of it.
    name: 'moved twice: a move of the heap is written whether or not it stands already',
    first: { seed: 4 },
    edits: [{ file: RECORD, find: 'if (!awaited || s.heap.opened !== by.epoch)', replace: 'if (false)' }],
  },
  {
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

  // ── timers ───────────────────────────────────────────────────────────────────────────────────────────────
  {
    name: 'timers of the holder: a takeover forgets what sleeps',
    first: { scenario: 'a question, then a nap', mode: 'crash', near: 'store.release' },
    edits: [
      {
        file: LIFETIME,
        find: 'heap: { ...s.heap, opened: null },\n    };\n}\n/** Called',
        replace: 'heap: { ...s.heap, opened: null },\n        timers: [],\n    };\n}\n/** Called',
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
        find: 'heap: { ...s.heap, opened: null },\n    };\n}\n/** Called',
        replace:
          "heap: { ...s.heap, opened: null, pending: s.heap.pending.map((call) => (call.on === 'timer' ? { ...call, answer: null } : call)) },\n    };\n}\n/** Called",
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
        find: ': { ...REST, wakeAt: due }));',
        replace: ': REST));',
      },
    ],
  },

  // ── decisions ────────────────────────────────────────────────────────────────────────────────────────────
  {
    // Two people answer: what was done on the word of the first is overturned.
    name: 'last word: a second answer takes the place of the first',
    first: { scenario: 'a question, then a nap', mode: 'decide', near: 'store.commit' },
    edits: [{ file: DECIDE, find: 'if (decision.made) {', replace: 'if (false) {' }],
  },
  {
    // Its own answer came in; the question is still there, and what a person says to it counts for nothing.
    name: 'still open: a question stays when evidence has settled its effect',
    first: { scenario: 'nobody to ask', mode: 'contend' },
    edits: [
      {
        file: EFFECT,
        find: 'return mootDecisions(answer(move(s, closed), closed, e), id);',
        replace: 'return answer(move(s, closed), closed, e);',
      },
    ],
  },

  // ── lifetime ─────────────────────────────────────────────────────────────────────────────────────────────
  {
    // It has left, and nobody will ever say what became of it.
    name: 'stopped and forgotten: a stop drops what is in flight from the ledger',
    first: { scenario: 'effects side by side', mode: 'stop', near: 'pay.run' },
    edits: [
      { file: NEXT, find: 'if (sent.calls.length > 0 && now < deadline)', replace: 'if (false)' },
      {
        file: LIFETIME,
        find: 'heap: { ...s.heap, opened: null, parked: true },\n    };\n}\nexport function reopened',
        replace:
          'heap: { ...s.heap, opened: null, parked: true },\n        effects: { ...s.effects, open: [] },\n    };\n}\nexport function reopened',
      },
    ],
  },
];
