/** What a session waits for, in a line; null while it works, and when it is over. Pure. */

import { exhaustionInWords } from '../core/budget/budget.ts';
import type { Phase } from '../core/phase.ts';
import { openDecisions, pendingTimers, type State } from '../core/state.ts';

export function waitsFor(s: State, standing: Phase): string | null {
  switch (standing) {
    case 'awaiting_input':
      return 'an instruction';
    case 'awaiting_decision':
      return `a person, on ${openDecisions(s)
        .map(({ id, about }) => `${id} (${about})`)
        .join(', ')}`;
    case 'sleeping':
      return sleeping(s);
    case 'paused':
      return s.budget.exhausted === null ? 'somebody who resumes it' : exhaustionInWords(s.budget.exhausted);
    default:
      return null;
  }
}

function sleeping(s: State): string {
  const [first] = [...pendingTimers(s)].sort((a, b) => a.due - b.due);
  return first ? `its timer ${first.id}, until ${new Date(first.due).toISOString()}` : 'a child of its own';
}
