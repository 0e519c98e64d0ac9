/** How the tasks of a conversation stand now, by the index rows that their own commits have left. */

import type { TaskSeen } from '../../core/conversation/event.ts';
import { shownTasks } from '../../core/conversation/state.ts';
import type { State } from '../../core/state.ts';
import type { Ports } from '../ports.ts';

export async function lookAtTasks(s: State, { store }: Pick<Ports, 'store'>): Promise<readonly TaskSeen[]> {
  const seen = await Promise.all(
    shownTasks(s).map(async ({ id: task }): Promise<readonly TaskSeen[]> => {
      const row = await store.row(task);
      if (row === null) return [];
      const { phase, residency = 'parked', waitsFor = null, updatedAt: since, spent } = row;
      const cost = spent ? { microUsd: spent.microUsd, tokens: spent.tokens } : null;
      return [{ task, phase, residency, waitsFor, since, spent: cost }];
    }),
  );
  return seen.flat();
}
