/**
 * An approver in code: asked about each open approval of the runtime's sessions, and deciding by the same call as anybody
 * else. It stands beside the kernel: nothing waits for it, and without it a person decides.
 *
 * R1  Each approval is put to it once in the life of a process, also one that was open before.
 * R2  Only its plain word decides. If it throws, says nothing or anything else, that is reported once, and a person decides.
 */

import { OutlastError } from '../core/error.ts';
import type { DecisionId, EffectId, Owner, SessionId } from '../core/ids.ts';
import type { Action } from '../core/policy.ts';
import { findEffect, openDecisions, type State } from '../core/state.ts';
import type { Drive } from '../driver/port.ts';
import type { Ports } from '../loop/ports.ts';
import { eachRow } from '../loop/read.ts';

/** What an approver is asked: the exact action, and why it is asked. */
export interface ApprovalRequest extends Omit<Action, 'costUsd'> {
  readonly session: SessionId;
  readonly decision: DecisionId;
  readonly effect: EffectId;
  readonly digest: string;
  /** The rule of the policy that asks. */
  readonly rule: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly expiresAt: number | null;
}

/** `undefined` leaves it to a person. */
export type Approver = (
  request: ApprovalRequest,
) => Promise<'approve' | 'reject' | undefined> | 'approve' | 'reject' | undefined;

interface Surroundings {
  readonly ports: Pick<Ports, 'store' | 'bell' | 'clock' | 'report'>;
  readonly stateOf: (session: SessionId) => Promise<State>;
  readonly decide: (request: ApprovalRequest, answer: 'approve' | 'reject') => Promise<unknown>;
  readonly signal: AbortSignal;
}

export interface Approving {
  /** The same drive, with a look at the session whenever its log grows meanwhile, and after it. */
  beside(drive: Drive): Drive;
}

const RETRY_MS = 1_000;

export function approving(approver: Approver, { ports, stateOf, decide, signal }: Surroundings): Approving {
  const asked = new Set<string>();
  const looking = new Map<SessionId, { again: boolean }>();
  const report = (request: ApprovalRequest, what: string, cause?: unknown): void =>
    ports.report(`${request.session}: ${what}; ${request.decision} waits for a person`, cause);

  function look(session: SessionId): void {
    const current = looking.get(session);
    if (current) {
      current.again = true;
      return;
    }
    const own = { again: false };
    looking.set(session, own);
    void lookAt(session, own)
      .catch((error: unknown) => ports.report(`${session}: the approver could not be asked`, error))
      .finally(() => looking.delete(session));
  }

  async function lookAt(session: SessionId, own: { again: boolean }): Promise<void> {
    do {
      own.again = false;
      for (const request of approvalsOf(session, await stateOf(session))) {
        const name = `${session} ${request.decision}`;
        if (asked.has(name) || signal.aborted) continue;
        asked.add(name);
        void put(request);
      }
    } while (own.again);
  }

  async function put(request: ApprovalRequest): Promise<void> {
    let answer: unknown;
    try {
      answer = await approver(request);
    } catch (cause) {
      return report(request, 'the approver failed', cause);
    }
    if (answer !== 'approve' && answer !== 'reject') return report(request, 'the approver did not decide');
    await decided(request, answer).catch((cause: unknown) => report(request, 'it was not decided', cause));
  }

  async function decided(request: ApprovalRequest, answer: 'approve' | 'reject'): Promise<void> {
    while (!signal.aborted) {
      try {
        return void (await decide(request, answer));
      } catch (error) {
        if (!(error instanceof OutlastError)) throw error;
        // Somebody else was first, or it is too late: nothing is left to decide.
        if (error.code.startsWith('decision.')) return;
        if (error.action !== 'retry' && error.action !== 'wait') throw error;
        await ports.clock.sleep(RETRY_MS, signal);
      }
    }
  }

  /** R1: what was open before, in sessions that nothing drives. */
  async function lookAtWaiting(): Promise<void> {
    for await (const { id } of eachRow(ports.store, { phase: 'awaiting_decision' })) {
      if (signal.aborted) return;
      look(id);
    }
  }

  lookAtWaiting().catch((error: unknown) => ports.report('open approvals could not be listed', error));
  return {
    beside: (drive) => async (session, ending) => {
      const off = ports.bell.on(session, { rang: () => look(session) });
      await drive(session, ending).finally(off);
      look(session);
    },
  };
}

export function approvalsOf(session: SessionId, s: State): readonly ApprovalRequest[] {
  return openDecisions(s).flatMap(({ id: decision, about, effect: id, digest, expiresAt, requestedAt }) => {
    const effect = id === null ? undefined : findEffect(s, id);
    if (about !== 'approval' || !effect || digest === null) return [];
    const { tool, capability, target, args, policy } = effect;
    return [
      {
        ...{ session, decision, effect: effect.id, owner: s.contract.owner as Owner },
        ...{ tool, capability, target, args, digest, rule: policy.rule, since: requestedAt, expiresAt },
      },
    ];
  });
}
