/**
 * What theory says of each cell, before anything is run. `bench/break/predictions.md` has the same in words, and a test
 * holds the two together. The program compares every cell with it.
 *
 * The argument is short. After the crash an effect is in one of four places: never sent, sent and never to arrive, sent
 * and still to arrive, applied. A strategy is what it does without knowing which. The log tells the first one from the
 * others only before the mark, and the last one from the others only after the receipt.
 */

import type { Boundary, Cell, Service, Strategy } from './terms.ts';

export interface Prediction {
  /** Whether the books show an effect more often than wanted. */
  readonly duplicates: boolean;
  readonly lost: boolean;
  /** Whether somebody is told what the books contradict. */
  readonly untrue: boolean;
  readonly questions: number;
}

const FINE: Prediction = { duplicates: false, lost: false, untrue: false, questions: 0 };
const TWICE: Prediction = { ...FINE, duplicates: true, untrue: true };
const MISSING: Prediction = { ...FINE, lost: true };

/** The log cannot tell whether it was applied: it was marked as sent, and there is no receipt. */
export const IN_DOUBT: ReadonlySet<Boundary> = new Set([
  'intent',
  'lost',
  'late',
  'applied',
  'unsaved',
  'recovery',
  'zombie',
  'cancel',
  'torn',
]);

/** Of these, where it was applied, or will be. */
export const APPLIED: ReadonlySet<Boundary> = new Set([
  'late',
  'applied',
  'unsaved',
  'recovery',
  'cancel',
  'torn',
]);

/** There is a receipt, so whoever reads it does not send again. */
const RECEIVED: ReadonlySet<Boundary> = new Set(['receipt', 'told', 'answer', 'surfaced']);

/** Services that can be asked for one effect, at least in the end. */
const ASKABLE: ReadonlySet<Service> = new Set(['queryable', 'lagging', 'cancelable', 'batch']);

export function predict(cell: Cell): Prediction {
  const { boundary, service, strategy, variant } = cell;
  if (strategy === 'model-key') return modelKey(cell);
  if (boundary === 'clean') return FINE;
  const isApplied = APPLIED.has(boundary);
  const items = service === 'batch' ? 5 : 1;
  switch (strategy) {
    case 'outlast':
      return byCapability(cell);
    case 'restart':
      // All that was done is done again; and nothing keeps a frozen worker from going on beside its successor.
      return isApplied || RECEIVED.has(boundary) || boundary === 'zombie' ? TWICE : FINE;
    case 'replay':
      return isApplied || boundary === 'zombie' ? TWICE : FINE;
    case 'retry':
      return isApplied ? TWICE : FINE;
    case 'skip':
      if (!IN_DOUBT.has(boundary)) return FINE;
      // Told as not done. Of a batch that was cut off, part is there and part is not.
      if (!isApplied) return MISSING;
      return isCutOff(cell) ? { ...FINE, lost: true, untrue: true } : { ...FINE, untrue: true };
    case 'key':
      if (service === 'keyed') return FINE;
      if (service === 'expiring') return isApplied && variant === 'long' ? TWICE : FINE;
      return isApplied ? TWICE : FINE;
    case 'query':
      if (!ASKABLE.has(service)) return isApplied ? TWICE : FINE;
      if (service === 'lagging') return isApplied ? TWICE : FINE;
      return boundary === 'late' ? TWICE : FINE;
    case 'ask':
      return IN_DOUBT.has(boundary) ? { ...FINE, questions: items } : FINE;
    case 'no-mark':
      return noMark(cell);
    case 'no-wait':
      if (service === 'lagging' && isApplied) return TWICE;
      return ASKABLE.has(service) && boundary === 'late' ? TWICE : byCapability(cell);
    case 'no-fence':
      // The zombie sends after all; a key is the only thing that still stops it.
      if (boundary !== 'zombie') return byCapability(cell);
      return service === 'keyed' || service === 'expiring'
        ? byCapability(cell)
        : { ...byCapability(cell), duplicates: true, untrue: true };
    case 'no-expiry':
      if (service !== 'expiring' || variant !== 'long') return byCapability(cell);
      return isApplied ? TWICE : FINE;
  }
}

/** Nothing done twice, lost or told wrongly; a question where neither log nor service can tell. */
function byCapability({ boundary, service, variant }: Cell): Prediction {
  const isHelpless = service === 'blind' || (service === 'expiring' && variant === 'long');
  return isHelpless && IN_DOUBT.has(boundary) ? { ...FINE, questions: 1 } : FINE;
}

/** What was sent counts as never sent, until the next commit makes the mark durable: a stop, or a receipt that tears. */
function noMark(cell: Cell): Prediction {
  const { boundary, service, variant } = cell;
  if (boundary === 'cancel' || boundary === 'torn') return byCapability(cell);
  const dedupes = service === 'keyed' || (service === 'expiring' && variant !== 'long');
  return APPLIED.has(boundary) && !dedupes ? TWICE : FINE;
}

/** Two identical effects have one key: the second is swallowed where keys count, whether anything crashes or not. */
function modelKey(cell: Cell): Prediction {
  const { boundary, service, variant } = cell;
  const swallows = variant === 'two' && (service === 'keyed' || service === 'expiring');
  if (boundary === 'clean') return swallows ? { ...FINE, lost: true, untrue: true } : FINE;
  return swallows ? { ...byCapability(cell), lost: true, untrue: true } : byCapability(cell);
}

const isCutOff = ({ service, boundary }: Cell): boolean =>
  service === 'batch' && (boundary === 'applied' || boundary === 'recovery' || boundary === 'cancel');

/** In words, one for each strategy; the predictions page has them. */
export const BECAUSE: Readonly<Record<Strategy, string>> = {
  outlast: 'The receipt, the key, the service or a person tells; it waits until nothing can arrive any more.',
  restart: 'Knows nothing of the life before: whatever was done is done again, under new keys.',
  replay: 'Knows what the transcript has. A request without its result is made again, under a new key.',
  retry: 'A request without its answer is sent again, whatever became of it.',
  skip: 'A request without its answer counts as not done: missing where it was not, untrue where it was.',
  key: 'Right where the service deduplicates, and while it remembers; elsewhere a key is a word.',
  query: 'Asks too early: what is still on its way, or not shown yet, is taken for absent.',
  ask: 'A person always knows in the end; it costs a question each time.',
  'no-mark': 'What was sent looks as if it had never been.',
  'no-wait': 'The naive query again.',
  'no-fence': 'A worker that was replaced sends what it had in hand.',
  'no-expiry': 'The key is believed after the service has forgotten it.',
  'model-key': 'A wanted repeat looks like a retry and is swallowed.',
};
