/**
 * Errors with a code. The code says what went wrong, `next` says what to do now, `action` says what the runtime
 * does about it: classes of error mean what happens next, not where they arose.
 */

/** What the runtime does: try again, wait for something, ask a person, or stop. */
export type ErrorAction = 'retry' | 'wait' | 'ask' | 'stop';

export const ERRORS = {
  'session.unknown': 'stop',
  'session.stopped': 'ask',
  'session.not_stopped': 'stop',
  'session.deleted': 'stop',
  'session.unsettled': 'ask',
  'session.quarantined': 'ask',
  'session.newer_version': 'stop',
  'children.total': 'stop',
  'children.unknown': 'stop',
  'owner.invalid': 'stop',
  'owner.unauthorized': 'stop',
  'key.conflict': 'stop',
  'message.invalid': 'stop',
  'decision.unknown': 'stop',
  'decision.closed': 'stop',
  'decision.invalid': 'stop',
  'decision.expired': 'stop',
  'decision.stale': 'stop',
  'policy.invalid': 'stop',
  'turn.none': 'stop',
  'budget.invalid': 'stop',
  'budget.exhausted': 'stop',
  'request.invalid': 'stop',
  'route.unknown': 'stop',
  'cursor.stale': 'retry',
  'log.damaged': 'ask',
  'log.newer_version': 'stop',
  'store.locked': 'wait',
  'store.full': 'wait',
  'store.busy': 'retry',
  'store.failed': 'retry',
  'blob.missing': 'ask',
  'blob.forged': 'ask',
  'lease.lost': 'stop',
  'tool.invalid': 'stop',
  'path.outside': 'stop',
  'files.none': 'stop',
  'files.failed': 'retry',
  'model.unknown': 'stop',
  'model.failed': 'retry',
  'server.unreachable': 'stop',
  'hands.unreachable': 'retry',
  'hands.lost': 'retry',
  'port.taken': 'stop',
  'server.closing': 'retry',
  internal: 'retry',
} as const satisfies Record<string, ErrorAction>;

export type ErrorCode = keyof typeof ERRORS;

/**
 * The one error class of the product.
 *
 * @example
 * ```ts
 * throw new OutlastError('session.stopped', 'This session was stopped.', { next: 'reopen it first' });
 * ```
 */
export class OutlastError extends Error {
  override readonly name = 'OutlastError';
  readonly code: ErrorCode;
  /** What the person or program that got this error should do now. */
  readonly next: string;

  constructor(code: ErrorCode, message: string, options: { next?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.next = options.next ?? DEFAULT_NEXT[ERRORS[code]];
  }

  get action(): ErrorAction {
    return ERRORS[this.code];
  }
}

/** What a command is refused with. */
export const refusal = (code: ErrorCode, message: string, next: string): OutlastError =>
  new OutlastError(code, message, { next });

const DEFAULT_NEXT: Record<ErrorAction, string> = {
  retry: 'try again',
  wait: 'wait and try again',
  ask: 'look at the session and decide',
  stop: 'correct the request',
};
