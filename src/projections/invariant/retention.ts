/** What is true of the end of every session: nothing is deleted without an order, or a notice that has stood its time. */

import type { Event } from '../../core/event.ts';
import { isUpkeep } from '../../core/evolve.ts';

type Expect = (condition: boolean, invariant: string, event: { seq: number }, detail: string) => void;

export class RetentionChecker {
  private readonly expect: Expect;
  /** Of this very rest. */
  private notice: { readonly at: number; readonly until: number } | null = null;
  private going: 'order' | 'policy' | null = null;
  private isFirst = true;
  private isOver = false;

  constructor(expect: Expect) {
    this.expect = expect;
  }

  check(e: Event): void {
    this.expect(!this.isOver, 'deleted.final', e, `${e.kind} behind a tombstone`);
    switch (e.kind) {
      case 'retention.noticed':
        this.expect(e.until > e.at, 'notice.ahead', e, `a notice until ${e.until}, given at ${e.at}`);
        this.notice = { at: e.at, until: e.until };
        break;
      case 'retention.over':
        this.expect(this.notice !== null, 'deleted.noticed', e, 'the end of a notice that nobody got');
        this.expect(
          e.at >= (this.notice?.until ?? 0),
          'deleted.noticed',
          e,
          'the end of a notice that still stands',
        );
        this.going = 'policy';
        break;
      case 'retention.deferred':
        this.notice = null;
        break;
      case 'session.deleting':
        this.going = 'order';
        break;
      case 'session.deleted':
        this.tombstone(e);
        break;
      default:
        if (!isUpkeep(e.kind)) this.notice = null;
    }
    this.isFirst = false;
  }

  private tombstone(e: Event & { readonly kind: 'session.deleted' }): void {
    const { cause } = e;
    // All that is left of it says the same as what went did.
    this.expect(
      this.isFirst || this.going === cause.by,
      'deleted.wanted',
      e,
      `deleted by ${cause.by}, which nobody wanted`,
    );
    if (cause.by === 'policy') {
      const isNoticed = cause.noticedAt < cause.until && cause.until <= e.at;
      this.expect(isNoticed, 'deleted.noticed', e, `deleted at ${e.at}, noticed until ${cause.until}`);
    }
    this.isOver = true;
  }
}
