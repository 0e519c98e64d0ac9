/** Planted bugs of the ledger: marks, settlements, what is done about the unknown, and what a person decides. */

import type { Patch } from '../patches.ts';

const NEXT = 'core/next.js';
const RESOLVE = 'core/resolve.js';
const DECIDE = 'core/decide.js';
const EFFECT = 'core/effect.js';
const RECORD = 'loop/record.js';

export const EFFECT_PATCHES: readonly Patch[] = [
  // ── the dispatch mark ───────────────────────────────────────────────────────────────────────────────────
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
        find: "s.lifetime.status === 'open' ? send(s, effect, now) : REST;",
        replace: "s.lifetime.status === 'open' ? callOf(effect) : REST;",
      },
    ],
  },
  {
    // A frozen machine wakes up long after its lease and does what its successor has done already.
    name: 'late sender: a mark is acted on although the lease has ended since',
    first: { scenario: 'a blind effect', mode: 'freeze', near: 'store.commit' },
    edits: [
      {
        file: 'loop/perform.js',
        find: 'if (by.ports.clock.monotonic() >= by.leaseEnds())',
        replace: 'if (false)',
      },
    ],
  },
  {
    // Services that know the newest epoch of a session refuse older ones; they must be told the true one.
    name: 'same epoch for all: services are told nothing by which to refuse a frozen holder',
    first: { scenario: 'effects side by side', mode: 'freeze', near: 'mail.run' },
    edits: [{ file: 'loop/perform.js', find: 'epoch: by.epoch,', replace: 'epoch: 1,' }],
  },

  // ── settlements ─────────────────────────────────────────────────────────────────────────────────────────
  {
    // A commit that stood although its answer was lost is made again, and with it the fact.
    name: 'recorded twice: a settlement is written whether or not it stands already',
    first: { scenario: 'effects side by side', seed: 27 },
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
        file: 'loop/perform.js',
        find: 'const reason = limit.aborted ?',
        replace:
          "if (limit.aborted)\n                return { status: 'failed', code: 'timeout', message: 'no answer in time' };\n            const reason = limit.aborted ?",
      },
    ],
  },

  // ── the resolver ────────────────────────────────────────────────────────────────────────────────────────
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
    edits: [
      { file: RESOLVE, find: 'return now < kept &&', replace: 'return' },
      // The last look would still hold it back.
      {
        file: 'loop/perform.js',
        find: 'attempt > 1 && by.ports.clock.now() >= keyEnds(effect)',
        replace: 'false',
      },
    ],
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
    edits: [{ file: RECORD, find: 'if (undone === 0)', replace: 'if (undone >= 0)' }],
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

  {
    // "It never left", says the first machine, and what the second has sent is taken for unsent.
    name: 'which one: an answer to an old sending is believed to be that of the next',
    first: { scenario: 'a blind effect, and its answer gets lost', mode: 'overtake' },
    edits: [
      {
        file: EFFECT,
        find: 'if (isOpen && attempt === effect.attempts)',
        replace: 'if (isOpen)',
      },
      {
        file: EFFECT,
        find: 'if (isOpen && e.attempt === effect.attempts)',
        replace: 'if (isOpen)',
      },
    ],
  },

  // ── decisions ───────────────────────────────────────────────────────────────────────────────────────────
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
  {
    // Two people have to look for the same payment: it is done once, lost never, and their time is gone.
    name: 'second opinion: what a person has said of a forgotten key is asked once more',
    first: { scenario: 'effects side by side', mode: 'down', near: 'pay.run' },
    edits: [
      {
        file: RESOLVE,
        find: 'if (decision?.made)',
        replace:
          "if (decision?.made && (effect.capability.kind !== 'keyed' || state.decisions.filter((d) => d.effect === effect.id && d.attempt === effect.attempts).length > 1))",
      },
      {
        file: RESOLVE,
        find: 'if (decision && !decision.moot)',
        replace: 'if (decision && !decision.moot && !decision.made)',
      },
    ],
  },
];
