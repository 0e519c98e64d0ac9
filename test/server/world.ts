/**
 * A runtime in memory for tests of the server, the client and the command line, with a model that does what it is
 * told in one word. It is not the scripted planner: it exists so that a test can choose what happens.
 *
 *   say TEXT     answers TEXT                     whisper TEXT   the same, and writes it word by word first
 *   look         notes progress and looks         pay            a blind effect that is lost on the way
 *   hold         answers once `release` is called  fail          a model that will not
 *   mumble TEXT  writes TEXT, and answers it once `release` is called
 *   wonder       asks the person what is what, which takes any answer
 *   choose A|B   asks the person to choose one of these
 *   plot NAME    a cell of Python that gives rows and leaves `plots/NAME.png`: a PNG, but of NAME `evil` only by its name
 *   delegate TEXT  gives TEXT to a child, and waits for it
 *   refund       a blind effect that a person is asked about before it is sent
 *
 * Of a question beside the work (`ask`) its words are the ones that count.
 */

import { conversationOffer } from '../../src/conversation/conversation.ts';
import type { Owner } from '../../src/core/ids.ts';
import type { ModelRequest } from '../../src/core/message.ts';
import { policyOf } from '../../src/core/policy.ts';
import { leaseDriver } from '../../src/driver/leases.ts';
import { fromBase64 } from '../../src/lib/base64.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemEntropy } from '../../src/lib/entropy.ts';
import type { Json } from '../../src/lib/json.ts';
import { localBell } from '../../src/loop/bell.ts';
import { registry } from '../../src/loop/tools/registry.ts';
import { type GenerateOptions, type Model, ModelError, type ModelReply } from '../../src/models/port.ts';
import { type Outlast, outlast } from '../../src/runtime/runtime.ts';
import type { Sandbox } from '../../src/sandbox/port.ts';
import { memoryStore } from '../../src/store/memory.ts';
import { DELEGATION } from '../../src/tools/delegate/delegate.ts';
import type { Tool } from '../../src/tools/port.ts';
import { memoryWorkspaces } from '../../src/workspace/memory.ts';

export interface World extends Outlast {
  readonly about: {
    readonly model: { readonly name: string; readonly scripted: boolean };
    readonly dataDir: string | null;
    readonly store: string;
  };
  /** Each call of the model, in order: the text that it answered to. */
  readonly heard: readonly string[];
  /** Lets everything that holds go on. */
  release(): void;
  /** Resolves once the model holds. */
  readonly holding: Promise<void>;
}

export function world(): World {
  const heard: string[] = [];
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let nowHolding: () => void = () => {};
  const holding = new Promise<void>((resolve) => {
    nowHolding = resolve;
  });
  const model: Model = {
    name: 'test/parrot',
    scripted: true,
    async generate(request, options) {
      const text = lastWord(request);
      heard.push(text);
      if (text.startsWith('mumble ')) options.onText?.(text.slice('mumble '.length));
      if (text === 'hold' || text.startsWith('mumble ')) {
        nowHolding();
        await until(released, options);
      }
      return answerTo(text, options);
    },
  };
  const store = memoryStore(systemClock);
  const runtime = outlast(
    {
      store,
      model,
      prices: { price: async () => null },
      sandbox: noSandbox,
      workspaces: memoryWorkspaces(),
      conversation: conversationOffer(),
      tools: registry([look, pay, refund, python, ...DELEGATION]),
      policy,
      clock: systemClock,
      entropy: systemEntropy,
      bell: localBell(),
      sealer: { seal: (bytes) => bytes, open: (bytes) => bytes },
      holder: 'test',
      leaseMs: 30_000,
      briefing: '',
      report: () => {},
    },
    leaseDriver({ store, clock: systemClock, report: () => {} }),
    'local' as Owner,
  );
  const { name, scripted } = model;
  return {
    ...runtime,
    about: { model: { name, scripted }, dataDir: null, store: 'memory' },
    heard,
    holding,
    release,
  };
}

