/** What is true of the files in every log: who may touch them, and what stands. A part of the invariants. */

import type { Event } from '../../core/event.ts';
import type { EffectId } from '../../core/ids.ts';
import type { FilesUse } from '../../core/workspace/event.ts';

export type Expect = (condition: boolean, invariant: string, event: { seq: number }, detail: string) => void;

export class FilesChecker {
  private readonly expect: Expect;
  private epoch = 0;
  /** Under which the folder was looked at last. */
  private opened: number | null = null;
  private digest: string | null = null;
  private wanted: string | null = null;
  private readonly uses = new Map<EffectId, FilesUse>();
  /** Sent, and not settled under this epoch. */
  private readonly inHand = new Set<EffectId>();

  constructor(expect: Expect) {
    this.expect = expect;
  }

  check(e: Event): void {
    switch (e.kind) {
      case 'lease.acquired':
        this.left();
        this.epoch = e.epoch;
        return;
      case 'session.forked':
        this.left();
        this.epoch = 0;
        this.wanted = null;
        return;
      case 'session.parked':
      case 'session.stopped':
        this.left();
        return;
      case 'effect.intended':
        if (e.files) this.uses.set(e.effect, e.files);
        return;
      case 'effect.dispatched':
        this.dispatched(e);
        return;
      case 'effect.settled':
      case 'effect.reconciled':
        this.inHand.delete(e.effect);
        return;
      case 'workspace.opened': {
        this.expect(
          e.epoch === this.epoch,
          'files.epoch',
          e,
          `opened under ${e.epoch}, held is ${this.epoch}`,
        );
        const isOther = e.tree !== null && e.tree.digest !== this.digest;
        this.expect(e.rung !== 'drifted' || isOther, 'files.drift', e, 'a drift that changes nothing');
        this.expect(
          e.rung !== 'restored' || e.tree === null,
          'files.restored',
          e,
          'restored as something else',
        );
        this.opened = e.epoch;
        this.digest = e.tree?.digest ?? this.digest;
        return;
      }
      case 'workspace.committed':
        this.committed(e);
        return;
      case 'workspace.set':
        this.wanted = e.tree.digest;
        return;
      default:
        return;
    }
  }

  private dispatched(e: Extract<Event, { kind: 'effect.dispatched' }>): void {
    const use = this.uses.get(e.effect);
    if (use === undefined) return;
    this.expect(
      this.opened === this.epoch,
      'files.opened',
      e,
      `${e.effect} sent before the folder was looked at`,
    );
    const others = [...this.inHand].filter((id) => id !== e.effect);
    this.expect(
      others.length === 0,
      'files.one_hand',
      e,
      `${e.effect} sent while ${others[0]} has the files`,
    );
    if (use === 'changes') this.inHand.add(e.effect);
  }

  private committed(e: Extract<Event, { kind: 'workspace.committed' }>): void {
    const { why, tree, effect } = e;
    switch (why) {
      case 'call':
      case 'drift':
        this.expect(
          this.opened === this.epoch,
          'files.opened',
          e,
          'committed by who has not looked at the folder',
        );
        this.expect(tree.digest !== this.digest, 'files.news', e, 'a commit of what stands');
        if (why === 'call') {
          const isIts = effect !== null && this.uses.get(effect) === 'changes';
          this.expect(isIts, 'files.call', e, `${effect} is no call that may change files`);
        }
        break;
      case 'imported':
        this.expect(this.wanted !== null, 'files.wanted', e, 'nobody imported anything');
        break;
      case 'restored':
        this.expect(tree.digest === this.wanted, 'files.wanted', e, 'nobody wanted these files');
        break;
      default:
        break;
    }
    this.digest = tree.digest;
  }

  private left(): void {
    this.opened = null;
    this.inHand.clear();
  }
}
