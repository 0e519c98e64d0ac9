import { describe, expect, it } from 'vitest';
import type { CallId } from '../../core/ids.ts';
import type { RequestPart as Part, RequestMessage } from '../../core/message.ts';
import { toCall } from './prompt.ts';

const call = (n: number): CallId => `call_${n}` as CallId;
const user = (text: string): RequestMessage => ({ role: 'user', text });
const assistant = (...parts: Part[]): RequestMessage => ({ role: 'assistant', parts });

const promptOf = (...messages: RequestMessage[]) => toCall({ system: '', tools: [], messages }).prompt;

describe('prompt', () => {
  it('P1 leaves out what is empty, and only that', () => {
    const hidden: Part = { type: 'reasoning', text: '', meta: { anthropic: { redactedData: 'x' } } };
    const said = promptOf(user(''), user(' '), assistant(), assistant(hidden, { type: 'text', text: 'a' }));
    expect(said).toMatchObject([
      { role: 'assistant', content: [{ type: 'reasoning' }, { type: 'text', text: 'a' }] },
    ]);
    expect(toCall({ system: ' ', tools: [], messages: [] })).toEqual({ prompt: [] });
  });

  it('P2 sends metadata back as it came, of whatever provider', () => {
    const meta = {
      openai: { itemId: 'rs_1', reasoningEncryptedContent: 'abc' },
      other: { a: [1, null, { b: '' }] },
    };
    const [message] = promptOf(
      assistant({ type: 'reasoning', text: 'x', meta }, { type: 'text', text: 'y', meta }),
    );
    expect(message?.content).toMatchObject([{ providerOptions: meta }, { providerOptions: meta }]);
  });

  it('P2 B020 never changes a thought: one that is no valid text goes as a whole', () => {
    const seal = { anthropic: { signature: 's' } };
    const [message] = promptOf(
      assistant(
        { type: 'reasoning', text: 'cut \ud83d', meta: seal },
        { type: 'reasoning', text: ' whole\n\u{1f600} ', meta: seal },
        { type: 'text', text: 'a' },
      ),
    );
    expect(message?.content).toMatchObject([{ text: ' whole\n\u{1f600} ' }, { text: 'a' }]);
  });

  it('P3 leaves out reasoning that nothing follows', () => {
    const thought: Part = { type: 'reasoning', text: 'hm' };
    expect(promptOf(assistant(thought))).toEqual([]);
    const [message] = promptOf(assistant({ type: 'text', text: 'a' }, thought, thought));
    expect(message?.content).toMatchObject([{ type: 'text' }]);
  });

  it('P4 B107 names a call and its result by our id', () => {
    const messages = promptOf(
      assistant({
        type: 'tool-call',
        call: call(7),
        tool: 't',
        input: {},
        meta: { openai: { itemId: 'fc_1' } },
      }),
      { role: 'tool', results: [{ call: call(7), tool: 't', status: 'done', text: 'x' }] },
    );
    const id = { toolCallId: 'call_7', toolName: 't' };
    expect(messages).toMatchObject([{ content: [id] }, { content: [id] }]);
  });

  it('P5 B027 replaces halves of surrogate pairs, and keeps pairs', () => {
    const half = 'a\ud83d';
    const messages = promptOf(
      user(`${half}b`),
      assistant({
        type: 'tool-call',
        call: call(1),
        tool: 't',
        input: { [half]: [half, '\u{1f600}', 1, null] },
      }),
      { role: 'tool', results: [{ call: call(1), tool: 't', status: 'done', text: '\ude00z' }] },
    );
    expect(messages).toMatchObject([
      { content: [{ text: 'a\ufffdb' }] },
      { content: [{ input: { 'a\ufffd': ['a\ufffd', '\u{1f600}', 1, null] } }] },
      { content: [{ output: { value: '\ufffdz' } }] },
    ]);
  });

  it('P5 B011 sends a broken call with arguments that are an object', () => {
    const broken: Part = { type: 'tool-call', call: call(1), tool: 't', input: { half: 1 }, broken: 'cut' };
    const list: Part = { type: 'tool-call', call: call(2), tool: 't', input: [1] };
    expect(promptOf(assistant(broken, list))).toMatchObject([{ content: [{ input: {} }, { input: {} }] }]);
  });

  it('P6 makes names that a model made up fit for the wire', () => {
    const names = ['functions.read file', '', 'x'.repeat(99)];
    const parts = names.map((tool, n): Part => ({ type: 'tool-call', call: call(n), tool, input: {} }));
    const results = names.map((tool, n) => ({ call: call(n), tool, status: 'refused' as const, text: 'no' }));
    const wire = [{ toolName: 'functions_read_file' }, { toolName: 'unnamed' }, { toolName: 'x'.repeat(64) }];
    expect(promptOf(assistant(...parts), { role: 'tool', results })).toMatchObject([
      { content: wire },
      { content: wire },
    ]);
  });

  it('says failed and refused as errors, unknown and the rest as text', () => {
    const statuses = ['done', 'failed', 'unknown', 'refused', 'interrupted', 'suspended'] as const;
    const results = statuses.map((status, n) => ({ call: call(n), tool: 't', status, text: status }));
    const [message] = promptOf({ role: 'tool', results });
    const types = message?.role === 'tool' ? message.content.map(({ output }) => output.type) : [];
    expect(types).toEqual(['text', 'error-text', 'text', 'error-text', 'text', 'text']);
  });

  it('P7 puts images behind their words, wrapped for version 4', () => {
    const data = Uint8Array.from([137, 80, 78, 71]);
    const said: RequestMessage = { role: 'user', text: 'look', images: [{ mediaType: 'image/png', data }] };
    const text = { type: 'text', text: 'look' };
    expect(promptOf(said)).toMatchObject([
      { role: 'user', content: [text, { type: 'file', mediaType: 'image/png', data }] },
    ]);
    const dialect = { takesModelFiles: false, tagsBytes: true };
    expect(toCall({ system: '', tools: [], messages: [said] }, dialect).prompt).toMatchObject([
      { content: [text, { type: 'file', data: { type: 'data', data } }] },
    ]);
  });

  it('P7 gives a model its own file back only where it is taken, and names it elsewhere; sources go nowhere', () => {
    const data = Uint8Array.from([137, 80, 78, 71]);
    const meta = { google: { thoughtSignature: 'sig' } };
    const drawn = assistant(
      { type: 'source', title: 't', url: 'http://x' },
      { type: 'file', mediaType: 'image/png', data, meta },
    );
    expect(promptOf(drawn)).toMatchObject([
      { content: [{ type: 'text', text: '[image, png, 4 bytes: you made it]' }] },
    ]);
    const request = { system: '', tools: [], messages: [drawn] };
    const dialect = { takesModelFiles: true, tagsBytes: false };
    expect(toCall(request, dialect).prompt).toMatchObject([
      { content: [{ type: 'file', mediaType: 'image/png', data, providerOptions: meta }] },
    ]);
  });
});
