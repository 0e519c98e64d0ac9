/** What is true of the log of every conversation, beside what is true of any: what is told, once, and to whom. */

import type { Event } from '../../core/event.ts';
import type { MessageId } from '../../core/ids.ts';
import type { Expect } from './workspace.ts';

export class TalkChecker {
  private readonly expect: Expect;
  private isConversation = false;
  private step = '';
  private looked = '';
  private readonly children = new Set<string>();
  private readonly results = new Map<string, number>();
  private readonly relayed = new Set<string>();
  /** Messages of people that the open turn has read. */
  private asked: readonly MessageId[] = [];

  constructor(expect: Expect) {
    this.expect = expect;
  }

  check(e: Event): void {
    switch (e.kind) {
      case 'session.started':
        this.isConversation = e.profile === 'conversation';
        return;
      case 'session.forked':
        // Its tasks are the original's.
        this.children.clear();
        this.results.clear();
        return;
      case 'child.spawned':
        this.children.add(e.child);
        return;
      case 'child.reported':
        if (e.result) this.results.set(e.child, e.result.seq);
        return;
      case 'turn.started':
        this.asked = [];
        return;
      case 'message.read':
        this.asked = [...this.asked, ...e.messages.filter((id) => !id.startsWith('end:'))];
        return;
      case 'step.started':
        this.step = `${e.turn}.${e.step}`;
        return;
      case 'tasks.seen':
        this.looked = `${e.turn}.${e.step}`;
        this.expect(this.looked === this.step, 'look.step', e, `a look for ${this.looked} in ${this.step}`);
        return;
      case 'model.completed': {
        const hasLooked = !this.isConversation || this.children.size === 0 || this.looked === this.step;
        this.expect(hasLooked, 'look.first', e, 'it spoke before it had looked at its tasks');
        return;
      }
      case 'turn.passed':
        this.expect(this.isConversation, 'pass.profile', e, 'a turn of a task ended without a word');
        this.expect(this.asked.length === 0, 'pass.answer', e, `${this.asked.join(', ')} got no answer`);
        return;
      case 'response.surfaced':
        for (const { task, seq } of e.relayed ?? []) {
          this.expect(this.results.get(task) === seq, 'relay.there', e, `${task} has not said ${seq} last`);
          this.expect(!this.relayed.has(`${task}.${seq}`), 'relay.once', e, `${task} ${seq} was told before`);
          this.relayed.add(`${task}.${seq}`);
        }
        return;
      default:
        return;
    }
  }
}
