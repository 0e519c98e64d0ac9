/**
 * A session in small, for tests of sandboxes: runs cells, answers calls, and keeps the chain of images and the journal
 * as the log would.
 */

import { DEFAULT_LIMITS, type Limits } from '../core/limits.ts';
import { assert } from '../lib/assert.ts';
import { seededEntropy } from '../lib/entropy.ts';
import type {
  GuestCall,
  HeapChain,
  HeapInput,
  HeapStep,
  JournalEntry,
  LiveHeap,
  OpenOptions,
  Sandbox,
} from './port.ts';

export type Rest = Extract<HeapStep, { kind: 'rest' }>;

export interface Notebook {
  readonly journal: JournalEntry[];
  /** The images that stand. */
  chain(): HeapChain;
  /** The calls that nobody has answered. */
  readonly open: Map<number, GuestCall>;
  /** Runs a source; it must come to rest. */
  run(source: string): Promise<Rest>;
  /** The same, for a source that may be stopped. The heap is then opened again from the chain. */
  attempt(source: string, signal?: AbortSignal): Promise<HeapStep>;
  answer(guestCall: number, value: unknown): Promise<Rest>;
  refuse(guestCall: number, error: { name: string; code: string; message: string }): Promise<Rest>;
  /** The text of the value of a cell that ends at once. */
  value(source: string): Promise<string>;
  /** Closes the heap and opens it from its images, in `sandbox` if given. */
  reopen(sandbox?: Sandbox): Promise<void>;
  heap(): LiveHeap;
  close(): Promise<void>;
}

const START = Date.UTC(2026, 2, 1);

export function optionsWith(limits: Partial<Limits> = {}, seed = 7): OpenOptions {
  return { seed, limits: { ...DEFAULT_LIMITS, ...limits } };
}

/** Opens a new heap. */
export async function openNotebook(first: Sandbox, options: OpenOptions = optionsWith()): Promise<Notebook> {
  let sandbox = first;
  let heap = await sandbox.create(options);
  let images: Rest['image'][] = [];
  let cells = 0;
  const journal: JournalEntry[] = [];
  const open = new Map<number, GuestCall>();

  const clock = () => START + journal.filter(({ kind }) => kind === 'apply').length * 1000;
  const chain = (): HeapChain => {
    const last = images.at(-1);
    assert(last, 'an image was taken');
    // Copies: a sandbox takes the bytes over.
    const parts = images.map(({ form, data }) => ({ form, data: Uint8Array.from(data) }));
    return { engine: last.engine, digest: last.digest, parts };
  };
  const apply = async (input: HeapInput, signal = new AbortController().signal): Promise<HeapStep> => {
    const step = await heap.apply(input, signal);
    if (step.kind === 'aborted') {
      heap = images.length === 0 ? await sandbox.create(options) : await sandbox.restore(chain(), options);
      return step;
    }
    images = step.image.form === 'base' ? [step.image] : [...images, step.image];
    journal.push({ kind: 'apply', input, digest: step.image.digest, seq: journal.length + 1 });
    for (const call of step.calls) open.set(call.guestCall, call);
    return step;
  };
  const attempt: Notebook['attempt'] = (source, signal) => {
    const prepared = sandbox.prepare(source);
    assert(prepared.ok, prepared.ok ? '' : prepared.message);
    return apply({ kind: 'run', cell: `c${++cells}`, code: prepared.code, at: clock() }, signal);
  };
  const deliver = async (guestCall: number, ok: boolean, value: unknown): Promise<Rest> => {
    open.delete(guestCall);
    const json = JSON.stringify(value ?? null);
    return rested(await apply({ kind: 'delivery', guestCall, ok, json, at: clock() }));
  };
  const notebook: Notebook = {
    journal,
    chain,
    open,
    attempt,
    run: async (source) => rested(await attempt(source)),
    answer: (guestCall, value) => deliver(guestCall, true, value),
    refuse: (guestCall, error) => deliver(guestCall, false, error),
    async value(source) {
      const { ended, output } = await notebook.run(source);
      const [end] = ended;
      assert(end?.end.status === 'done', `the cell is done: ${JSON.stringify(ended)} ${output}`);
      return end.end.value;
    },
    async reopen(next = sandbox) {
      await heap.close();
      sandbox = next;
      heap = await sandbox.restore(chain(), options);
      journal.push({ kind: 'restored', seq: journal.length + 1 });
    },
    heap: () => heap,
    close: () => heap.close(),
  };
  return notebook;
}

/** A history with concurrent and shuffled settlements, randomness, timers and errors; `between` runs after each entry. */
export async function playHistory(book: Notebook, between: () => Promise<void>): Promise<void> {
  const { next } = seededEntropy(7);
  for (const source of CELLS) {
    await book.run(source);
    await between();
    while (book.open.size > 0 && next() < 0.75) {
      const calls = [...book.open.keys()];
      const call = calls[Math.floor(next() * calls.length)] as number;
      if (next() < 0.2) await book.refuse(call, { name: 'E', code: 'no', message: 'no' });
      else await book.answer(call, { v: Math.floor(next() * 100) });
      await between();
    }
  }
}

const CELLS = [
  'const rows = Array.from({ length: 2000 }, (_, i) => ({ i, v: Math.random() })); let n = 0; rows.length',
  'const all = Promise.all([tools.a(1), tools.b(2), tools.c(3)]).then((r) => { n += r.length }, (e) => { n -= 1; throw e }); "begun"',
  'const late = tools.slow("x").then((v) => { n += 1000; return v.v + Math.random() }, () => -1); setTimeout(() => { n += 0.5; tools.ping(n) }, 50); n',
  'const w = await tools.d({ deep: [1, 2, 3] }); rows.push({ i: -1, v: w.v }); rows.length',
  'function* g() { let i = 0; while (true) yield i++ } const it = g(); it.next(); n = crypto.randomUUID().length; it.next().value',
  'null.x',
  '[it.next().value, Date.now(), Math.random(), new Map(rows.map((r) => [r.i, r])).size, structuredClone(rows[3]).i]',
];

function rested(step: HeapStep): Rest {
  if (step.kind === 'rest') return step;
  throw new Error(`the heap came to no rest: ${step.reason} ${step.message} ${step.output}`);
}
