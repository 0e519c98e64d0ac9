/** The slots of an owner as people see them: who waits at which place, how many work, and how many may. */

import { OutlastError } from '../core/error.ts';
import type { Owner } from '../core/ids.ts';
import type { Ports } from '../loop/ports.ts';
import { DEFAULT_SLOTS } from '../loop/slot.ts';
import type { Row } from '../store/port.ts';

export interface OwnerSlots {
  /** How many sessions may work at once. */
  readonly slots: number;
  /** Whether that is a number of the owner's own. */
  readonly isOwn: boolean;
  readonly working: number;
  readonly waiting: number;
}

/** A row that waits for a slot has its place in the queue, 1 for the next. */
export interface PlacedRow extends Row {
  readonly place?: number;
}

type Slotted = Pick<Ports, 'store' | 'slots'>;

export async function ownerSlots(
  owner: Owner,
  { store, slots = DEFAULT_SLOTS }: Slotted,
): Promise<OwnerSlots> {
  const queue = await store.queue(owner);
  return {
    slots: queue.slots ?? slots,
    isOwn: queue.slots !== null,
    working: queue.working,
    waiting: queue.waiting.length,
  };
}

/** Who waits and may go on with a new number is found by the sweeper. */
export async function setSlots(owner: Owner, slots: number | null, ports: Slotted): Promise<OwnerSlots> {
  if (slots !== null && !(Number.isSafeInteger(slots) && slots >= 1)) {
    throw new OutlastError('budget.invalid', 'A number of slots is a whole number from 1 up.', {
      next: 'to hold a session, pause it',
    });
  }
  await ports.store.setSlots(owner, slots);
  return ownerSlots(owner, ports);
}

export async function placed(rows: readonly Row[], { store }: Slotted): Promise<readonly PlacedRow[]> {
  const [first] = rows.filter(({ queuedAt }) => queuedAt !== undefined);
  if (!first) return rows;
  const { waiting } = await store.queue(first.owner);
  const places = new Map(waiting.map((id, index) => [id, index + 1]));
  return rows.map((row) => {
    const place = places.get(row.id);
    return place === undefined ? row : { ...row, place };
  });
}
