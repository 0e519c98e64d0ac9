/**
 * One session's log as a process sees it: the folded state, catching up, and committing on the head.
 *
 * P1  The state here is the fold of what the store has, never of what we hope it will take.
 * P2  A commit that meets a moved head folds again and decides again (`facts` is asked anew), so a fact is
 *     recorded once even when the answer to its first commit was lost.
 */

import { OutlastError } from '../core/error.ts';
import type { EventBody } from '../core/event.ts';
import { evolve, initialState } from '../core/evolve.ts';
import type { BlobRef, SessionId } from '../core/ids.ts';
import type { State } from '../core/state.ts';
import { decode, encode } from '../core/upcast.ts';
import { assert } from '../lib/assert.ts';
import { given } from '../lib/given.ts';
import { summarize } from '../projections/summary.ts';
import type { Blob, Commit } from '../store/port.ts';
import { leaseLost } from './lease.ts';
import type { Planner } from './plan.ts';
import type { Ports } from './ports.ts';
import { type Choosing, saturate } from './saturate.ts';

export interface Facts {
  readonly events: readonly EventBody[];
  readonly blobs?: readonly Blob[];
  /** Blobs that go in the same commit, of a session that is archived. */
  readonly sheds?: readonly BlobRef[];
  /** Its one event is the tombstone. */
  readonly erases?: true;
}

const PAGE = 500;
/** How often a commit is tried again when the store is busy, full or failing, before the actor gives up. */
const STORE_ATTEMPTS = 8;

export type LogPorts = Pick<
  Ports,
  'store' | 'clock' | 'bell' | 'tools' | 'conversation' | 'policy' | 'sandbox'
>;

export class Log {
  readonly session: SessionId;
  private readonly ports: LogPorts;
  private readonly planner: Planner;
  private folded: State;

  constructor(session: SessionId, ports: LogPorts, known: State = initialState) {
    this.session = session;
    this.ports = ports;
    const { tools, conversation, policy, sandbox } = ports;
    this.planner = { tools, conversation, policy, sandbox };
    this.folded = known;
  }

  get state(): State {
    return this.folded;
  }

  /** Folds what has been appended since. */
  async catchUp(): Promise<void> {
    for (;;) {
      const rows = await this.ports.store.read(this.session, this.folded.head, PAGE);
      for (const row of rows) {
        // Two catch-ups may overlap; the second skips what the first has folded.
        if (row.seq <= this.folded.head) continue;
        const isTombstone = row.kind === 'session.deleted';
        assert(isTombstone || row.seq === this.folded.head + 1, 'the log has no gap');
        this.folded = evolve(this.folded, decode(row));
      }
      if (rows.length < PAGE) return;
    }
  }

  /** Commits as the holder of `epoch`: facts, and the choices that follow. Nothing to say commits nothing. */
  async commit(epoch: number, facts: (s: State) => Facts, choosing: Choosing): Promise<void> {
    for (;;) {
      const now = this.ports.clock.now();
      const { events: bodies, blobs = [], sheds, erases } = facts(this.folded);
      const { events, state } = saturate(this.folded, bodies, now, this.planner, choosing);
      if (events.length === 0) return;
      const result = await this.patiently({
        session: this.session,
        head: this.folded.head,
        epoch,
        events: events.map(encode),
        blobs,
        summary: summarize(state, now),
        ...given({ sheds, erases }),
      });
      if (result === 'conflict') {
        const { head } = this.folded;
        await this.catchUp();
        assert(this.folded.head > head, 'a conflict means that the log has grown');
        continue;
      }
      this.folded = state;
      this.ports.bell.ring(this.session, state.head);
      return;
    }
  }

  private async patiently(commit: Commit): Promise<'committed' | 'conflict'> {
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await this.ports.store.commit(commit);
        if (result.status === 'committed' || result.status === 'conflict') return result.status;
        throw leaseLost(result.status === 'fenced' ? result.epoch : 0);
      } catch (error) {
        const code = error instanceof OutlastError ? error.code : 'internal';
        const mayPass = code === 'store.busy' || code === 'store.full' || code === 'store.failed';
        if (!mayPass || attempt >= STORE_ATTEMPTS) throw error;
        await this.ports.clock.sleep(Math.min(2_000, 50 * 2 ** attempt));
      }
    }
  }
}
