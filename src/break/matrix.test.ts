/** The matrix is whole, seeds are paired, and theory has a word about every cell. */

import { describe, expect, it } from 'vitest';
import { cells, seedOf } from './matrix.ts';
import { ABLATIONS, BOUNDARIES, type Cell, cellName, SERVICES, STRATEGIES } from './terms.ts';
import { IN_DOUBT, predict } from './theory.ts';

const ALL = { strategies: [], services: [], boundaries: [], isQuick: false };

describe('the matrix', () => {
  it('has every boundary, service and strategy with one another, once', () => {
    const all = cells(ALL);
    expect(new Set(all.map(cellName)).size).toBe(all.length);
    const ones = all.filter(({ variant }) => variant === 'one');
    expect(ones).toHaveLength(BOUNDARIES.length * SERVICES.length * (STRATEGIES.length + ABLATIONS.length));
  });

  it('keeps in a short look every boundary of every service under the eight strategies', () => {
    const quick = cells({ ...ALL, isQuick: true }).filter(({ variant }) => variant === 'one');
    const own = quick.filter(({ strategy }) => STRATEGIES.some(({ name }) => name === strategy));
    expect(own).toHaveLength(BOUNDARIES.length * SERVICES.length * STRATEGIES.length);
  });

  it('takes what is chosen', () => {
    const some = cells({ ...ALL, strategies: ['retry'], services: ['blind'], boundaries: ['late'] });
    expect(some.map(cellName)).toEqual(['retry blind late one', 'retry blind late two']);
  });

  it('gives a cell the same seed under every strategy, and another in every round', () => {
    const cell: Cell = { boundary: 'late', service: 'blind', strategy: 'outlast', variant: 'one' };
    expect(seedOf(1, { ...cell, strategy: 'retry' }, 0)).toBe(seedOf(1, cell, 0));
    expect(new Set([seedOf(1, cell, 0), seedOf(1, cell, 1), seedOf(2, cell, 0)]).size).toBe(3);
  });
});

describe('theory', () => {
  const foretold = cells(ALL).map((cell) => ({ cell, predicted: predict(cell) }));
  const of = (strategy: string) => foretold.filter(({ cell }) => cell.strategy === strategy);

  it('has Outlast right everywhere, with questions only where a service cannot tell', () => {
    for (const { cell, predicted } of of('outlast')) {
      expect(predicted, cellName(cell)).toMatchObject({ duplicates: false, lost: false, untrue: false });
      const isHelpless = cell.service === 'blind' || cell.variant === 'long';
      expect(predicted.questions, cellName(cell)).toBe(isHelpless && IN_DOUBT.has(cell.boundary) ? 1 : 0);
    }
  });

  it('has something wrong for every other strategy and ablation, but for asking always', () => {
    for (const { name } of [...STRATEGIES, ...ABLATIONS]) {
      const wrong = of(name).some(
        ({ predicted: { duplicates, lost, untrue } }) => duplicates || lost || untrue,
      );
      expect(wrong, name).toBe(name !== 'outlast' && name !== 'ask');
    }
  });
});
