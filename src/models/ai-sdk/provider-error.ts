/**
 * Whatever a provider or the network throws -> ModelError, whose code says what the runtime will do.
 *
 * E1  A definite status decides; without one, the machine-readable kind in the error's body. Prose is never parsed.
 * E2  A failure inside a stream that had begun is worth another try unless the provider says otherwise: it answers 200
 *     first and is overloaded, or cut off, later.
 * E3  The text holds no key and no header. The cause is left out for the same reason: the SDK's errors carry the whole
 *     request, and Node's carry the header that it could not send.
 */

import { isRecord, parseJson } from '../../lib/json.ts';
import { oneLine } from '../../lib/text.ts';
import { ModelError, type ModelErrorCode } from '../port.ts';

export interface Circumstances {
  /** The model's name, for the text. */
  readonly name: string;
  /** Text that was already shown. */
  readonly partial: string;
  /** Whether the stream had begun. */
  readonly streaming: boolean;
  /** Strings that must not appear in the text. */
  readonly secrets: readonly string[];
  /** Milliseconds since the epoch, for a `retry-after` that is a date. */
  readonly now: number;
}

export function toModelError(error: unknown, at: Circumstances): ModelError {
  const fault = read(error);
  const { code, retry } = judge(fault, at.streaming);
  const status = fault.status === undefined ? '' : ` (${fault.status})`;
  const detail = oneLine(redact(fault.message, at.secrets), 400);
  return new ModelError(code, `${at.name} ${SAYS[code]}${status}: ${detail}`, {
    retry,
    retryAfterMs: retryAfterMs(fault, at.now),
    partial: at.partial,
  });
}

type Code = Exclude<ModelErrorCode, 'aborted'>;

const SAYS: Record<Code, string> = {
  incomplete: 'did not end its reply properly',
  overloaded: 'is overloaded or failing',
  rate_limited: 'limits our rate',
  unreachable: 'cannot be reached',
  refused_request: 'refuses this request',
  unauthorized: 'refuses our key',
  failed: 'could not be called',
};

interface Fault {
  /** An HTTP error status, from the response or from inside the stream. */
  readonly status: number | undefined;
  /** Types and codes of the provider's error, lower case. */
  readonly kind: string;
  readonly message: string;
  readonly headers: { readonly [name: string]: unknown };
  readonly body: string;
  readonly source: Source;
}

/** The provider said it, the network failed, a response that began well was cut, or our own side threw. */
type Source = 'said' | 'network' | 'cut' | 'thrown';

function read(error: unknown): Fault {
  const outer = isRecord(error) ? error : { message: String(error) };
  const body = typeof outer.responseBody === 'string' ? outer.responseBody : '';
  // `value` is an event that the SDK could not make sense of, say an error in another shape.
  const bodies = [
    outer.data,
    parseJson(body),
    outer.value,
    error instanceof Error ? undefined : error,
  ].flatMap(layers);
  const kinds = bodies.flatMap((layer) => [layer.type, layer.code, layer.status]);
  const given = outer.statusCode ?? kinds.find((kind) => isErrorStatus(Number(kind)));
  const status = isErrorStatus(Number(given)) ? Number(given) : undefined;
  return {
    status,
    kind: kinds
      .filter((kind) => typeof kind === 'string')
      .join(' ')
      .toLowerCase(),
    message: messageOf(outer, bodies, body),
    headers: isRecord(outer.responseHeaders) ? outer.responseHeaders : {},
    body,
    source: sourceOf(error),
  };
}

function judge(fault: Fault, streaming: boolean): { code: Code; retry: boolean } {
  // No money left: the status is that of a rate limit, but waiting does not help.
  if (fault.kind.includes('insufficient_quota')) return { code: 'rate_limited', retry: false };
  const code = byStatus(fault.status) ?? byKind(fault.kind) ?? bySource(fault, streaming);
  return { code, retry: RETRY.has(code) };
}

const RETRY: ReadonlySet<Code> = new Set(['incomplete', 'overloaded', 'rate_limited', 'unreachable']);

