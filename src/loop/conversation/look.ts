/** How the tasks of a conversation stand now, by the index rows that their own commits have left, and the owner's slots. */

import type { SlotsSeen, TaskSeen } from '../../core/conversation/event.ts';
import { shownTasks } from '../../core/conversation/state.ts';
import type { State } from '../../core/state.ts';
import type { Ports } from '../ports.ts';
import { DEFAULT_SLOTS } from '../slot.ts';

export interface Look {
  readonly tasks: readonly TaskSeen[];
  readonly slots: SlotsSeen;
}

export async function lookAtTasks(
  s: State,
  { store, slots = DEFAULT_SLOTS }: Pick<Ports, 'store' | 'slots'>,
): Promise<Look> {
  const queue = await store.queue(s.contract.owner);
  const seen = await Promise.all(
    shownTasks(s).map(async ({ id: task }): Promise<readonly TaskSeen[]> => {
      const row = await store.row(task);
      if (row === null) return [];
      const { phase, residency = 'parked', waitsFor = null, updatedAt: since, spent } = row;
      const cost = spent ? { microUsd: spent.microUsd, tokens: spent.tokens } : null;
      const place = queue.waiting.indexOf(task) + 1;
      const queued = place === 0 ? {} : { place };
      return [{ task, phase, residency, waitsFor, since, spent: cost, ...queued }];
    }),
  );
  const free = Math.max(0, (queue.slots ?? slots) - queue.working);
  return { tasks: seen.flat(), slots: { used: queue.working, free, waiting: queue.waiting.length } };
}
