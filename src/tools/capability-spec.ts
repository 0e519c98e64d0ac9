/**
 * How a capability is written where people write it: in a grant, or in the definition of a tool. The short forms
 * `'read'` and `'blind'` have nothing to add; the others say how long, in milliseconds.
 */

import { z } from 'zod';
import type { Capability } from '../core/capability.ts';

export type CapabilitySpec = 'read' | 'blind' | Capability;

const FORMS =
  'is "read", "blind", {"kind":"keyed","retentionMs":N}, {"kind":"queryable","lateMs":N} or ' +
  '{"kind":"cancelable","lateMs":N}, with N in whole milliseconds';

export const capabilitySpec = z.union(
  [
    z.enum(['read', 'blind']),
    z.strictObject({ kind: z.enum(['read', 'blind']) }),
    z.strictObject({ kind: z.literal('keyed'), retentionMs: z.int().positive() }),
    z.strictObject({ kind: z.enum(['queryable', 'cancelable']), lateMs: z.int().nonnegative() }),
  ],
  { error: FORMS },
);

export const capabilityFrom = (spec: CapabilitySpec): Capability =>
  typeof spec === 'string' ? { kind: spec } : spec;