function byStatus(status: number | undefined): Code | undefined {
  // 500 is also what the SDK puts where the provider gave no status; the kind may know better.
  if (status === undefined || status === 500) return undefined;
  if (status === 429) return 'rate_limited';
  if (status === 401 || status === 403) return 'unauthorized';
  if (status > 500 || status === 408 || status === 409 || status === 425) return 'overloaded';
  return 'refused_request';
}

const KINDS: readonly (readonly [RegExp, Code])[] = [
  [/rate_limit|resource_exhausted|too_many/, 'rate_limited'],
  [/overload|unavailable|server_error|api_error|internal|timeout|deadline/, 'overloaded'],
  [/authentication|permission|unauthenticated|api_key/, 'unauthorized'],
  [/invalid|bad_request|not_found|context_length|too_large|failed_precondition|billing/, 'refused_request'],
];

function byKind(kind: string): Code | undefined {
  return KINDS.find(([pattern]) => pattern.test(kind))?.[1];
}

function bySource({ source, status }: Fault, streaming: boolean): Code {
  if (status !== undefined || (streaming && source === 'said')) return 'overloaded';
  if (streaming || source === 'cut') return 'incomplete';
  return source === 'network' ? 'unreachable' : 'failed';
}

function sourceOf(error: unknown): Source {
  if (!(error instanceof Error)) return 'said';
  const { statusCode } = error as { statusCode?: unknown };
  if (typeof statusCode === 'number' && statusCode < 300) return 'cut';
  return isOfNetwork(error) ? 'network' : 'thrown';
}

/** Node tells by a code, often of a cause: `ECONNREFUSED`, `UND_ERR_SOCKET`. */
function isOfNetwork(error: Error): boolean {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && /^(E[A-Z]+$|UND_ERR_)/.test(code)) return true;
  return error.cause instanceof Error && isOfNetwork(error.cause);
}

/** How long the provider asks us to wait, if it says so. */
function retryAfterMs({ headers, body }: Fault, now: number): number | null {
  const inMs = Number.parseFloat(String(headers['retry-after-ms']));
  if (Number.isFinite(inMs)) return Math.max(0, inMs);
  const after = String(headers['retry-after'] ?? '').trim();
  if (/^\d+(\.\d+)?$/.test(after)) return Number(after) * 1000;
  const date = Date.parse(after);
  if (Number.isFinite(date)) {
    // By the provider's own clock where it shows it; ours may be off.
    const theirs = Date.parse(String(headers.date));
    return Math.max(0, date - (Number.isFinite(theirs) ? theirs : now));
  }
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1]; // Google says it in the body.
  return delay === undefined ? null : Number(delay) * 1000;
}

type Layer = { readonly [key: string]: unknown };

/** An error's body and what it wraps: `{ error: { … } }`, `{ response: { error: { … } } }`. */
function layers(body: unknown): Layer[] {
  if (!isRecord(body)) return [];
  return [body, ...layers(body.error), ...layers(body.response)];
}

function messageOf(outer: Layer, bodies: readonly Layer[], body: string): string {
  const said = bodies.map((layer) => layer.message).find((text) => typeof text === 'string' && text !== '');
  const own = typeof outer.message === 'string' ? outer.message : '';
  const known = typeof said === 'string' ? said : own;
  // Servers that word their errors in another shape: better their bytes than only "Bad Request".
  return typeof said === 'string' || body === '' ? known || 'no more is known' : `${known} ${body}`;
}

function redact(text: string, secrets: readonly string[]): string {
  const known = secrets.filter((secret) => secret.length >= 4);
  const clean = known.reduce((left, secret) => left.replaceAll(secret, '[key]'), text);
  return clean.replace(KEY_LIKE, '[key]').replace(/\/\/[^/\s@]+@/g, '//');
}

const KEY_LIKE = /\bBearer\s+[^\s"',;]+|\b(sk|pk|gsk|xai|key)-[\w*-]{8,}|\bAIza[\w-]{20,}/gi;

function isErrorStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 400 && status <= 599;
}
