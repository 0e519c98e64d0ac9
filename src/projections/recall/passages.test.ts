import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Event, EventBody } from '../../core/event.ts';
import { sequence } from '../../testing/facts.ts';
import { type Passage, partsIn, passagesOf, textOf } from './passages.ts';

const none = (): boolean => false;
const event = (body: EventBody, seq = 41): Event => ({ ...body, seq, at: 1_000 }) as Event;
const message = (text: string): Event =>
  event({
    kind: 'message.accepted',
    ...{ message: 'm1' as never, key: null, text, images: [], when: 'next', rule: '' },
  });
const settled = (result: string): Event =>
  event({ kind: 'effect.settled', effect: 'e1' as never, attempt: 1, outcome: { status: 'done', result } });

describe('passages', () => {
  it('A2 are the text of their event, without a gap, whole characters each', () => {
    const pieces = fc.array(
      fc.oneof(
        fc.constantFrom('word ', '\n', '😀', 'é', ' ', 'x'.repeat(700), '😀'.repeat(900)),
        fc.string({ unit: 'grapheme' }),
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(pieces, (texts) => {
        const said = message(texts.join(''));
        const parts = partsIn(said);
        expect(parts.map(({ text }) => text).join('')).toBe(textOf(said));
        for (const { text, from } of parts) {
          expect(textOf(said).slice(from, from + text.length)).toBe(text);
          expect(text.length).toBeLessThanOrEqual(1_200);
          expect(text).not.toMatch(/[\ud800-\udbff]$/);
        }
        expect(parts.map(({ part }) => part)).toEqual(parts.map((_, at) => at + 1));
      }),
    );
  });

  it('A2 are cut at a line where there is one', () => {
    const lines = `${'a'.repeat(900)}\n${'b'.repeat(900)}`;
    expect(partsIn(message(lines)).map(({ text }) => text)).toEqual([
      `${'a'.repeat(900)}\n`,
      'b'.repeat(900),
    ]);
  });

  it('A3 say once what a session says twice', () => {
    const log = sequence()
      .started()
      .acquired(1)
      .message('Report on February')
      .turn()
      .effect({ kind: 'read' }, 'pay')
      .settled({ paid: 'rent' })
      .event({ kind: 'step.started', turn: 1, step: 2 })
      .reply('February is done.')
      .surfaced('February is done.');
    const found = log.events.flatMap((one) => passagesOf(one, none));
    expect(found.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      'message: Report on February',
      'call: pay {"what":"rent"}',
      'result: {"paid":"rent"}',
      'response: February is done.',
    ]);
    const echo = log.events.at(-1) as Event;
    expect(textOf(echo)).toBe('February is done.');
  });

  it('A3 are not made of what was recalled', () => {
    expect(passagesOf(settled('#3 message'), none)).toHaveLength(1);
    expect(passagesOf(settled('#3 message'), (effect) => effect === 'e1')).toEqual([]);
  });

  it('A4 hold no reasoning and no file', () => {
    const parts = [
      { type: 'reasoning', text: 'hidden thoughts' },
      { type: 'file', mediaType: 'image/png', digest: 'd', bytes: 1, blob: 'b' },
      { type: 'text', text: 'seen' },
    ] as never;
    const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
    const reply = event({
      kind: 'model.completed',
      ...{ turn: 1, step: 1, model: 'm', parts, finish: 'stop', usage, cost: null, ms: 0 },
    });
    expect(textOf(reply)).toBe('seen');
  });

  it('name a call before what it says of itself, and number the parts across both', () => {
    const parts = [
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', call: 'call_1', tool: 'code', input: { source: 'const a = 1;\na' } },
    ] as never;
    const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
    const reply = event({
      kind: 'model.completed',
      ...{ turn: 1, step: 1, model: 'm', parts, finish: 'tool-calls', usage, cost: null, ms: 0 },
    });
    const cited = ({ part, kind, from, text }: Passage) => [part, kind, from, text];
    expect(partsIn(reply).map(cited)).toEqual([
      [1, 'reply', 0, 'I look.'],
      [2, 'call', 8, 'code const a = 1;\na'],
    ]);
    expect(textOf(reply)).toBe('I look.\ncode const a = 1;\na');
  });
});
