/** Planted bugs between a session and its children. */

import type { Patch } from '../patches.ts';

const KIN = 'loop/family/kin.js';
const FAMILY = 'core/family/evolve.js';
const ALONE = 'children that nobody waits for';
const GIVEN = 'work that is given away, and one more of the same child';

export const CHILD_PATCHES: readonly Patch[] = [
  {
    // Spawned again after a crash it is another one, and both do the work.
    name: 'two for one: a child gets another id each time that it is spawned',
    first: { scenario: GIVEN, mode: 'crash' },
    edits: [
      {
        file: KIN,
        find: 'const child = childOf(session, effect);\n    const key = keyOf(effect, by);',
        replace:
          'const child = sessionId(sha256([session, effect, ports.holder].join()).slice(0, 24));\n    const key = keyOf(effect, by);',
      },
    ],
  },
  {
    // The parent has gone on when the child tells it once more.
    name: 'told twice: a result that is told again is taken again',
    first: { scenario: GIVEN, mode: 'crash' },
    edits: [
      {
        file: FAMILY,
        find: 'result !== null && result.seq > (last?.seq ?? 0)',
        replace: 'result !== null && last !== undefined',
      },
    ],
  },
  {
    name: 'said and forgotten: what is due to the parent is dropped before it is told',
    first: { scenario: GIVEN, mode: 'crash' },
    edits: [
      {
        file: KIN,
        find: 'await tell(parent.session, (p) => hear(p, told), by);',
        replace: 'void tell(parent.session, (p) => hear(p, told), by).catch(() => {});',
      },
    ],
  },
  {
    // It was done before its parent had written down that it stands.
    name: 'too early: a result that comes before its child is known is lost',
    first: { scenario: ALONE, seed: 85 },
    edits: [
      {
        file: FAMILY,
        find: 'return having(s, { early: [...s.family.early, { child, result, standing }] });',
        replace: 'return s;',
      },
    ],
  },
  {
    name: 'out of hand: a stop is not passed on to children',
    first: { scenario: 'a stop goes down the tree', mode: 'crash' },
    edits: [
      {
        file: 'core/family/next.js',
        find: "return status === 'stopping' ? 'stopped' : status;",
        replace: "return status === 'stopping' || status === 'stopped' ? 'open' : status;",
      },
    ],
  },
  {
    name: 'once more: an order to a child is given again under another key',
    first: { scenario: GIVEN, mode: 'crash' },
    edits: [
      {
        file: KIN,
        find: 'keyOf(effect, by), by);',
        replace: 'keyOf(effect, by) + by.epoch, by);',
      },
    ],
  },
];
