/**
 * What a tool's service can do for us when a result is missing. The capability, never the model, decides how an
 * unknown outcome is cleared up.
 */

export type Capability =
  /** Changes nothing: run again. */
  | { readonly kind: 'read' }
  /** The service deduplicates by our key for `retentionMs`: same key again inside that time. */
  | { readonly kind: 'keyed'; readonly retentionMs: number }
  /** The service can be asked for our reference, once nothing can arrive any more: `lateMs` after the takeover. */
  | { readonly kind: 'queryable'; readonly lateMs: number }
  /** An extra can be undone: sent again at once, looked at `lateMs` after the doubt, and all but one undone. */
  | { readonly kind: 'cancelable'; readonly lateMs: number }
  /** None of these; the default for anything that writes: one question to a person. */
  | { readonly kind: 'blind' };

export const writes = (capability: Capability): boolean => capability.kind !== 'read';

/** How one dispatch ended, as far as anybody can tell. */
export type Outcome =
  | { readonly status: 'done'; readonly result: import('../lib/json.ts').Json }
  | { readonly status: 'failed'; readonly code: string; readonly message: string }
  /** No answer. Says nothing about the world. */
  | { readonly status: 'unknown'; readonly reason: string };

/** What looking into an unknown effect brought. */
export type Finding =
  | Exclude<Outcome, { status: 'unknown' }>
  /** The service says that nothing arrived, and nothing can arrive any more: it may be sent. */
  | { readonly status: 'absent' }
  /** The service could not be asked. */
  | { readonly status: 'unclear'; readonly reason: string };

/** What looking for extras brought: what stands now, and how many were undone. */
export interface Audit {
  readonly finding: Finding;
  readonly undone: number;
}

/** How a finding came about; `outlast inspect` shows it. */
export type Evidence =
  | 'answered' // the service's answer to the repeated call
  | 'queried' // the service was asked for our reference
  | 'audited' // the service was asked for all that stands under our reference, and extras were undone
  | 'unsent' // the holder knows that the request never left
  | 'person' // a person decided
  | 'late' // a former holder handed its result in
  | 'gave-up'; // a read that failed as often as the limits allow
