/** The ports that the runtime stands on, in one bundle. Adapters are chosen in `compose.ts` and nowhere else. */

import type { Policy } from '../core/policy.ts';
import type { Clock } from '../lib/clock.ts';
import type { Entropy } from '../lib/entropy.ts';
import type { Model, Prices } from '../models/port.ts';
import type { Sandbox } from '../sandbox/port.ts';
import type { Processes } from '../sandbox/process/port.ts';
import type { Store } from '../store/port.ts';
import type { Workspaces } from '../workspace/port.ts';
import type { Bell } from './bell.ts';
import type { Offers } from './tools/offer.ts';

export interface Ports extends Offers {
  readonly store: Store;
  readonly model: Model;
  readonly prices: Prices;
  readonly sandbox: Sandbox;
  readonly workspaces: Workspaces;
  /** Where commands run and live on; not there where none are offered. */
  readonly processes?: Processes | undefined;
  /** What may be done, what a person is asked about, and what is not done. */
  readonly policy: Policy;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly bell: Bell;
  readonly sealer: Sealer;
  /** Names this process as a holder of leases; people see it. */
  readonly holder: string;
  readonly leaseMs: number;
  /** Sessions of one owner that may work at once, unless the owner has a number of its own; by default 20. */
  readonly slots?: number | undefined;
  /** Where the runtime reports what no session's log can hold. */
  readonly report: (line: string, cause?: unknown) => void;
}

/** Encrypts and authenticates what may hold a secret; `about` is bound to it and must be the same on opening. */
export interface Sealer {
  seal(bytes: Uint8Array, about: string): Uint8Array;
  open(bytes: Uint8Array, about: string): Uint8Array;
}
