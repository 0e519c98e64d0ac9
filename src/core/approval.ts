/**
 * Approvals: what an effect whose policy asks waits for. The asking shares the commit of the intention, and waiting holds
 * nothing: it is a question in the log like any other (`decision.ts`).
 *
 * A1  An approval is about one effect, by its id, and about one action, by its digest. It is asked for once.
 * A2  Only a decision in the log opens the gate of an effect; that nobody answers never does.
 */

import { clip } from '../lib/text.ts';
import type { EventBody } from './event.ts';
import { mint } from './ids.ts';
import type { Effect, State } from './state.ts';

/** The question about an effect that asks; null once it stands. `ahead` counts the decisions asked beside it. */
export function approvalOf(s: State, effect: Effect, now: number, ahead: () => number): EventBody | null {
  if (effect.gate !== 'asks' || s.decisions.some((d) => d.about === 'approval' && d.effect === effect.id))
    return null;
  const { rule, expiresAfterMs } = effect.policy;
  return {
    kind: 'decision.requested',
    decision: mint.decision(s.counters, ahead()),
    about: 'approval',
    effect: effect.id,
    origin: null,
    question: question(effect),
    why: `the rule "${rule}" asks`,
    options: ['approve', 'reject'],
    choices: [],
    digest: effect.digest,
    expiresAt: expiresAfterMs === null ? null : now + expiresAfterMs,
  };
}

/** The whole action stands in the ledger; here it is for a look. */
const ARGS_SHOWN = 4_000;

function question({ id, tool, target, args }: Effect): string {
  return (
    `Send ${id}? ${tool} to ${target} with ${clip(JSON.stringify(args), ARGS_SHOWN)}. ` +
    'approve = it is sent, exactly so; reject = it is not sent, and whoever asked for it is told why.'
  );
}

/** Whether the policy, or a person, lets it pass. */
export const mayPass = ({ gate }: Effect): boolean => gate === 'open' || gate === 'approved';

/** Why an effect may not be run that is about to be; null when all is well. The last look before anything leaves. */
export function whyNot(s: State, effect: Effect, digest: string): string | null {
  if (!mayPass(effect)) return `${effect.id} is asked about or denied`;
  if (effect.gate === 'open') return null;
  const approval = s.decisions.find((d) => d.about === 'approval' && d.effect === effect.id);
  if (approval?.made?.answer !== 'approve') return `nobody approved ${effect.id}`;
  return approval.digest === digest ? null : `${effect.id} is not the action that was approved`;
}
