/** Planted bugs of what people are told: the claims beside a response. */

import type { Patch } from '../patches.ts';

const CLAIMS = 'core/claims.js';

export const TOLD_PATCHES: readonly Patch[] = [
  {
    // It has left, after all, and nearly always it arrives.
    name: 'sent is done: what has left is told to a person as done',
    first: { scenario: 'answers that get lost', mode: 'stop', near: 'store.commit' },
    edits: [
      {
        file: CLAIMS,
        find: "isUnknown(effect, epoch) ? 'unknown' : effect.status",
        replace: "effect.dispatch !== null && effect.status !== 'failed' ? 'done' : effect.status",
      },
    ],
  },
  {
    // A list of what was done has no room for what may not have been.
    name: 'passed over: what is unknown is left out of what a person is told',
    first: { scenario: 'answers that get lost', mode: 'stop', near: 'store.commit' },
    edits: [
      {
        file: CLAIMS,
        find: '[...s.effects.closed.filter(isNews), ...s.effects.open.filter(({ family }) => !family)]',
        replace: '[...s.effects.closed.filter(isNews)]',
      },
    ],
  },
  {
    // The turn is over, so what belongs to it is as well.
    name: 'said nowhere: what an interrupted turn did counts as told',
    first: { scenario: 'effects side by side', mode: 'interrupt', near: 'store.commit' },
    edits: [
      {
        file: 'core/turn.js',
        find: "toldSeq: end === 'interrupted' || end === 'passed' ? s.toldSeq : e.seq",
        replace: 'toldSeq: e.seq',
      },
    ],
  },
];
