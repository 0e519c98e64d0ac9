/** What a server says about itself: to anyone that it serves, and to those who may use it who it is. */

import type { Owner } from '../core/ids.ts';
import type { Health } from '../protocol/schema.ts';

/** What `createOutlast` says about the runtime that it made. */
export interface About {
  readonly model: { readonly name: string; readonly scripted: boolean };
  readonly dataDir: string | null;
  readonly store: string;
  /** What is kept of a Python kernel that is parked. */
  readonly parking?: string | null;
}

export function healthOf(owner: Owner | null, about: About | undefined, version: string | undefined): Health {
  const base = { ok: true, product: 'outlast', version: version ?? null } as const;
  if (owner === null)
    return { ...base, owner: null, pid: null, data: null, store: null, model: null, parking: null };
  const { model = null, dataDir = null, store = null, parking = null } = about ?? {};
  return { ...base, owner, pid: process.pid, data: dataDir, store, model, parking };
}
