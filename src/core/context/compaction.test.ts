import { expect, it } from 'vitest';
import { sequence } from '../../testing/facts.ts';
import type { State } from '../state.ts';
import { compactAt, cutOf, fault, swap } from './compaction.ts';
import { compaction } from './next.ts';

/** A turn whose steps have each said so much. */
function said(steps: number, chars: number, limits = {}): State {
  let log = sequence().started({ limits }).message('Report').turn();
  for (let step = 1; step <= steps; step++) {
    log = log.reply('x'.repeat(chars)).event({ kind: 'step.started', turn: 1, step: step + 1 });
  }
  return log.state;
}

it('D2 it costs least at some 50,000 tokens for steps of 2,000, and never above its share of the window', () => {
  const at = compactAt(said(10, 6_000));
  expect(at).toBeGreaterThan(30_000);
  expect(at).toBeLessThan(65_000);
  expect(compactAt(said(10, 6_000, { windowTokens: 40_000 }))).toBeLessThanOrEqual(24_000);
  expect(compactAt(said(10, 24_000))).toBeGreaterThan(at);
  expect(compactAt(said(1, 1, { contextTokens: 9_000 }))).toBe(9_000);
});

it('D2 where a cache makes nothing cheaper a view is compacted earlier', () => {
  const s = said(10, 6_000);
  const at = (rates: { cached: number; out: number }) =>
    compactAt({ ...s, contract: { ...s.contract, rates } });
  expect(at({ cached: 0.1, out: 5 })).toBe(compactAt(s));
  expect(at({ cached: 1, out: 5 })).toBeLessThan(0.7 * compactAt(s));
  expect(at({ cached: 0, out: 5 })).toBeLessThanOrEqual(0.6 * 128_000);
});

it('D2 nothing is begun while the session rests', () => {
  const s = said(20, 6_000, { contextTokens: 9_000 });
  expect(compaction(s, s.at).choices).toMatchObject([{ kind: 'compaction.started', why: 'cost' }]);
  const rests = { ...s, turn: null };
  expect(compaction(rests, s.at).choices).toEqual([]);
});

it('D1 the newest items stay, and the last one always', () => {
  const s = said(20, 6_000, { contextTokens: 9_000 });
  const items = cutOf(s, 'cost') ?? 0;
  expect(items).toBeGreaterThan(10);
  expect(items).toBeLessThan(s.transcript.length);
  expect(cutOf(said(1, 60_000, { windowTokens: 10_000 }), 'window')).toBe(1);
});

it('D5 lines are held against what leaves', () => {
  const s = said(20, 6_000, { contextTokens: 9_000 });
  const items = cutOf(s, 'cost') ?? 0;
  const source = s.transcript[1]?.seq ?? 0;
  const of = (...lines: readonly { text: string; sources: readonly number[] }[]) =>
    swap(s, {
      items,
      lines: lines.map((line) => ({ kind: 'fact', ...line })),
      by: 'model',
      why: 'cost',
      charge: null,
    });
  expect(fault(s, of({ text: 'a page was read', sources: [source] }))).toBeNull();
  expect(fault(s, of())).toContain('empty');
  expect(fault(s, of({ text: ' ', sources: [source] }))).toContain('empty');
  expect(fault(s, of({ text: 'a page', sources: [] }))).toContain('no source');
  // What stays is no source of what leaves.
  expect(fault(s, of({ text: 'a page', sources: [s.transcript.at(-1)?.seq ?? 0] }))).toContain(
    'not in what was',
  );
  expect(fault(s, of({ text: 'x'.repeat(601), sources: [source] }))).toContain('longer than');
  const many = Array.from({ length: 61 }, () => ({ text: 'a page', sources: [source] }));
  expect(fault(s, of(...many))).toContain('61 lines');
});
