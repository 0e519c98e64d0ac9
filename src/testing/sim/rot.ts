/**
 * A disk that gives out an image in place of another: the second delta of a heap comes back as the first once more. Each
 * is whole and genuine; only the digest in the log can tell.
 */

import { decode } from '../../core/upcast.ts';
import { overlaid } from '../../lib/overlaid.ts';
import type { Store } from '../../store/port.ts';

/** `rotten` gets the references of such images. */
export function rotting(real: Store, rotten: Set<string>): Store {
  const deltas: string[] = [];
  return overlaid(real, {
    async commit(commit) {
      const result = await real.commit(commit);
      for (const event of result.status === 'committed' ? commit.events.map(decode) : [])
        if (event.kind === 'cell.committed' && event.image.form === 'delta') deltas.push(event.image.blob);
      if (deltas[1] !== undefined) rotten.add(deltas[1]);
      return result;
    },
    blob: (session, ref) => real.blob(session, ref === deltas[1] ? (deltas[0] as typeof ref) : ref),
  });
}
