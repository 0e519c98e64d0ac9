/** Planted bugs of money: what is spent and not counted. */

import { NOTHING_SPENT } from '../../../core/budget/budget.ts';
import { overlaid } from '../../../lib/overlaid.ts';
import type { Reservation } from '../../../store/port.ts';
import type { Mutant } from '../mutants.ts';

const SCENARIO = 'a budget that ends, and is raised';

export const SPENDERS: readonly Mutant[] = [
  {
    // What a call takes is known well enough; so the books are done before it.
    name: 'settled before the call: what it then takes is counted by nobody',
    first: { scenario: SCENARIO, mode: 'crash', near: 'store.settle' },
    mutation: () => ({
      store: (real) =>
        overlaid(real, {
          async reserve(asked) {
            const reserved = await real.reserve(asked);
            const usual = { ...NOTHING_SPENT, microUsd: 1_500, tokens: 1_500, steps: 1 };
            if (reserved.status === 'granted') await real.settle(asked.owner, asked.key, usual);
            return reserved;
          },
        }),
    }),
  },
  {
    // Nobody works on it any more, so it is given back.
    name: 'forgotten in a crash: what was reserved by a dead machine is free again',
    first: { scenario: SCENARIO, mode: 'crash', near: 'store.settle' },
    mutation: () => {
      const open = new Map<string, Reservation>();
      let dead: Reservation[] = [];
      return {
        store: (real) =>
          overlaid(real, {
            async reserve(asked) {
              for (const { owner, key } of dead.splice(0)) await real.settle(owner, key, NOTHING_SPENT);
              open.set(asked.key, asked);
              return real.reserve(asked);
            },
            async settle(owner, key, actual) {
              open.delete(key);
              return real.settle(owner, key, actual);
            },
          }),
        crashed() {
          dead = [...open.values()];
          open.clear();
        },
      };
    },
  },
  {
    // A look at the books before, an entry after: between the two they know nothing of it.
    name: 'checked and not reserved: a call stands in the books only once it is answered',
    first: { scenario: SCENARIO, mode: 'crash', near: 'store.settle' },
    mutation: () => {
      const asked = new Map<string, Reservation>();
      return {
        store: (real) =>
          overlaid(real, {
            async reserve(reservation) {
              asked.set(reservation.key, reservation);
              const reserved = await real.reserve(reservation);
              await real.settle(reservation.owner, reservation.key, NOTHING_SPENT);
              return reserved;
            },
            async settle(owner, key, actual) {
              const reservation = asked.get(key);
              if (reservation) await real.reserve({ ...reservation, limits: { turn: {}, session: {} } });
              return real.settle(owner, key, actual);
            },
          }),
      };
    },
  },
  {
    // No price is no money.
    name: 'unpriced is free: a model whose price nobody knows costs nothing',
    first: { scenario: 'a budget in money, and a model without a price', mode: 'crash' },
    mutation: () => ({
      prices: (real) => ({
        price: async (model, usage) => (await real.price(model, usage)) ?? { microUsd: 0, source: 'none' },
      }),
    }),
  },
  {
    // The answer to the first settlement was lost, and the second one takes back what the first has taken.
    name: 'settled twice: what was held is given back once more, and less than nothing is held',
    first: { scenario: SCENARIO, mode: 'crash', near: 'store.settle' },
    mutation: () => ({
      store: (real) =>
        overlaid(real, {
          async settle(owner, key, actual) {
            await real.settle(owner, key, actual);
            const { microUsd, tokens } = actual;
            const again = {
              owner,
              session: key.split('.')[0] as Reservation['session'],
              turn: 0,
              key: `${key}~`,
            };
            const none = { turn: NOTHING_SPENT, session: NOTHING_SPENT };
            const amounts = { microUsd: 0, tokens: 0, steps: 0, ms: 0 };
            await real.reserve({ ...again, amounts, limits: { turn: {}, session: {} }, spent: none });
            const back = { ...NOTHING_SPENT, microUsd: -microUsd, tokens: -tokens };
            await real.settle(owner, again.key, back);
          },
        }),
    }),
  },
];
