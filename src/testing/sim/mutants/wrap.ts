/** A store with some of its calls changed. */

import type { Store } from '../../../store/port.ts';

export function wrap(store: Store, changed: Partial<Store>): Store {
  return new Proxy(store, {
    get: (target, key) => Reflect.get(key in changed ? changed : target, key),
  });
}
