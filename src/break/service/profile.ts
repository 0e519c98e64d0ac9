/** What each service of the bench can do for its clients. */

import { KEPT_MS, LAG_MS, type Service } from '../terms.ts';

export interface Profile {
  /** For how long a key is known; null where keys mean nothing. */
  readonly keptMs: number | null;
  readonly isAskable: boolean;
  /** How long after it was applied a question finds it. */
  readonly lagMs: number;
  readonly canUndo: boolean;
}

const NOTHING: Profile = { keptMs: null, isAskable: false, lagMs: 0, canUndo: false };

export const PROFILES: Readonly<Record<Service, Profile>> = {
  keyed: { ...NOTHING, keptMs: Number.POSITIVE_INFINITY },
  expiring: { ...NOTHING, keptMs: KEPT_MS },
  queryable: { ...NOTHING, isAskable: true },
  lagging: { ...NOTHING, isAskable: true, lagMs: LAG_MS },
  cancelable: { ...NOTHING, isAskable: true, canUndo: true },
  blind: NOTHING,
  batch: { ...NOTHING, isAskable: true },
};
