/** What an archive may not throw away: the images on which the heap stands, and those that the end of a cell would bring back. */

import type { SessionId } from '../../core/ids.ts';
import type { State } from '../../core/state.ts';
import type { Store } from '../../store/port.ts';

export async function shedInVain(
  session: SessionId,
  { heap, head }: State,
  store: Pick<Store, 'blob'>,
): Promise<readonly string[]> {
  const chains = [heap.chain, heap.cell?.before.chain];
  const needed = chains.flatMap((chain) => (chain ? [chain.base, ...chain.deltas] : []));
  const missing = await Promise.all(
    needed.map(({ blob }) =>
      store.blob(session, blob).then(
        () => [],
        () => [`${head}: the image ${blob.slice(0, 12)} is gone, and the heap needs it`],
      ),
    ),
  );
  return missing.flat();
}
