/**
 * The person's other desk: what the policy asks before anything is sent. Each approval is decided at a random instant
 * after it was asked for, whoever serves then, and said again until it is heard. Now and then it is a no.
 */

import type { Event, ForeignEvent } from '../../core/event.ts';
import { systemClock } from '../../lib/clock.ts';
import { aboutOf } from './about.ts';

export interface Approval {
  readonly answer: 'approve' | 'reject';
  /** When the person began to say so, in milliseconds since the epoch. */
  readonly at: number;
}

interface Options {
  readonly random: () => number;
  readonly decide: (decision: string, answer: 'approve' | 'reject') => Promise<void>;
  readonly signal: AbortSignal;
}

const WITHIN_MS = 2_500;
const NO = 0.2;

export class Approvals {
  /** By the name of what was asked about. */
  readonly made = new Map<string, Approval>();
  private readonly options: Options;
  private readonly names = new Map<string, string>();
  private readonly asked = new Set<string>();
  private readonly deciding: Promise<void>[] = [];

  constructor(options: Options) {
    this.options = options;
  }

  heard(event: Event | ForeignEvent): void {
    if (event.kind === 'effect.intended') this.names.set(event.effect, aboutOf(event)?.what ?? '');
    if (event.kind !== 'decision.requested' || event.about !== 'approval' || event.effect === null) return;
    if (this.asked.has(event.decision)) return;
    this.asked.add(event.decision);
    const task = this.decide(event.decision, this.names.get(event.effect) ?? '');
    // Its error is met in `done`.
    task.catch(() => {});
    this.deciding.push(task);
  }

  async done(): Promise<void> {
    await Promise.all(this.deciding);
  }

  private async decide(decision: string, what: string): Promise<void> {
    const { random, decide, signal } = this.options;
    const answer = random() < NO ? 'reject' : 'approve';
    await systemClock.sleep(random() * WITHIN_MS, signal);
    if (signal.aborted) return;
    this.made.set(what, { answer, at: systemClock.now() });
    await decide(decision, answer);
  }
}
