/** What runs out. */

import type { Json } from '../../../lib/json.ts';
import { calls, chargeOf, costly, read, report, say } from '../reply.ts';
import type { Scenario } from '../scenario.ts';

export const BUDGETS: readonly Scenario[] = [
  {
    // Two calls fit into the session's budget and four into the owner's; after a crash fewer do.
    name: 'a budget that ends, and is raised',
    acts: [
      { do: 'start', text: 'spend it', budget: { microUsd: 8_500 } },
      { do: 'raise', whose: 'session', budget: { microUsd: 1_000_000 } },
      { do: 'raise', whose: 'owner', budget: { microUsd: 1_000_000 } },
    ],
    owner: { microUsd: 15_500 },
    prices: { price: async (_, usage) => ({ microUsd: chargeOf(usage), source: 'sim' }) },
    wanted: { 'pay: one': 1, 'mail: two': 1 },
    says: 'mail: done',
    reply(request) {
      const { results } = read(request);
      const asked: readonly (readonly [tool: string, input: Json])[] = [
        ...([
          ['look', { what: 'a' }],
          ['pay', { what: 'one' }],
          ['look', { what: 'b' }],
        ] as const),
        ...([
          ['mail', { what: 'two' }],
          ['look', { what: 'c' }],
        ] as const),
      ];
      const next = asked[results.length];
      return costly(next ? calls(next) : say(report(results)));
    },
  },
  {
    name: 'a budget in money, and a model without a price',
    modes: ['crash', 'send', 'pause', 'interrupt'],
    acts: [
      { do: 'start', text: 'pay', budget: { microUsd: 100 } },
      { do: 'raise', whose: 'session', budget: { microUsd: null, steps: 100 } },
    ],
    wanted: { 'pay: it': 1 },
    says: 'pay: done',
    reply(request) {
      const { results } = read(request);
      return costly(results.length === 0 ? calls(['pay', { what: 'it' }]) : say(report(results)));
    },
  },
];
