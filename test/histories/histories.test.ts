/** Logs that releases wrote, folded for ever: an upgrade opens every session that an earlier version left. */

import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fold } from '../../src/core/evolve.ts';
import { phase } from '../../src/core/phase.ts';
import { decode, type LogRow } from '../../src/core/upcast.ts';
import { checkLog } from '../../src/projections/invariant/invariant.ts';

const FOLDER = new URL('.', import.meta.url);

it.each(readdirSync(FOLDER).filter((name) => name.endsWith('.jsonl')))('B025 %s', (name) => {
  const rows = readFileSync(new URL(name, FOLDER), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LogRow);
  const events = rows.map(decode);
  expect(events.filter((event) => event.kind === 'foreign')).toEqual([]);
  expect(checkLog(events)).toEqual([]);
  const state = fold(events);
  expect(phase(state)).toBe('stopped');
  expect(state.turns).toBe(3);
  expect(state.effects.closed.every((effect) => effect.status === 'done')).toBe(true);
  expect(state.lastTurn?.text).toContain('was mailed to the owner');
});
