/**
 * Which cells there are: every boundary, service and strategy that have something to say to each other, named once.
 * Seeds are paired: the n-th run of a cell has the same seed under every strategy.
 */

import { sha256 } from '../lib/digest.ts';
import {
  ABLATIONS,
  BOUNDARIES,
  type Boundary,
  type Cell,
  SERVICES,
  type Service,
  STRATEGIES,
  type Strategy,
  VARIANTS,
} from './terms.ts';

export interface Selection {
  /** Empty: all. */
  readonly strategies: readonly string[];
  readonly services: readonly string[];
  readonly boundaries: readonly string[];
  /** Without what a short look can leave out: ablations and variants only where theory says that they differ. */
  readonly isQuick: boolean;
}

export function cells(selection: Selection): readonly Cell[] {
  const chosen = <Name extends string>(
    all: readonly { name: Name }[],
    wanted: readonly string[],
  ): readonly Name[] =>
    all.map(({ name }) => name).filter((name) => wanted.length === 0 || wanted.includes(name));
  const strategies: readonly Strategy[] = chosen([...STRATEGIES, ...ABLATIONS], selection.strategies);
  const services = chosen(SERVICES, selection.services);
  const boundaries = chosen(BOUNDARIES, selection.boundaries);
  return boundaries.flatMap((boundary) =>
    services.flatMap((service) =>
      strategies.flatMap((strategy) =>
        VARIANTS.map((variant) => ({ boundary, service, strategy, variant })).filter(
          (cell) => isMeant(cell) && (!selection.isQuick || isTelling(cell)),
        ),
      ),
    ),
  );
}

/** A batch is five already. Only what forgets makes a long absence another thing. */
function isMeant({ boundary, service, variant }: Cell): boolean {
  if (variant === 'two') return service !== 'batch';
  if (variant === 'long') return service === 'expiring' && boundary !== 'clean';
  return true;
}

const isAblation = (strategy: Strategy): boolean => ABLATIONS.some(({ name }) => name === strategy);
/** Where an ablation is to show, and one service where it is not. */
function isItsOwn(strategy: Strategy, boundary: Boundary, service: Service): boolean {
  if (service === 'batch') return false;
  if (strategy === 'no-fence') return boundary === 'zombie';
  if (strategy === 'no-wait') return boundary === 'late';
  return boundary === 'applied' || boundary === 'lost';
}

const FEW: ReadonlySet<Boundary> = new Set(['clean', 'late', 'applied', 'zombie']);
const SOME: ReadonlySet<Service> = new Set(['keyed', 'lagging', 'blind']);

function isTelling({ boundary, service, strategy, variant }: Cell): boolean {
  if (isAblation(strategy))
    return isItsOwn(strategy, boundary, service) && variant === (strategy === 'no-expiry' ? 'long' : 'two');
  if (variant === 'one') return true;
  if (variant === 'long') return boundary === 'applied' || boundary === 'lost';
  return FEW.has(boundary) && SOME.has(service) && strategy === 'outlast';
}

/** The same for all strategies, another for each round. */
export const seedOf = (seed: number, { boundary, service, variant }: Cell, round: number): number =>
  Number.parseInt(sha256(`${seed} ${boundary} ${service} ${variant} ${round}`).slice(0, 8), 16);
