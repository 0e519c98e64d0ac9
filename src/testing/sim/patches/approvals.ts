/** Planted bugs of policy and approvals: what is sent without a person's yes, and what a person's word does. */

import type { Patch } from '../patches.ts';

const NEXT = 'core/next.js';
const DECISION = 'core/decision.js';
const THREE = 'three approvals, the last one first';
const LATE = 'nobody approves in time';

export const APPROVAL_PATCHES: readonly Patch[] = [
  {
    // Of two that wait, the wrong one is paid.
    name: 'by position: an approval is applied to the first effect that waits',
    first: { scenario: THREE },
    edits: [
      {
        file: DECISION,
        find: 'return approved(s, effect);',
        replace: "return approved(s, s.effects.open.find(({ gate }) => gate === 'asks')?.id ?? effect);",
      },
    ],
  },
  {
    // The question is there, and what it asks about has been sent.
    name: 'sent meanwhile: an effect does not wait for its approval',
    first: { scenario: THREE },
    edits: [{ file: 'core/held.js', find: 'mayPass(effect) &&', replace: '' }],
  },
  {
    // A person said no, and it is done.
    name: 'any word will do: what is rejected is sent',
    first: { scenario: THREE },
    edits: [{ file: DECISION, find: "if (e.answer === 'approve')", replace: 'if (true)' }],
  },
  {
    // Whoever asked for it waits for ever, and the session with it.
    name: 'never over: a question whose time is over stays open',
    first: { scenario: LATE },
    edits: [{ file: NEXT, find: 'return expiresAt <= now', replace: 'return false' }],
  },
  {
    // Nobody has looked at the session since; the hour has passed all the same.
    name: 'late yes: a decision is taken after its time, because nobody has noticed the hour',
    first: { scenario: LATE, mode: 'decide' },
    edits: [{ file: 'core/decide.js', find: '(decision.expired || now >= expiresAt)', replace: 'false' }],
  },
  {
    // It expired, and the next worker sends it.
    name: 'expired is approved: nobody objected',
    first: { scenario: LATE },
    edits: [
      {
        file: DECISION,
        find: "return turnedDown(over, effect, { code: 'approval.expired', message }, e);",
        replace: 'return approved(over, effect);',
      },
    ],
  },
  {
    // A person says yes to what is gone, and nothing follows from it.
    name: 'asked in vain: what is withdrawn leaves its question open',
    first: { scenario: THREE, mode: 'interrupt' },
    edits: [
      {
        file: 'core/effect.js',
        find: 'return mootDecisions(answer(move(s, withdrawn), withdrawn, e), open.id);',
        replace: 'return answer(move(s, withdrawn), withdrawn, e);',
      },
    ],
  },
  {
    // The yes stands in the log; the one who took it up is dead.
    name: 'forgotten yes: a takeover closes what a person has approved',
    first: { scenario: THREE },
    edits: [
      {
        file: 'core/lifetime.js',
        find: 'heap: { ...s.heap, opened: null },\n    };\n    return workerLost',
        replace:
          "heap: { ...s.heap, opened: null },\n        effects: { ...s.effects, open: s.effects.open.map((one) => (one.gate === 'approved' ? { ...one, gate: 'asks' } : one)) },\n    };\n    return workerLost",
      },
    ],
  },
  {
    // Whoever looks only at the session's row never learns that somebody is waited for.
    name: 'no alarm: nobody looks when the time of a question is over',
    first: { scenario: LATE },
    edits: [{ file: NEXT, find: ': wake(expiresAt);', replace: ': REST;' }],
  },
  {
    // Asked, approved, and the denied call beside it goes out as well.
    name: 'gates open: what a rule asks about is treated as allowed',
    first: { scenario: THREE },
    edits: [{ file: 'core/effect.js', find: "ask: 'asks'", replace: "ask: 'open'" }],
  },
];
