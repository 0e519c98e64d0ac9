/**
 * The lease of one holder: until when it may act, and the renewal in time.
 *
 * V1  It counts from when it was asked for: the store may have granted it long before its answer came.
 * V2  A holder ends while a sixth of it is left, so that whatever it has begun is over before it lapses.
 */

import { OutlastError } from '../core/error.ts';
import type { SessionId } from '../core/ids.ts';
import type { Ports } from './ports.ts';

export class Lease {
  readonly epoch: number;
  readonly session: SessionId;
  private readonly ports: Pick<Ports, 'store' | 'clock' | 'leaseMs' | 'report'>;
  private ends: number;
  private isRenewing = false;

  /** `ends`: on the monotonic clock, like `endsAt`. */
  constructor(session: SessionId, epoch: number, ends: number, ports: Lease['ports']) {
    this.session = session;
    this.epoch = epoch;
    this.ends = ends;
    this.ports = ports;
  }

  get endsAt(): number {
    return this.ends;
  }

  /**
   * How long nobody has to look at it again; begins its renewal when that is due, and calls `changed` once it is known what
   * came of it. Throws `lease.lost` (V2).
   */
  keep(changed: () => void): number {
    const { clock, leaseMs } = this.ports;
    const left = this.ends - clock.monotonic();
    const untilEnd = left - leaseMs / 6;
    if (untilEnd <= 0) throw leaseLost(this.epoch);
    const untilRenewal = left - (leaseMs * 2) / 3;
    if (this.isRenewing) return untilEnd;
    if (untilRenewal > 0) return untilRenewal;
    this.renew(changed);
    return untilEnd;
  }

  /** Says that it is let go by a holder with nothing in flight. */
  async release(): Promise<SessionId | null> {
    return this.ports.store.release(this.session, this.epoch);
  }

  /** In the background: a store that hangs must not keep its holder from noticing that it runs out. */
  private renew(changed: () => void): void {
    this.isRenewing = true;
    const { store, clock, leaseMs, report } = this.ports;
    const asked = clock.monotonic();
    store
      .renew(this.session, this.epoch, leaseMs)
      .then((kept) => {
        this.ends = kept ? asked + leaseMs : 0;
      })
      .catch((error: unknown) => report(`${this.session}: the lease was not renewed`, error))
      .finally(() => {
        this.isRenewing = false;
        changed();
      });
  }
}

export function leaseLost(epoch: number): OutlastError {
  return new OutlastError('lease.lost', `Another worker holds this session (epoch ${epoch}).`);
}
