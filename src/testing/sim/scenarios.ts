/**
 * Scenarios: what a person says, what a scripted model answers, and what must stand in the books at the end. The model
 * is a function of its request, so a repeated model call gives the same reply.
 */

import type { Budget, BudgetChange } from '../../core/budget.ts';
import type { ModelRequest, RequestMessage, When } from '../../core/message.ts';
import { type Policy, policyOf } from '../../core/policy.ts';
import { PARK_AFTER_MS } from '../../core/upkeep.ts';
import type { Json } from '../../lib/json.ts';
import type { ModelReply, Prices, ReplyPart } from '../../models/port.ts';
import type { Mode } from './loop.ts';
import type { World } from './world.ts';

export interface Act {
  /**
   * What the person does once the session rests from the act before; `rest` is to answer what is asked, `fork` to make a
   * fork and speak to that.
   */
  readonly do:
    | 'start'
    | 'send'
    | 'stop'
    | 'reopen'
    | 'interrupt'
    | 'pause'
    | 'resume'
    | 'rest'
    | 'wait'
    | 'fork'
    | 'raise';
  /** Leaves open what is asked, for now. */
  readonly leavesOpen?: true;
  readonly text?: string;
  readonly when?: When;
  /** Of `wait`: how long nobody comes. */
  readonly ms?: number;
  /** Of `start`: what the session may use. Of `raise`: what it, or its owner, may use from here on. */
  readonly budget?: BudgetChange;
  readonly whose?: 'session' | 'owner';
}

export interface Scenario {
  readonly name: string;
  /** Few enough boundaries for every pair of crashes on each push. */
  readonly isSmall?: true;
  readonly acts: readonly Act[];
  readonly reply: (request: ModelRequest) => ModelReply;
  /** `service: what` → how often it must stand in the books. */
  readonly wanted: Readonly<Record<string, number>>;
  readonly prepare?: (world: World) => void;
  /** What the owner may use, from the beginning. */
  readonly owner?: Budget;
  /** What the last response must contain, whatever happened on the way. */
  readonly says?: string;
  /** What a person is asked about before it is done; by default nothing. */
  readonly policy?: Policy;
  /** Whether the person wants this done, when they are asked before; by default they do. */
  readonly approves?: (what: string) => boolean;
  /** How often sweepers look, at the least: each look is a boundary, and hours have many. */
  readonly sweepMs?: number;
  /** The person takes up the newest question first. */
  readonly isBackward?: true;
  /** What the person answers to every question of the work. */
  readonly answer?: string;
  /** By default nothing has a price. */
  readonly prices?: Prices;
  /** Only what this can go through; by default everything. */
  readonly modes?: readonly Mode[];
  /** What would change its course. */
  readonly except?: readonly Mode[];
}

const USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

export const say = (text: string): ModelReply => ({
  parts: [{ type: 'text', text }],
  finish: 'stop',
  usage: USAGE,
});

export const calls = (...asked: readonly (readonly [tool: string, input: Json])[]): ModelReply => ({
  parts: asked.map(([tool, input]): ReplyPart => ({ type: 'tool-call', tool, input })),
  finish: 'tool-calls',
  usage: USAGE,
});

const cell = (source: string): ModelReply => calls(['code', { source }]);

/** A message that asks for nothing: what is sent at every boundary to see that it is read once. */
export const NOTE = 'note:';

export const LEASE_MS = 15_000;

/** What the model knows: the instructions so far, and the results since the last of them. */
export function read(request: ModelRequest): {
  readonly instructions: readonly string[];
  readonly results: readonly { readonly tool: string; readonly status: string; readonly text: string }[];
} {
  const isInstruction = (message: RequestMessage): boolean =>
    message.role === 'user' && !message.text.startsWith('[outlast]') && !message.text.startsWith(NOTE);
  const instructions = request.messages.flatMap((m) =>
    m.role === 'user' && isInstruction(m) ? [m.text] : [],
  );
  const last = request.messages.findLastIndex(isInstruction);
  const results = request.messages.slice(last + 1).flatMap((m) => (m.role === 'tool' ? m.results : []));
  return { instructions, results };
}

/** Asks before these services are called, and lets the rest pass. */
const askBefore = (services: readonly string[], expiresAfterMs?: number): Policy =>
  policyOf([
    {
      name: 'asked',
      when: ({ tool }) => services.includes(tool),
      verdict: 'ask',
      ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
    },
    { name: 'rest', when: () => true, verdict: 'allow' },
  ]);
/** Of each reply of a model that costs something: micro-dollars, one for each token. */
export const ONE_CALL = 3_000;
const COSTLY = { inputTokens: 2_000, outputTokens: ONE_CALL - 2_000, cachedTokens: 0 };
const costly = (reply: ModelReply): ModelReply => ({ ...reply, usage: COSTLY });

