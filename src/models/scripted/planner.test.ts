// Owns: the planner against the real sample services, in the real sandbox. What stands in is the runtime: `Session` folds
// replies and results into a transcript, and `buildRequest` makes of it what the planner sees in a session.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildRequest } from '../../context/build.ts';
import { initialState } from '../../core/evolve.ts';
import type { LiveObject } from '../../core/heap/event.ts';
import type { CallId } from '../../core/ids.ts';
import { DEFAULT_LIMITS } from '../../core/limits.ts';
import type { CallResult, ModelRequest, Part } from '../../core/message.ts';
import type { Item, State } from '../../core/state.ts';
import { registry } from '../../loop/tools/registry.ts';
import type { GuestCall, HeapInput, LiveHeap } from '../../sandbox/port.ts';
import { memoryShelf, quickjsSandbox } from '../../sandbox/quickjs/sandbox.ts';
import { startBilling } from '../../services/billing/server.ts';
import { accounts, TEST_CUSTOMER, truth } from '../../services/billing/world.ts';
import { distinct, readBooks } from '../../services/books.ts';
import { startMailing } from '../../services/mailing/server.ts';
import type { Service } from '../../services/service.ts';
import { plan, scriptedPlanner } from './planner.ts';
import { money } from './wording.ts';

// ── the stand-in ───────────────────────────────────────────────────────────────────────────────────────────

type Answer = { readonly status: number; readonly body: string };
/** Answers instead of the service; `torn` is a connection that broke. */
type Override = (url: string, method: string) => Answer | 'torn' | undefined;

const sandbox = quickjsSandbox({ mode: 'inline', shelf: memoryShelf() });
afterAll(() => sandbox.close());

class Guest {
  override: Override = () => undefined;
  listed: readonly LiveObject[] = [];
  #heap: LiveHeap | null = null;
  #live: readonly LiveObject[] = [];
  #cells = 0;

