/** Limits as people write them: `usd=2,tokens=100000,steps=50,minutes=30`; `none` lifts one. */

import type { Budget, BudgetChange, What } from '../core/budget/budget.ts';
import { UsageError } from './exit.ts';

const UNITS: Readonly<Record<string, { readonly what: What; readonly by: number }>> = {
  usd: { what: 'microUsd', by: 1_000_000 },
  tokens: { what: 'tokens', by: 1 },
  steps: { what: 'steps', by: 1 },
  minutes: { what: 'ms', by: 60_000 },
};

export function parseChange(text: string): BudgetChange {
  const change: { [One in What]?: number | null } = {};
  for (const part of text.split(',')) {
    const [name = '', value = '', ...more] = part.trim().split('=');
    const unit = Object.hasOwn(UNITS, name) ? UNITS[name] : undefined;
    const isNumber = /^\d+(\.\d+)?$/.test(value);
    if (!unit || more.length > 0 || (value !== 'none' && !isNumber)) throw wrong(part);
    change[unit.what] = value === 'none' ? null : Math.round(Number(value) * unit.by);
  }
  return change;
}

/** Of a new session, which has no limit that could be lifted. */
export function parseBudget(text: string): Budget {
  const limits = Object.entries(parseChange(text)).filter(([, limit]) => limit !== null);
  return Object.fromEntries(limits);
}

const wrong = (part: string): UsageError =>
  new UsageError(`"${part}" is no limit.`, 'write usd=2,tokens=100000,steps=50,minutes=30');
