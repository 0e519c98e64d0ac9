/**
 * The words of the bench: where a worker dies, what the service can do, how its user copes, and how long things take.
 *
 * W1  A cell is one boundary, one service, one strategy and one variant; a run is a cell with a seed.
 * W2  Times are real and small. A promise of a service is kept by the service itself (`service/main.ts`), so a machine
 *     that stalls makes a fault that did not happen, never one that breaks a promise.
 */

export interface Named<Name extends string> {
  readonly name: Name;
  /** A few words for people. */
  readonly title: string;
}

/** In the order in which a job goes through them; then what can happen to the recovery itself. */
export const BOUNDARIES = [
  { name: 'clean', title: 'no crash' },
  { name: 'before-intent', title: 'before the intent is saved' },
  { name: 'intent', title: 'intent saved, nothing sent' },
  { name: 'lost', title: 'sent, lost on the way' },
  { name: 'late', title: 'sent, applied after the crash' },
  { name: 'applied', title: 'applied, no response' },
  { name: 'unsaved', title: 'response read, not saved' },
  { name: 'receipt', title: 'receipt saved, model not told' },
  { name: 'told', title: 'model told, answer not saved' },
  { name: 'answer', title: 'answer saved, nobody has seen it' },
  { name: 'surfaced', title: 'answer seen, not acknowledged' },
  { name: 'recovery', title: 'again during recovery' },
  { name: 'zombie', title: 'worker freezes, goes on after takeover' },
  { name: 'cancel', title: 'stopped in flight, then reopened' },
  { name: 'torn', title: 'power cut tears the receipt' },
] as const satisfies readonly Named<string>[];
export type Boundary = (typeof BOUNDARIES)[number]['name'];

export const SERVICES = [
  { name: 'keyed', title: 'deduplicates by key' },
  { name: 'expiring', title: 'forgets its keys' },
  { name: 'queryable', title: 'can be asked' },
  { name: 'lagging', title: 'can be asked, shows it later' },
  { name: 'cancelable', title: 'can undo' },
  { name: 'blind', title: 'none of these' },
  { name: 'batch', title: 'five at once, may do part' },
] as const satisfies readonly Named<string>[];
export type Service = (typeof SERVICES)[number]['name'];

export const STRATEGIES = [
  { name: 'outlast', title: 'Outlast: by capability' },
  { name: 'restart', title: 'start over' },
  { name: 'replay', title: 'replay the transcript' },
  { name: 'retry', title: 'send again' },
  { name: 'skip', title: 'never send again' },
  { name: 'key', title: 'always one key' },
  { name: 'query', title: 'ask at once, then send' },
  { name: 'ask', title: 'always ask a person' },
] as const satisfies readonly Named<string>[];

export const ABLATIONS = [
  { name: 'no-mark', title: 'Outlast without the durable mark of sending' },
  { name: 'no-wait', title: 'Outlast without the wait for late arrivals' },
  { name: 'no-fence', title: 'Outlast without the fence' },
  { name: 'no-expiry', title: 'Outlast that trusts keys for ever' },
  { name: 'model-key', title: 'Outlast with keys made from the content' },
] as const satisfies readonly Named<string>[];
export type Strategy = (typeof STRATEGIES)[number]['name'] | (typeof ABLATIONS)[number]['name'];

/** `two`: the identical effect is wanted twice. `long`: the worker is away for longer than keys are kept. */
export const VARIANTS = ['one', 'two', 'long'] as const;
export type Variant = (typeof VARIANTS)[number];

export interface Cell {
  readonly boundary: Boundary;
  readonly service: Service;
  readonly strategy: Strategy;
  readonly variant: Variant;
}

export const cellName = ({ strategy, service, boundary, variant }: Cell): string =>
  `${strategy} ${service} ${boundary} ${variant}`;

/** No request is applied later than this after it has arrived. */
export const LATE_MS = 500;
/** When a late request is applied, at the earliest and at the latest. */
export const LATE_FROM_MS = 300;
export const LATE_TO_MS = 420;
/** How long after it was applied the lagging service shows it. */
export const LAG_MS = 600;
/** How long the expiring service promises to know a key, and how long it does. */
export const RETENTION_MS = 2_000;
export const KEPT_MS = 2_500;
/** How long the worker is away in the variant `long`. */
export const AWAY_MS = 3_000;
/** The lease of a worker that freezes. */
export const LEASE_MS = 400;
/** A batch that is cut off gets so far. */
export const PART = 3;
export const BATCH = 5;
