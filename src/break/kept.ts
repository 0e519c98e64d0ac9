/** The results as a file to keep: what people look at first, then a line for each cell, without what is nothing. */

import type { CellFigures, Results } from './report.ts';

export function kept({ cells, ...rest }: Results): string {
  const head = JSON.stringify(rest, null, 2).slice(0, -2);
  return `${head},\n  "cells": [\n${cells.map((cell) => `    ${line(cell)}`).join(',\n')}\n  ]\n}\n`;
}

function line({ predicted: _, ...cell }: CellFigures): string {
  return JSON.stringify(Object.fromEntries(Object.entries(cell).filter(([, value]) => value !== 0)));
}