export const chargeOf = ({ inputTokens, outputTokens }: ModelReply['usage']): number =>
  inputTokens + outputTokens;

const report = (results: ReturnType<typeof read>['results']): string =>
  results.map((result) => `${result.tool}: ${result.status}`).join('\n');

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'effects side by side',
    isSmall: true,
    acts: [{ do: 'start', text: 'pay rent, mail Ada, look' }],
    wanted: { 'pay: rent': 1, 'mail: Ada': 1 },
    says: 'pay: done',
    reply(request) {
      const { results } = read(request);
      if (results.length === 0)
        return calls(['pay', { what: 'rent' }], ['mail', { what: 'Ada' }], ['look', { what: 'x' }]);
      return say(report(results));
    },
  },
  {
    name: 'a blind effect',
    isSmall: true,
    acts: [{ do: 'start', text: 'post it' }],
    wanted: { 'post: it': 1 },
    says: 'post: done',
    reply(request) {
      const { results } = read(request);
      return results.length === 0 ? calls(['post', { what: 'it' }]) : say(report(results));
    },
  },
  {
    name: 'nobody to ask',
    modes: ['crash', 'freeze', 'contend', 'outage'],
    acts: [{ do: 'start', text: 'post it', leavesOpen: true }, { do: 'wait', ms: 20_000 }, { do: 'rest' }],
    wanted: { 'post: it': 1 },
    says: 'post: done',
    reply(request) {
      const { results } = read(request);
      return results.length === 0 ? calls(['post', { what: 'it' }]) : say(report(results));
    },
  },
  {
    name: 'slow services',
    // Who freezes in the act of sending, and goes on beside its successor, is as slow again: later than `lateMs`.
    modes: ['crash'],
    acts: [{ do: 'start', text: 'mail, book, look' }],
    // What was sent by a machine that dies at once arrives after its lease has ended, within `lateMs`.
    prepare(world) {
      for (const service of ['mail', 'book']) world.slow.set(service, LEASE_MS + 1_500);
    },
    wanted: { 'mail: b': 1, 'book: c': 1 },
    says: 'mail: done',
    reply(request) {
      const { results } = read(request);
      if (results.length === 0)
        return calls(['mail', { what: 'b' }], ['book', { what: 'c' }], ['look', { what: 'x' }]);
      return say(report(results));
    },
  },
  {
    name: 'an extra that can be undone',
    isSmall: true,
    acts: [{ do: 'start', text: 'book a seat' }],
    prepare(world) {
      world.loseAnswers.set('book', 1);
    },
    wanted: { 'book: seat': 1 },
    says: 'book: done',
    reply(request) {
      const { results } = read(request);
      return results.length === 0 ? calls(['book', { what: 'seat' }]) : say(report(results));
    },
  },
  {
    name: 'a question, then a nap',
    acts: [{ do: 'start', text: 'ask, then sleep on it' }],
    wanted: { 'pay: blue': 1 },
    answer: 'blue',
    says: 'pay: done',
    reply(request) {
      const { results } = read(request);
      if (results.length === 0) {
        return calls(['ask_person', { question: 'Which colour?' }], ['progress', { text: 'asking' }]);
      }
      const said = /answered: (\w+)/.exec(results[0]?.text ?? '')?.[1];
      if (said === undefined) return say('Nobody answered.');
      if (results.length === 2) return calls(['pay', { what: said }], ['sleep', { seconds: 90 }]);
      return say(report(results));
    },
  },
  {
    name: 'a cell that waits for a person',
    acts: [
      { do: 'start', text: 'ask from code', leavesOpen: true },
      { do: 'send', text: 'what are you waiting for?', when: 'now', leavesOpen: true },
      { do: 'rest' },
    ],
    wanted: { 'book: blue': 1, 'pay: before': 1 },
    answer: 'blue',
    says: 'it was blue',
    reply(request) {
      const { instructions, results } = read(request);
      const ended = request.messages.findLast(
        (message) => message.role === 'user' && message.text.includes('which was suspended, has ended'),
      );
      if (ended?.role === 'user') return say(ended.text);
      if (instructions.length === 1) {
        return results.length === 0
          ? cell(`await tools.pay({ what: 'before' });
              const said = await tools.ask_person({ question: 'Which colour?', choices: ['blue', 'red'] });
              await tools.book({ what: said.text }); 'it was ' + said.text`)
          : say(results[0]?.text ?? '');
      }
      const known = request.messages.flatMap((message) => (message.role === 'tool' ? message.results : []));
      return say(known.find(({ text }) => text.includes('it was blue'))?.text ?? 'I wait for an answer.');
    },
  },
  {
    name: 'two cells in one heap',
    acts: [
      { do: 'start', text: 'ask from code', leavesOpen: true },
      { do: 'send', text: 'ask something else from code', when: 'now' },
    ],
    wanted: { 'book: blue first': 1, 'pay: blue second': 1, 'pay: again': 1 },
    answer: 'blue',
    says: 'second blue',
    reply(request) {
      const { instructions, results } = read(request);
      const which = instructions.length === 1 ? 'first' : 'second';
      const service = which === 'first' ? 'book' : 'pay';
      const ended = request.messages.findLast(
        (message) => message.role === 'user' && message.text.includes('which was suspended, has ended'),
      );
      const done = results.find(({ text }) => text.includes('second blue'));
      if (done) return say(done.text);
      if (ended?.role === 'user' && which === 'first') return say(ended.text);
      if (results.length > 0) return say(results[0]?.text ?? '');
      return cell(`const ${which} = await tools.ask_person({ question: '${which}?' });
        await tools.${service}({ what: ${which}.text + ' ${which}' });
        ${which === 'second' ? "await tools.pay({ what: 'again' });" : ''} '${which} ' + ${which}.text`);
    },
  },
  {
    name: 'a fork, while code waits for a person',
    // One fork at a time.
    except: ['fork'],
    acts: [{ do: 'start', text: 'ask from code', leavesOpen: true }, { do: 'fork' }, { do: 'rest' }],
    wanted: { 'pay: before': 1, 'book: after': 1 },
    answer: 'blue',
    says: 'heard blue',
    reply(request) {
      const { results } = read(request);
      return results.length === 0
        ? cell(`await tools.pay({ what: 'before' });
            const heard = await tools.ask_person({ question: 'Which colour?' }).then(({ text }) => text, ({ code }) => code);
            await tools.book({ what: 'after' }); 'heard ' + heard`)
        : say(results[0]?.text ?? '');
    },
  },
  {
    name: 'three approvals, the last one first',
    acts: [{ do: 'start', text: 'pay, post, mail' }],
    policy: askBefore(['pay', 'post', 'mail']),
    isBackward: true,
    approves: (what) => what !== 'Eve',
    wanted: { 'pay: rent': 1, 'post: it': 1 },
    says: 'pay: done\npost: done\nmail: failed',
    reply(request) {
      const { results } = read(request);
      if (results.length === 0)
        return calls(['pay', { what: 'rent' }], ['post', { what: 'it' }], ['mail', { what: 'Eve' }]);
      return say(report(results));
    },
  },
  {
    name: 'a cell that waits for approvals',
    acts: [
      { do: 'start', text: 'book from code', leavesOpen: true },
      { do: 'send', text: 'what are you waiting for?', when: 'now', leavesOpen: true },
      { do: 'rest' },
    ],
    policy: askBefore(['mail', 'book']),
    approves: (what) => what !== 'Eve',
    wanted: { 'book: seat': 1, 'pay: before': 1, 'pay: after': 1 },
    says: 'booked, and rejected',
    reply(request) {
      const { instructions, results } = read(request);
      const ended = request.messages.findLast(
        (message) => message.role === 'user' && message.text.includes('which was suspended, has ended'),
      );
      if (ended?.role === 'user') return say(ended.text);
      if (instructions.length === 1) {
        return results.length === 0
          ? cell(`await tools.pay({ what: 'before' });
              await tools.book({ what: 'seat' });
              const mailed = tools.mail({ what: 'Eve' }).then(() => 'mailed', (error) => error.code);
              await tools.pay({ what: 'after' });
              'booked, and ' + await mailed`)
          : say(results[0]?.text ?? '');
      }
      const known = request.messages.flatMap((message) => (message.role === 'tool' ? message.results : []));
      return say(known.find(({ text }) => text.includes('booked, and'))?.text ?? 'I wait for a person.');
    },
  },
  {
    name: 'nobody approves in time',
    // Longer than it takes to expire and the clock may be set back.
    acts: [{ do: 'start', text: 'pay', leavesOpen: true }, { do: 'wait', ms: 70 * 60_000 }, { do: 'rest' }],
    policy: askBefore(['pay'], 5 * 60_000),
    sweepMs: 5 * 60_000,
    approves: (what) => what === 'fork',
    wanted: {},
    says: 'pay: failed',
    reply(request) {
      const { results } = read(request);
      return results.length === 0 ? calls(['pay', { what: 'rent' }]) : say(report(results));
    },
  },
  {
    name: 'answers that get lost',
    acts: [{ do: 'start', text: 'pay, mail, post' }],
    prepare(world) {
      for (const service of ['pay', 'mail', 'post']) world.loseAnswers.set(service, 1);
    },
    wanted: { 'pay: a': 1, 'mail: b': 1, 'post: c': 1 },
    says: 'post: done',
    reply(request) {
      const { results } = read(request);
      if (results.length === 0)
        return calls(['pay', { what: 'a' }], ['mail', { what: 'b' }], ['post', { what: 'c' }]);
      return say(report(results));
    },
  },
  {
    name: 'stop and reopen',
    acts: [
      { do: 'start', text: 'remember' },
      { do: 'stop' },
      { do: 'reopen' },
      { do: 'send', text: 'what was it' },
    ],
    wanted: { 'pay: once': 1 },
    says: 'it was 42',
    reply(request) {
      const { instructions, results } = read(request);
      if (instructions.length === 1) {
        return results.length === 0
          ? cell(`class Secret { #v = 42; get v() { return this.#v; } }
              const secret = new Secret(); await tools.pay({ what: 'once' }); 'ok'`)
          : say('kept');
      }
      return results.length === 0 ? cell("'it was ' + secret.v") : say(results[0]?.text ?? '');
    },
  },
  {
    name: 'parked and woken',
    acts: [
      { do: 'start', text: 'load' },
      { do: 'send', text: 'more' },
      { do: 'wait', ms: PARK_AFTER_MS + 15_000 },
      { do: 'send', text: 'use' },
    ],
    wanted: { 'pay: rows': 1, 'mail: sum': 1 },
    says: 'still 42 of 5200',
    reply(request) {
      const { instructions, results } = read(request);
      const work = [
        // Small first, and much in the last move: that outgrows the base, and a new one is taken at rest.
        [
          `function* g() { yield 41; yield 42; } const it = g(); it.next().value`,
          `await tools.pay({ what: 'rows' });
           const rows = Array.from({ length: 5_000 }, Math.random); rows.length`,
        ],
        // Too little for a new base at rest, enough for one when it is parked.
        ['rows.push(...Array.from({ length: 200 }, Math.random)); rows.length'],
        [`await tools.mail({ what: 'sum' }); 'still ' + it.next().value + ' of ' + rows.length`],
      ];
      const source = work[instructions.length - 1]?.[results.length];
      return source === undefined ? say(results.at(-1)?.text ?? '') : cell(source);
    },
  },
  {
    name: 'a cell over several awaits',
    // The code reads the answer of the service; a person's word for it is not that.
    except: ['down'],
    acts: [
      { do: 'start', text: 'work' },
      { do: 'send', text: 'again' },
    ],
    wanted: { 'pay: 1': 1, 'mail: 2': 1, 'pay: 3': 1 },
    says: 'kept: 111',
    reply(request) {
      const { instructions, results } = read(request);
      if (instructions.length === 1) {
        if (results.length === 0) {
          return cell(`let kept = 1; const rows = [];
            rows.push((await tools.look({ what: 'a' })).ok);
            kept += (await tools.pay({ what: '1' })).ok ? 10 : 0;
            await new Promise((done) => setTimeout(done, 5_000));
            kept += (await tools.mail({ what: '2' })).ok ? 100 : 0;
            kept`);
        }
        return say(`first: ${results[0]?.text}`);
      }
      if (results.length === 0) {
        return cell(`const [p, l] = await Promise.all([tools.pay({ what: '3' }), tools.look({ what: 'b' })]);
          'kept: ' + kept + ', ' + rows.length + p.ok + l.ok`);
      }
      return say(results[0]?.text ?? '');
    },
  },
  {
    // Two calls fit into the session's budget and four into the owner's; after a crash fewer do.
    name: 'a budget that ends, and is raised',
    acts: [
      { do: 'start', text: 'spend it', budget: { microUsd: 8_500 } },
      { do: 'raise', whose: 'session', budget: { microUsd: 1_000_000 } },
      { do: 'raise', whose: 'owner', budget: { microUsd: 1_000_000 } },
    ],
    owner: { microUsd: 15_500 },
    prices: { price: async (_, usage) => ({ microUsd: chargeOf(usage), source: 'sim' }) },
    wanted: { 'pay: one': 1, 'mail: two': 1 },
    says: 'mail: done',
    reply(request) {
      const { results } = read(request);
      const asked: readonly (readonly [tool: string, input: Json])[] = [
        ...([
          ['look', { what: 'a' }],
          ['pay', { what: 'one' }],
          ['look', { what: 'b' }],
        ] as const),
        ...([
          ['mail', { what: 'two' }],
          ['look', { what: 'c' }],
        ] as const),
      ];
      const next = asked[results.length];
      return costly(next ? calls(next) : say(report(results)));
    },
  },
  {
    name: 'a budget in money, and a model without a price',
    modes: ['crash', 'send', 'pause', 'interrupt'],
    acts: [
      { do: 'start', text: 'pay', budget: { microUsd: 100 } },
      { do: 'raise', whose: 'session', budget: { microUsd: null, steps: 100 } },
    ],
    wanted: { 'pay: it': 1 },
    says: 'pay: done',
    reply(request) {
      const { results } = read(request);
      return costly(results.length === 0 ? calls(['pay', { what: 'it' }]) : say(report(results)));
    },
  },
];
