/** What is exported of the contract: to put it to a store of one's own, or to another runtime. */

import type { Store } from '../../store/port.ts';
import { type ContractOptions, contract as put, type Verdict } from './contract.ts';
import { onStore } from './outlast.ts';
import type { Subject } from './port.ts';

/**
 * Puts the nine clauses to another runtime, or to Outlast over a store of one's own: `store` makes a fresh one for each
 * folder that it is given. Takes about ten seconds. Nothing is thrown for a clause that is not kept: `list` has the reasons.
 *
 * @example
 * ```ts
 * const { clauses, passed, list } = await contract({ store: async () => myStore() });
 * ```
 */
export const contract = (
  to: Subject | { readonly store: (folder: string) => Promise<Store> },
  options?: ContractOptions,
): Promise<Verdict> =>
  put(
    'store' in to ? onStore('outlast', 'a store that was given, workers of one process', to.store) : to,
    options,
  );

export { CLAUSES, type ContractOptions, type Result, type Verdict } from './contract.ts';
export { memory as memorySubject, onStore, subject as outlastSubject } from './outlast.ts';
export {
  type Gate,
  NotOffered,
  type Outside,
  Refused,
  type Reply,
  type Runtime,
  type Subject,
  type Told,
} from './port.ts';
