/** The grants for the sample services: reads, a keyed login whose token is sealed, and mail that can be asked for. */

import type { Grant, Rule } from './grant.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** A request that left this machine has reached a service on it, or never will, within this time. */
const LATE_MS = 2_000;

export interface SampleUrls {
  readonly billingUrl: string;
  readonly mailingUrl: string;
}

/** Whose account it is that the operator of the samples means; a real operator would write a line like this. */
export const SAMPLE_BRIEFING = 'The operator\'s account is called "Northwind Trading".';

export function sampleGrants({ billingUrl, mailingUrl }: SampleUrls): readonly Grant[] {
  return [
    {
      name: 'billing',
      origin: new URL(billingUrl).origin,
      describe: 'invoices by account; GET / describes it',
      rules: [
        reads,
        { method: 'POST', path: '/auth/token', capability: keyed, secrets: ['/token'] },
        { method: 'POST', path: '/auth/*', capability: keyed },
      ],
    },
    {
      name: 'mailing',
      origin: new URL(mailingUrl).origin,
      describe: 'sends mail; GET / describes it',
      rules: [
        reads,
        {
          method: 'POST',
          path: '/messages',
          capability: { kind: 'queryable', lateMs: LATE_MS },
          ask: { path: '/messages?reference={reference}', found: '/messages', reference: '/reference' },
        },
      ],
    },
  ];
}

/** The hooks are for tests; nothing that a model does belongs there. */
const reads: Rule = { method: 'GET', path: '/**', except: ['/__hooks/**'] };

const keyed = { kind: 'keyed', retentionMs: DAY_MS } as const;