  /** `listed` is what another guest held: named, and not there. */
  live(): readonly LiveObject[] {
    return [...new Map([...this.listed, ...this.#live].map((object) => [object.name, object])).values()];
  }

  async run(source: string): Promise<CallResult> {
    const prepared = sandbox.prepare(source);
    if (!prepared.ok) return { status: 'refused', text: prepared.message };
    this.#heap ??= await sandbox.create({ seed: 1, limits: DEFAULT_LIMITS });
    const queue: HeapInput[] = [{ kind: 'run', cell: `c${++this.#cells}`, code: prepared.code, at: NOW }];
    let output = '';
    for (let input = queue.shift(); input !== undefined; input = queue.shift()) {
      const step = await this.#heap.apply(input, new AbortController().signal);
      output += step.output;
      if (step.kind === 'aborted') return { status: 'failed', text: `Aborted: ${step.message}` };
      this.#live = step.live;
      const end = step.ended[0]?.end;
      if (end) return { status: end.status, text: output + (end.status === 'done' ? end.value : end.error) };
      for (const call of step.calls) queue.push(await this.#deliver(call));
    }
    throw new Error('the cell did not end');
  }

  async #deliver({ guestCall, args }: GuestCall): Promise<HeapInput> {
    const { url, method, headers, body } = JSON.parse(args);
    const answer = this.override(url, method) ?? (await real(url, { method, headers, body }));
    const error = { name: 'EffectError', code: 'no_answer', message: 'No answer: the connection broke.' };
    const json = JSON.stringify(answer === 'torn' ? error : answer);
    return { kind: 'delivery', guestCall, ok: answer !== 'torn', json, at: NOW };
  }
}

async function real(url: string, init: RequestInit): Promise<Answer | 'torn'> {
  try {
    const answer = await fetch(url, init);
    return { status: answer.status, body: await answer.text() };
  } catch {
    return 'torn';
  }
}

/** One answer for every address that matches `place`. */
const instead = (place: string, body: string, status = 200): Override => {
  return (url) => (new RegExp(place).test(url) ? { status, body } : undefined);
};

const NOW = Date.UTC(2026, 4, 20);

const said = (text: string): Item =>
  ({ kind: 'message', message: { from: 'person', text, images: [] } }) as unknown as Item;

class Session {
  guest = new Guest();
  unknown: string[] = [];
  readonly transcript: Item[] = [];
  readonly said: string[] = [];
  readonly sources: string[] = [];
  readonly #inbox: Item[] = [];
  readonly #briefing: string;
  #calls = 0;

  constructor(briefing: string) {
    this.#briefing = briefing;
  }

  send(text: string): undefined {
    this.#inbox.push(said(text));
  }

  /** A message that was read in a turn that is over. */
  hear(text: string): void {
    this.transcript.push(said(text));
  }

  /** What the runtime says; it stands in the transcript at once. */
  note(text: string): void {
    this.transcript.push({ kind: 'note', seq: 1, text, at: 0 });
  }

  request() {
    const effect = { id: 'e1', tool: 'fetch', args: {}, status: 'unknown' };
    const state = {
      ...initialState,
      at: NOW,
      transcript: this.transcript,
      lifetime: { epoch: 1 },
      heap: { live: this.guest.live().map((object) => ({ ...object, cell: 'c1' })), generation: 1 },
      effects: { open: this.unknown.map((target) => ({ ...effect, target })) },
    } as unknown as State;
    return buildRequest(state, { tools: registry([]).specs, briefing: this.#briefing }) as ModelRequest;
  }

  ask(text: string, meanwhile?: (cell: string) => CallResult | undefined): Promise<string> {
    this.send(text);
    return this.answer(meanwhile);
  }

  /** Runs the turn to its answer. `meanwhile` is called before each cell is run, and can say how it ends instead. */
  async answer(meanwhile: (source: string) => CallResult | undefined = () => undefined): Promise<string> {
    for (let step = 1; step < 20; step += 1) {
      this.transcript.push(...this.#inbox.splice(0));
      const request = this.request();
      const reply = plan(request);
      expect(plan(structuredClone(request))).toEqual(reply);
      const parts = reply.parts.map((part) =>
        part.type === 'tool-call' ? { ...part, call: `c${++this.#calls}` as CallId } : part,
      ) as Part[];
      const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
      const call = parts.find((part) => part.type === 'tool-call');
      if (call === undefined) {
        this.#push(parts, []);
        return text;
      }
      const { source } = call.input as { source: string };
      this.said.push(text);
      this.sources.push(source);
      const result = meanwhile(source) ?? (await this.guest.run(source));
      this.#push(parts, [{ call: call.call, tool: 'code', ...result }]);
    }
    throw new Error('no end');
  }

  #push(parts: readonly Part[], results: Extract<Item, { kind: 'reply' }>['results']): void {
    this.transcript.push({ kind: 'reply', seq: 1, turn: 1, step: 1, parts, results, cut: false });
  }
}

// ── the world ──────────────────────────────────────────────────────────────────────────────────────────────

const NORTHWIND = 'acct_2040';
const OWNER = accounts.find(({ id }) => id === NORTHWIND)?.owner.email ?? '';
const NAMED = `The operator's account is called "Northwind Trading".`;

let dataDir: string;
let billing: Service;
let mailing: Service;
let session: Session;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'outlast-scripted-'));
  billing = await startBilling({ dataDir });
  mailing = await startMailing({ dataDir });
  session = new Session(briefing(NAMED));
});

afterEach(async () => {
  await Promise.all([billing.stop(), mailing.stop()]);
  rmSync(dataDir, { recursive: true, force: true });
});

const briefing = (account: string): string =>
  `Granted services:\n- billing at ${billing.url}: accounts and invoices\n- mailing at ${mailing.url}: mail\n\n${account}`;

const count = (kind: string): number => distinct(readBooks(dataDir, 'billing').rows, kind).length;
const mails = () =>
  readBooks(dataDir, 'mailing').rows.flatMap((row) => (row.kind === 'mail.accepted' ? [row] : []));

/** The first line of a right report. */
function right(month: string, name: string, excludeTest = false): string {
  const { count, totalCents, currency } = truth({ accountId: NORTHWIND, month, excludeTest });
  return `${name}: ${count} invoices, ${money(totalCents, currency)} in total.`;
}

const FEBRUARY = ['2026-02', 'February 2026'] as const;
const MARCH = ['2026-03', 'March 2026'] as const;

// ── the main job ───────────────────────────────────────────────────────────────────────────────────────────

test('February from nothing: the account is found, a client built, the edges of the month are right', async () => {
  const answer = await session.ask("Report on February's invoices");
  expect(answer).toContain(`Report for Northwind Trading, ${right(...FEBRUARY)}`);
  for (const { customer, count, totalCents } of truth({ accountId: NORTHWIND, month: '2026-02' }).byCustomer)
    expect(answer).toContain(`- ${customer}: ${count} invoices, ${money(totalCents, 'USD')}\n`);
  expect(session.said).toHaveLength(5);
  expect(session.said.every((line) => line !== '' && !line.includes('\n'))).toBe(true);
  expect([count('account.lookup'), count('auth.')]).toEqual([1, 3]);
  expect(count('refused')).toBe(0);
});

test('March after that: the same client and rows, no lookup and no authentication', async () => {
  await session.ask("Report on February's invoices");
  const answer = await session.ask('Now do the same for March');
  expect(answer).toContain(right(...MARCH));
  expect(answer).toContain('the very same object');
  expect(session.sources).toHaveLength(7);
  expect([count('account.lookup'), count('auth.')]).toEqual([1, 3]);
});

test('a correction in the middle of a turn counts, and nothing is fetched twice', async () => {
  await session.ask("Report on February's invoices");
  const before = count('invoices.page');
  const answer = await session.ask('Now do the same for March', (source) =>
    source.includes('loadMonth(') ? session.send('leave out the test customer') : undefined,
  );
  expect(answer).toContain(right(...MARCH, true));
  expect(answer).toContain(`Left out: ${TEST_CUSTOMER}`);
  expect(count('invoices.page') - before).toBe(3);
});

test('a correction after the sum is drawn, or after the answer, makes a new sum from the rows in memory', async () => {
  const first = await session.ask("Report on February's invoices", (source) =>
    source.includes('function summarise(') ? session.send('Please exclude the test customer.') : undefined,
  );
  expect(first).toContain(right(...FEBRUARY, true));
  const pages = count('invoices.page');
  const second = await session.ask('include the test customer again');
  expect(second).toContain(right(...FEBRUARY));
  expect(second).toContain('The rows were still in memory');
  expect(count('invoices.page')).toBe(pages);
  const third = await session.ask('Leave out weekends');
  expect(third).toContain('No invoice of this month is from a customer called “weekends”.');
});

test('of several messages the last instruction counts, with every correction', async () => {
  session.send("Report on February's invoices");
  session.send('leave out the test customer');
  const answer = await session.ask('No, March please');
  expect(answer).toContain(right(...MARCH, true));
  expect(answer).toContain('February had been asked for before that');
});

// ── mail ───────────────────────────────────────────────────────────────────────────────────────────────────

test('the report is mailed to the owner once, and the answer names the id', async () => {
  await session.ask("Report on February's invoices, leave out the test customer");
  const answer = await session.ask('Mail the report to the owner');
  expect(answer).toBe(`The report on February 2026 was mailed to the owner, ${OWNER} (id mail_1).`);
  expect(mails()).toMatchObject([{ to: OWNER, reference: null }]);
  expect(mails()[0]?.body).toContain(right(...FEBRUARY, true));
  expect(await session.ask('Mail the report to the owner')).toContain('owner again');
  expect(mails()).toHaveLength(1);
  await session.ask('Mail the report to the owner again');
  expect(mails()).toHaveLength(2);
});

test('report, correction and mail in one message', async () => {
  const answer = await session.ask("March's report without the test customer, and mail it to the owner.");
  expect(answer).toContain(right(...MARCH, true));
  expect(answer).toContain('(id mail_1)');
});

test('a mail whose answer was lost is not called sent, and not sent again without the word for it', async () => {
  await session.ask("Report on February's invoices");
  session.guest.override = (_, method) => (method === 'POST' ? 'torn' : undefined);
  const answer = await session.ask('Mail the report to the owner');
  expect(answer).toContain('Whether the report on February 2026 was mailed is not known');
  session.guest.override = () => undefined;
  expect(await session.ask('Try again')).toContain('Say “Mail the report to the owner again”');
  expect(mails()).toHaveLength(0);
  session.guest.override = instead('/messages', '{"error":{}}', 400);
  expect(await session.ask('Mail the report to the owner again')).toContain('was not mailed');
  session.guest.override = () => undefined;
  expect(await session.ask('Try again')).toContain('(id mail_1)');
});

test('the end of a suspended mail comes later, and is told', async () => {
  await session.ask("Report on February's invoices");
  await session.ask('Mail the report to the owner', (source) =>
    source.includes('const letter') ? { status: 'suspended', text: 'It waits (decision d1).' } : undefined,
  );
  const line = JSON.stringify({ cell: 'mail', to: OWNER, status: 201, answer: '{"id":"mail_1"}' });
  session.note(`Cell c7, which was suspended, has ended: done. ${line}\nundefined`);
  expect(await session.answer()).toContain('(id mail_1)');
});

test('work goes on beside a mail that waits for a person', async () => {
  await session.ask("Report on February's invoices");
  const answer = await session.ask('Mail the report to the owner', (source) => {
    if (!source.includes('const letter')) return undefined;
    session.send('Now do the same for March');
    return { status: 'suspended', text: 'It waits (decision d1).' };
  });
  expect(answer).toContain(right(...MARCH));
  expect(answer).toContain('Whether the report on February 2026 was mailed is not known yet');
});

test('while an earlier message is unknown, none is sent beside it', async () => {
  await session.ask("Report on February's invoices");
  session.unknown = [`POST ${mailing.url}/messages`];
  expect(await session.ask('Mail the report to the owner again')).toContain('I send none beside it');
  expect(mails()).toHaveLength(0);
});

test('a message that is not understood holds the mail back', async () => {
  await session.ask("Report on February's invoices");
  const answer = await session.ask('Mail the report to the owner', () =>
    session.sources.length === 6 ? session.send('Hmm, is Mira the right one?') : undefined,
  );
  expect(answer).toContain('was not mailed');
  expect(mails()).toHaveLength(0);
  expect(await session.ask('Do not mail it')).toContain('Stopped');
});

// ── what is lost, and what fails ───────────────────────────────────────────────────────────────────────────

test('a heap that was lost is built again, and the answer says so', async () => {
  await session.ask("Report on February's invoices");
  session.guest = new Guest();
  session.note('The sandbox could not be brought back. Lost: account, client, months.');
  const answer = await session.ask('Now do the same for March');
  expect(answer).toContain(right(...MARCH));
  expect(answer).toContain('was lost from the sandbox');
  expect([count('account.lookup'), count('auth.')]).toEqual([2, 6]);
});

test('objects that are listed and are not there are built again', async () => {
  await session.ask("Report on February's invoices");
  const listed = session.guest.live();
  session.guest = Object.assign(new Guest(), { listed });
  const answer = await session.ask('Now do the same for March');
  expect(answer).toContain(right(...MARCH));
  expect([count('account.lookup'), count('auth.')]).toEqual([2, 6]);
  expect(session.sources).toHaveLength(5 + 1 + 4);
});

test('a refused token is renewed once, with the same client', async () => {
  await session.ask("Report on February's invoices");
  let refusals = 1;
  session.guest.override = (url) =>
    url.includes('/invoices') && refusals-- > 0 ? { status: 401, body: '{"error":{}}' } : undefined;
  const answer = await session.ask('Now do the same for March');
  expect(answer).toContain(right(...MARCH));
  expect(answer).toContain('authenticated once more');
  expect([count('account.lookup'), count('auth.')]).toEqual([1, 6]);
  refusals = 99;
  expect(await session.ask('Report on April')).toContain('I could not finish');
});

test('a page that fails for a while is tried again; one that fails for ever is given up', async () => {
  await session.ask("Report on February's invoices");
  let failures = 2;
  session.guest.override = (url) =>
    url.includes('page=2') && failures-- > 0 ? { status: 503, body: '{}' } : undefined;
  expect(await session.ask('Now do the same for March')).toContain(right(...MARCH));
  expect(session.said.at(-2)).toContain('attempt 3');
  failures = 99;
  const answer = await session.ask('and April');
  expect(answer).toContain('it failed 3 times in a row');
  failures = 0;
  expect(await session.ask('try again')).toContain(right('2026-04', 'April 2026'));
});

test('a service that is down, or that is another service, is told as it is', async () => {
  await billing.stop();
  const down = await session.ask("Report on February's invoices");
  expect(down).toContain('I could not finish. While reading what the billing service says');
  expect(session.sources).toHaveLength(2);
  billing = await startBilling({ dataDir });

  const other = new Session(briefing(NAMED));
  other.guest.override = () => ({ status: 200, body: '<h1>It works!</h1>' });
  expect(await other.ask("Report on February's invoices")).toContain('I did not guess');
  expect(other.sources).toHaveLength(1);
});

const row = (issuedAt: string, amountCents: unknown): string =>
  JSON.stringify({
    pages: 1,
    next: null,
    invoices: [{ issuedAt, customer: 'A', amountCents, currency: 'USD' }],
  });

test.each([
  ['accounts that are no list', '/accounts\\?', '{}'],
  ['an account without an offset', '/accounts\\?', '{"accounts":[{"id":"a","name":"Northwind Trading"}]}'],
  ['no token', '/auth/token', '{}'],
  ['pages that do not move', '/invoices', '{"invoices":[],"pages":1,"next":1}'],
  ['a row of another month', '/invoices', row('2026-01-31T18:59', 100)],
  ['a row without a time', '/invoices', row('yesterday', 100)],
  ['an amount that is none', '/invoices', row('2026-02-03T10:00', '100')],
])('%s: no report, and the reason', async (_, place, body) => {
  session.guest.override = instead(place, body);
  const answer = await session.ask("Report on February's invoices");
  expect(answer).toMatch(/[Nn]ot as (?:it )?describe/);
  expect(answer).not.toContain('in total');
});

test.each(['unknown', 'refused', 'interrupted', 'suspended', 'done'] as const)(
  'a cell that is %s, and says nothing of ours, ends the turn in plain words',
  async (status) => {
    const answer = await session.ask("Report on February's invoices", () => ({ status, text: 'because' }));
    expect(answer).toMatch(/I could not finish.*because/);
    expect(session.sources).toHaveLength(1);
  },
);

test('a month without invoices is reported as empty; one that the service does not have is refused', async () => {
  session.guest.override = instead('/invoices', '{"invoices":[],"page":1,"pages":1,"next":null}');
  expect(await session.ask('Report on July')).toContain('July 2026: 0 invoices, 0.00 USD in total.');
  expect(await session.ask('Report on September')).toContain('September 2025 is not among them');
});

test('an interrupted turn is not taken up again, unless asked', async () => {
  await session.ask("Report on February's invoices");
  session.hear('Now do the same for March');
  session.note('A person interrupted the work here. Do not take it up again unless asked.');
  expect(await session.ask('leave out the test customer')).toContain(right(...FEBRUARY, true));
  session.hear('include the test customer, and now March');
  session.note('A person interrupted the work here. Do not take it up again unless asked.');
  expect(await session.ask('go on')).toContain(right(...MARCH));
});

test('a turn that failed is over, and can be tried again', async () => {
  session.hear("Report on February's invoices");
  session.note('The turn ended without a response: the model could not be reached.');
  expect(await session.ask('Try again, please')).toContain(right(...FEBRUARY));
});

// ── the account ────────────────────────────────────────────────────────────────────────────────────────────

describe('an account that nobody named', () => {
  beforeEach(() => {
    session = new Session(briefing(''));
  });

  test('is asked for, and the answer is taken as its name', async () => {
    expect(await session.ask("Report on February's invoices")).toContain('Which account is meant?');
    expect(await session.ask('northwind')).toContain('No single account is called exactly “northwind”');
    expect(await session.ask('It is Northwind Trading.')).toContain(right(...FEBRUARY));
  });

  test('can be named in the instruction', async () => {
    const answer = await session.ask('Report on March for the account "Northwind Trading", please');
    expect(answer).toContain(right(...MARCH));
  });

  test('is taken when it is the only one', async () => {
    const only = JSON.stringify({ accounts: [{ ...accounts[2], utcOffset: '-05:00' }] });
    session.guest.override = instead('/accounts$', only);
    expect(await session.ask("Report on February's invoices")).toContain(right(...FEBRUARY));
  });
});

// ── the model port ─────────────────────────────────────────────────────────────────────────────────────────

test('what it does not know it refuses, does nothing, and says how to get a model', async () => {
  for (const text of ['A poem about March', 'Delete all invoices', 'Mail the report to bob@example.com']) {
    const answer = await session.ask(text);
    expect(answer).toContain('scripted planner, no model');
    expect(answer).toContain('OPENAI_API_KEY');
  }
  expect(session.sources).toEqual([]);
  expect(await session.ask('Mail the report to the owner')).toContain('no report yet');
});

test('as a model: its name, its text in pieces, and its end when it is aborted', async () => {
  const model = scriptedPlanner();
  expect(model).toMatchObject({ name: 'scripted planner, no model', scripted: true });
  await session.ask('What is the weather?');
  const request = session.request();
  const shown: string[] = [];
  const onText = (delta: string) => void shown.push(delta);
  const reply = await model.generate(request, { signal: new AbortController().signal, onText });
  expect(reply.parts).toEqual([{ type: 'text', text: shown.join('') }]);
  expect(shown.length).toBeGreaterThan(3);
  const ending = new AbortController();
  const aborted = model.generate(request, { signal: ending.signal, onText: () => ending.abort() });
  await expect(aborted).rejects.toMatchObject({ code: 'aborted', partial: expect.stringMatching(/^\S/) });
});
