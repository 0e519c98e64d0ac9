/** Where a life ends by what it does itself. Of the other boundaries the outside tells, which has the request. */

import type { Trap } from './life.ts';
import type { Cell } from './terms.ts';
import type { RunWorld } from './world.ts';

type Commits = { readonly events: readonly { readonly kind: string }[] };

const has = ({ events }: Commits, kind: string): boolean => events.some((event) => event.kind === kind);

/** `here` ends the life: the call that is under way never returns. */
export function trapAt({ boundary, variant }: Cell, { calls }: RunWorld, here: () => void): Trap {
  const when = (holds: boolean): void => (holds ? here() : undefined);
  switch (boundary) {
    case 'before-intent':
      return { before: (commit) => when(has(commit, 'effect.intended')) };
    case 'intent':
      return { after: (commit) => when(has(commit, 'effect.intended')) };
    case 'unsaved':
      return { answered: here };
    case 'receipt': {
      const wanted = variant === 'two' ? 1 : calls.length;
      let settled = 0;
      return {
        after({ events }) {
          settled += events.filter(({ kind }) => kind === 'effect.settled').length;
          when(settled >= wanted);
        },
      };
    }
    case 'told':
      return { replied: ({ finish }) => when(finish === 'stop') };
    case 'answer':
      return { after: (commit) => when(has(commit, 'response.surfaced')) };
    default:
      return {};
  }
}

/** Right after its request is marked as sent, and before it leaves. */
export const freezing = (here: () => void): Trap => ({
  after: (commit) => (has(commit, 'effect.dispatched') ? here() : undefined),
});

/** Once the answer of its first contact with the outside is there, or once a person is to be asked. */
export const inRecovery = (here: () => void): Trap => ({
  answered: here,
  after: (commit) => (has(commit, 'decision.requested') ? here() : undefined),
});
