import { describe, expect, it } from 'vitest';
import type { ReplyPart } from '../port.ts';
import type { FinishReason, StreamPart } from './interface.ts';
import { newDraft, take, toReply } from './reply.ts';

const usage = { inputTokens: { total: 3, cacheRead: undefined }, outputTokens: { total: undefined } };
const end = (unified: FinishReason['unified'], raw?: string): StreamPart => ({
  type: 'finish',
  finishReason: { unified, raw },
  usage,
});
const call = (toolCallId: string, toolName: string, input: string): StreamPart => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input,
});

function reply(...parts: StreamPart[]) {
  const draft = newDraft();
  for (const part of parts) take(draft, part);
  return toReply(draft);
}

const partsOf = (...parts: StreamPart[]) => {
  const result = reply(...parts);
  return 'incomplete' in result ? result : result.parts;
};

describe('reply', () => {
  it('R1 puts a call after the text that began before it, also when the text ends later', () => {
    const parts = partsOf(
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'I ' },
      { type: 'tool-input-start', id: 'a', toolName: 'read' },
      call('a', 'read', '{}'),
      { type: 'text-delta', id: '0', delta: 'read.' },
      { type: 'text-end', id: '0' },
      end('tool-calls'),
    );
    expect(parts).toMatchObject([{ type: 'text', text: 'I read.' }, { type: 'tool-call' }]);
  });

  it('R1 makes new parts when a wire uses one id for all', () => {
    const text = (delta: string): StreamPart[] => [
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta },
      { type: 'text-end', id: 't' },
    ];
    const thought: StreamPart[] = [
      { type: 'reasoning-start', id: 't' },
      { type: 'reasoning-delta', id: 't', delta: 'b' },
    ];
    expect(partsOf(...text('a'), ...thought, ...text('c'), end('stop'))).toMatchObject([
      { type: 'text', text: 'a' },
      { type: 'reasoning', text: 'b' },
      { type: 'text', text: 'c' },
    ]);
  });

  it('R2 gathers metadata from start, deltas and end; what is no JSON goes', () => {
    const parts = partsOf(
      {
        type: 'reasoning-start',
        id: 'r',
        providerMetadata: { p: { itemId: 'i', seal: 'early', gone: undefined } },
      },
      { type: 'reasoning-delta', id: 'r', delta: '', providerMetadata: { q: { a: 1 } } },
      { type: 'reasoning-end', id: 'r', providerMetadata: { p: { seal: 'final' } } },
      end('stop'),
    );
    const meta = { p: { itemId: 'i', seal: 'final' }, q: { a: 1 } };
    expect(parts).toEqual([{ type: 'reasoning', text: '', meta }]);
  });

  it('R3 B179 breaks calls whose arguments are no object, have no end or were cut', () => {
    const broken = (...parts: StreamPart[]) =>
      [partsOf(...parts)].flat().map((part) => 'broken' in part && part.broken);
    expect(
      broken(call('a', 't', '[1]'), call('b', 't', '"x"'), call('c', 't', '{"a":'), end('tool-calls')),
    ).toEqual([
      'the arguments are no JSON object',
      'the arguments are no JSON object',
      'the arguments are no valid JSON',
    ]);
    expect(broken({ type: 'tool-input-start', id: 'a', toolName: 't' }, end('stop'))).toEqual([
      'the arguments have no end',
    ]);
    // The SDK makes `{}` of arguments that were cut before their first letter.
    expect(broken(call('a', 't', '{"x":1}'), call('b', 't', '{}'), end('length', 'max'))).toHaveLength(2);
    expect(broken(call('a', 't', '{"x":1}'), end('content-filter'))).toEqual([expect.any(String)]);
    expect(partsOf(call('a', 't', ' '), end('tool-calls'))).toEqual([
      { type: 'tool-call', tool: 't', input: {} },
    ]);
  });

  it('R4 B053 gives no reply without a reason for the end', () => {
    const text: StreamPart = { type: 'text-delta', id: '0', delta: 'x' };
    expect(reply(text)).toHaveProperty('incomplete');
    expect(reply(text, end('other'))).toHaveProperty('incomplete');
    expect(reply(text, end('error', 'MALFORMED'))).toHaveProperty('incomplete');
    expect(reply(text, end('interrupted'))).toHaveProperty('incomplete');
    expect(reply(text, end('tool-calls'))).toHaveProperty('incomplete');
    expect(reply(text, end('other', 'compaction'))).toMatchObject({ finish: 'other' });
  });

  it('says how it ended, by what it holds', () => {
    const finish = (...parts: StreamPart[]) => {
      const result = reply(...parts);
      return 'finish' in result && result.finish;
    };
    expect(finish(end('stop'))).toBe('stop');
    expect(finish(call('a', 't', '{}'), end('stop'))).toBe('tool-calls');
    expect(finish(call('a', 't', '{}'), end('other', 'eos'))).toBe('tool-calls');
    expect(finish(end('length'))).toBe('length');
    expect(finish(end('content-filter'))).toBe('refusal');
    expect(reply(end('stop'))).toMatchObject({ usage: { inputTokens: 3, outputTokens: 0, cachedTokens: 0 } });
  });

  it('R5 B107 keeps calls apart whose ids are empty or the same', () => {
    const parts = partsOf(
      { type: 'tool-input-start', id: '', toolName: 'read' },
      { type: 'tool-input-start', id: '', toolName: 'read' },
      { type: 'tool-input-start', id: '', toolName: 'write' },
      call('', 'read', '{"n":1}'),
      call('', 'write', '{"n":3}'),
      call('', 'read', '{"n":2}'),
      call('', 'read', '{"n":4}'),
      end('tool-calls'),
    );
    expect(parts).toMatchObject([1, 2, 3, 4].map((n) => ({ input: { n } })));
  });

  it('R6 leaves out what the provider ran itself, and kinds it does not know', () => {
    const parts = partsOf(
      { type: 'tool-input-start', id: 'w', toolName: 'web', providerExecuted: true },
      { ...call('w', 'web', '{}'), providerExecuted: true } as StreamPart,
      { type: 'tool-result', toolCallId: 'w', toolName: 'web', result: {} } as unknown as StreamPart,
      { type: 'custom', kind: 'a.b' } as unknown as StreamPart,
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'found' },
      end('stop'),
    );
    expect(parts).toEqual([{ type: 'text', text: 'found' }]);
  });

  it('R7 keeps files byte for byte, in their places, with their metadata; sources for people', () => {
    const bytes = Uint8Array.from([137, 80, 78, 71, 0, 255]);
    const data = Buffer.from(bytes).toString('base64');
    const meta = { google: { thoughtSignature: 'sig==' } };
    const file = (more: object) =>
      ({ type: 'file', mediaType: 'image/png', ...more }) as unknown as StreamPart;
    const parts = partsOf(
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'Here:' },
      file({ data, providerMetadata: meta }),
      file({ data: bytes }),
      file({ data: { type: 'data', data }, type: 'reasoning-file' }),
      { type: 'source', sourceType: 'url', id: 's', url: 'http://x', title: 'X' } as unknown as StreamPart,
      end('stop'),
    );
    const kept = { type: 'file', mediaType: 'image/png', data: bytes };
    expect(parts).toEqual([
      { type: 'text', text: 'Here:' },
      { ...kept, meta },
      kept,
      kept,
      { type: 'source', title: 'X', url: 'http://x' },
    ]);
  });

  it('R7 tells in words of a file that cannot be kept: too large, or an address only', () => {
    const file = (data: unknown) => ({ type: 'file', mediaType: 'image/png', data }) as unknown as StreamPart;
    const parts = partsOf(
      file(new Uint8Array(5 * 1024 * 1024 + 1)),
      file({ type: 'url', url: new URL('http://x/y') }),
      end('stop'),
    );
    expect(parts).toMatchObject([
      { type: 'text', text: '[image, png, 5.0 MB: too large to keep, 5.0 MB is the most.]' },
      { type: 'text', text: expect.stringContaining('as an address only') },
    ]);
    const four = new Uint8Array(4 * 1024 * 1024);
    const many = partsOf(file(four), file(four), file(four), file(four), end('stop')) as readonly ReplyPart[];
    expect(many.map((part) => part.type)).toEqual(['file', 'file', 'file', 'text']);
  });
});