/** What was said last, by a person or by a tool; what the runtime adds is not for this model. */
function lastWord({ messages, isAside }: ModelRequest): string {
  const question = messages.at(-1);
  if (isAside && question?.role === 'user') return question.text.split('\n\n').at(-1) ?? '';
  const last = messages.findLast(
    (message) => message.role !== 'user' || !message.text.startsWith('[outlast]'),
  );
  if (last?.role === 'user') return last.text;
  return last?.role === 'tool' ? `result ${last.results.map(({ status }) => status).join(' ')}` : '';
}

function answerTo(text: string, { onText }: GenerateOptions): ModelReply {
  const [word = '', ...rest] = text.split(' ');
  if (word === 'whisper') for (const part of rest) onText?.(`${part} `);
  if (word === 'fail') throw new ModelError('refused_request', 'The model will not.', { retry: false });
  if (word === 'look') return calling('look', 'Having a look.');
  if (word === 'pay') return calling('pay', 'Paying.');
  if (word === 'refund') return calling('refund', 'Refunding.', { cents: 700 });
  if (word === 'plot')
    return calling('python', 'Drawing.', { code: `# Draws ${rest[0]}\ndraw()`, name: rest[0] ?? '' });
  if (word === 'delegate') return calling('delegate', 'Giving it away.', { task: rest.join(' ') });
  if (word === 'wonder') return calling('ask_person', 'Asking.', { question: 'What is what?' });
  if (word === 'choose') {
    const choices = rest.join(' ').split('|');
    return calling('ask_person', 'Asking.', { question: 'Which one?', choices });
  }
  return { parts: [{ type: 'text', text: rest.join(' ') || word }], finish: 'stop', usage };
}

function calling(tool: string, text: string, input: Json = { what: 'it' }): ModelReply {
  const parts = [
    { type: 'text', text },
    { type: 'tool-call', tool, input },
  ] as const;
  return { parts, finish: 'tool-calls', usage };
}

const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0 };

function until(released: Promise<void>, { signal }: GenerateOptions): Promise<void> {
  const aborted = new Promise<never>((_, reject) => {
    const abort = () => reject(new ModelError('aborted', 'aborted', { retry: false }));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  });
  return Promise.race([released, aborted]);
}

const spec = (name: string) => ({ name, description: name, input: { type: 'object' } });

const look: Tool = {
  spec: spec('look'),
  direct: true,
  plan: (args) => ({ capability: { kind: 'read' }, target: 'GET test://window', identity: null, args }),
  run: async () => ({ status: 'done', result: { seen: 'a tree' } }),
};

const pay: Tool = {
  spec: spec('pay'),
  direct: true,
  plan: (args) => ({ capability: { kind: 'blind' }, target: 'POST test://bank', identity: null, args }),
  run: async () => {
    throw new Error('the line was cut');
  },
};

const refund: Tool = {
  spec: spec('refund'),
  direct: true,
  plan: (args) => ({ capability: { kind: 'blind' }, target: 'POST test://shop', identity: null, args }),
  run: async (args) => ({ status: 'done', result: args }),
};

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=3"><script>document.title=4</script></svg>';
/** One red dot. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

const python: Tool = {
  spec: spec('python'),
  direct: true,
  changesFiles: true,
  plan: (args) => ({ capability: { kind: 'read' }, target: 'sandbox:python', identity: null, args }),
  async run(args, context) {
    const { name } = args as { name: string };
    const bytes = name === 'evil' ? new TextEncoder().encode(SVG) : (fromBase64(PNG) ?? new Uint8Array());
    await context.workspace().write(`plots/${name}.png`, bytes);
    const table = { columns: ['', 'month'], rows: [['0', '<i>May</i>']], of: [40, 1] };
    return { status: 'done', result: { table, output: 'drawn\n', plots: [`/workspace/plots/${name}.png`] } };
  },
};

/** What is lost on the way is asked about afterwards, and nobody before; the rest is as by default. */
const policy = policyOf([{ name: 'pay', when: ({ tool }) => tool === 'pay', verdict: 'allow' }]);

const noSandbox: Sandbox = {
  engine: 'none',
  prepare: () => ({ ok: false, message: 'there is no sandbox here' }),
  create: () => Promise.reject(new Error('there is no sandbox here')),
  restore: () => Promise.reject(new Error('there is no sandbox here')),
  replay: () => Promise.reject(new Error('there is no sandbox here')),
  close: async () => {},
};
