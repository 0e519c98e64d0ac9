/** The person of a run, who can look into the books: which question they take up, and what they say to it. */

import type { SessionId } from '../../core/ids.ts';
import { type Decision, findEffect, openDecisions, type State } from '../../core/state.ts';
import type { Truth } from './meanwhile.ts';
import type { Scenario } from './scenarios.ts';
import { type World, whatOf } from './world.ts';

export interface Person {
  /** What is taken up next: the oldest question, or the newest. */
  takesUp(s: State): Decision | undefined;
  readonly truth: Truth;
}

export function personOf(scenario: Scenario, world: World, session: SessionId): Person {
  const { answer = 'yes', approves = () => true, isBackward = false } = scenario;
  return {
    takesUp: (s) => openDecisions(s).at(isBackward ? -1 : 0),
    truth({ about, effect: id }, s) {
      if (id === null) return { answer: 'answer', text: answer };
      if (about === 'approval') {
        const isWanted = approves(whatOf(findEffect(s, id)?.args ?? null));
        return { answer: isWanted ? 'approve' : 'reject', text: 'as was agreed' };
      }
      const stands = world.books.some(({ reference }) => reference === `${session}.${id}`);
      return { answer: stands ? 'done' : 'not-done', text: 'looked it up' };
    },
  };
}
