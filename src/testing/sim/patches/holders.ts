/** Planted bugs of those who hold a session, or held it: leases and fencing, heads, the lifetime. */

import type { Patch } from '../patches.ts';

const NEXT = 'core/next.js';
const LIFETIME = 'core/lifetime.js';
const ACTOR = 'loop/actor.js';
const RECORD = 'loop/record.js';
const LOG = 'loop/log.js';

export const HOLDER_PATCHES: readonly Patch[] = [
  // ── leases and fencing ──────────────────────────────────────────────────────────────────────────────────
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
      { file: ACTOR, find: 'if (log.state.lifetime.epoch !== this.lease.epoch)', replace: 'if (false)' },
    ],
  },
  {
    // The answer was there, and a person is asked all the same.
    name: 'thrown away: what a holder without its lease knows is not handed in',
    first: { scenario: 'nobody to ask', mode: 'contend' },
    edits: [
      {
        file: ACTOR,
        find: 'await handIn(this.log.session, performed, this.lease.epoch, this.ports);',
        replace: '',
      },
      { file: ACTOR, find: 'if (this.fenced && performed)', replace: 'if (false)' },
    ],
  },
  {
    // An answer that comes with the next drive of this process needs nobody to ask.
    name: 'leftovers: answers that came in while the store was down are forgotten',
    first: { scenario: 'a blind effect', mode: 'outage' },
    edits: [{ file: 'loop/leftovers.js', find: 'if (leftover.results.length === 0)', replace: 'if (true)' }],
  },

  // ── heads ───────────────────────────────────────────────────────────────────────────────────────────────
  {
    // The choices were right for a log that has grown since: by a stop, an interruption, a message.
    name: 'stale choices: what was decided on an old head is written at the new one',
    first: { scenario: 'effects side by side', mode: 'stop', near: 'store.commit' },
    edits: [
      {
        file: LOG,
        find: 'const { events, state } = saturate(this.folded, bodies, now, this.planner, choosing);',
        replace:
          "const again = this.decided?.facts === facts ? this.decided.choices : null;\n            const { events, state } = saturate(this.folded, again ?? bodies, now, this.planner, again ? 'nothing' : choosing);\n            this.decided = { facts, choices: events };",
      },
    ],
  },
  {
    // Asked once, written later: by then another has given the same answer, or stopped the session.
    name: 'stale input: what a person wants is not decided again when the log has grown',
    first: { scenario: 'a question, then a nap', mode: 'decide', near: 'store.commit' },
    edits: [
      {
        file: 'loop/input.js',
        find: 'const bodies = decide(log.state, now);',
        replace: 'const bodies = (log.decided ??= decide(log.state, now));',
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
    edits: [{ file: NEXT, find: "if (s.lifetime.status !== 'open')", replace: 'if (false)' }],
  },

  // ── deaths ──────────────────────────────────────────────────────────────────────────────────────────────
  {
    // It gets ahead in each life, and is held like one that never does.
    name: 'never forgiven: deaths are counted over all the life of a session',
    first: { scenario: 'effects side by side', mode: 'again' },
    edits: [
      {
        file: LIFETIME,
        find: 'return s.lifetime.crashes === 0 ? s : { ...s, lifetime: { ...s.lifetime, crashes: 0 } };',
        replace: 'return s;',
      },
    ],
  },

  // ── lifetime ────────────────────────────────────────────────────────────────────────────────────────────
  {
    // It has left, and nobody will ever say what became of it.
    name: 'stopped and forgotten: a stop drops what is in flight from the ledger',
    first: { scenario: 'effects side by side', mode: 'stop', near: 'pay.run' },
    edits: [
      {
        file: NEXT,
        find: 'now < deadline && (sent.calls.length > 0',
        replace: 'false && (sent.calls.length > 0',
      },
      {
        file: LIFETIME,
        find: 'heap: { ...s.heap, opened: null, parked: true },\n    };\n}\nexport function reopened',
        replace:
          'heap: { ...s.heap, opened: null, parked: true },\n        effects: { ...s.effects, open: [] },\n    };\n}\nexport function reopened',
      },
    ],
  },
];
