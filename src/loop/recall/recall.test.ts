import { describe, expect, it } from 'vitest';
import { inWords } from '../../context/recall/render.ts';
import type { Event, EventBody, ForeignEvent } from '../../core/event.ts';
import type { SessionId } from '../../core/ids.ts';
import { encode } from '../../core/upcast.ts';
import { textOf } from '../../projections/recall/passages.ts';
import { memoryStore } from '../../store/memory.ts';
import type { Batch, Store } from '../../store/port.ts';
import { handClock, sampleId, sampleSummary } from '../../store/sample.ts';
import { type Sequence, sequence } from '../../testing/facts.ts';
import { type Past, recall } from './recall.ts';
import { RECALL_TOOL, recallFor } from './tool.ts';

const CHARS = 16_000;
const session = sampleId(1);
const NO_EFFECTS = { open: [], closed: [] };

/** A store with the log of a session, which tells what is indexed and read. */
function kept(...logs: readonly (readonly (Event | ForeignEvent)[])[]) {
  const inner = memoryStore(handClock());
  const indexed: (readonly [number, number])[] = [];
  let read = 0;
  const store: Store = {
    ...inner,
    async index(id, batch) {
      indexed.push([batch.after, batch.upTo]);
      return inner.index(id, batch);
    },
    async read(id, after, limit) {
      const rows = await inner.read(id, after, limit);
      read += rows.length;
      return rows;
    },
  };
  const append = async (id: SessionId, events: readonly Event[]): Promise<void> => {
    const head = (await inner.row(id))?.head ?? 0;
    const rows = events.map((event, at) => encode({ ...event, seq: head + at + 1 }));
    await inner.commit({ session: id, head, epoch: null, events: rows, blobs: [], summary: sampleSummary() });
  };
  const ready = (async () => {
    for (const [at, log] of logs.entries()) await append(sampleId(at + 1), log as readonly Event[]);
  })();
  const past = async (id = session): Promise<Past> => {
    await ready;
    return { session: id, store, state: { head: (await inner.row(id))?.head ?? 0, effects: NO_EFFECTS } };
  };
  return { inner, past, append, indexed, reads: () => read };
}

const said = (text: string, at = 0): Event =>
  ({
    kind: 'message.accepted',
    ...{ message: 'm1', key: null, text, images: [], when: 'next', rule: '', seq: 1, at: 1_000_000 + at },
  }) as unknown as Event;

const many = (count: number, from = 0): Event[] =>
  Array.from({ length: count }, (_, at) => said(`row number r${from + at}`, (from + at) * 60_000));

const texts = async (past: Past, words: string): Promise<readonly string[]> =>
  (await recall(past, { words }, CHARS)).passages.map(({ text }) => text);

describe('by words', () => {
  it('R2 finds what was said a moment ago, whatever the index holds by then', async () => {
    const log = kept(many(100));
    expect(await texts(await log.past(), 'r7')).toContain('row number r7');
    for (let round = 0; round < 5; round++) {
      await log.append(session, many(10, 100 + 10 * round));
      expect(await texts(await log.past(), `r${100 + 10 * round + 9}`)).toContain(
        `row number r${109 + 10 * round}`,
      );
      expect(await texts(await log.past(), 'r7')).toContain('row number r7');
    }
  });

  it('R2 a short log is read and not indexed; a long one is indexed once, in few batches', async () => {
    const short = kept(many(20));
    await texts(await short.past(), 'r7');
    expect(short.indexed).toEqual([]);
    const long = kept(many(5_000));
    await texts(await long.past(), 'r7');
    expect(long.indexed).toEqual([
      [0, 4_096],
      [4_096, 5_000],
    ]);
    const before = long.reads();
    await texts(await long.past(), 'r7');
    expect(long.indexed).toHaveLength(2);
    expect(long.reads() - before).toBeLessThan(1_000);
  });

  it('R2 batches stay few however often somebody asks', async () => {
    const log = kept(many(40));
    for (let round = 0; round < 60; round++) {
      await texts(await log.past(), 'r7');
      await log.append(session, many(33, 40 + 33 * round));
    }
    const batches = await log.inner.search(session, []);
    expect(batches.length).toBeLessThan(14);
    expect(batches.map(({ after }) => after)).toEqual([0, ...batches.slice(0, -1).map(({ upTo }) => upTo)]);
  });

  it('R3 what an index makes up is not told, and what cannot be read is made anew', async () => {
    const log = kept(many(50));
    const past = await log.past();
    const before = await texts(past, 'r7');
    const [batch] = (await log.inner.search(session, [])) as [Batch];
    await log.inner.index(session, { ...batch, passages: Uint8Array.of(99), words: new Map() });
    expect(await texts(past, 'r7')).toEqual(before);
    expect(log.indexed.at(-1)).toEqual([0, 50]);
    // A passage of an event that has none.
    const forged = Uint8Array.of(1, 200, 1, 1, 0, 0, 0, 3);
    await log.inner.index(session, {
      ...batch,
      passages: forged,
      words: new Map([['r7', Uint8Array.of(0, 1)]]),
    });
    expect(await texts(past, 'r7')).toEqual([]);
  });

  it('R1 knows the log of one session and no other', async () => {
    const log = kept(many(40), [said('the other secret r7')]);
    expect((await texts(await log.past(), 'secret r7')).join()).not.toContain('secret');
    expect(await texts(await log.past(sampleId(2)), 'secret')).toEqual(['the other secret r7']);
    await expect(recall(await log.past(sampleId(2)), { id: '#2' }, CHARS)).rejects.toThrow('There is no #2');
  });

  it('does not find what was only recalled', async () => {
    const log = sequence().started().acquired(1).message('The code is 4711').turn();
    const asked = log.effect({ kind: 'read' }, 'recall').settled({ text: '#3 The code is 4711' });
    const from = kept(asked.events);
    const past = { ...(await from.past()), state: asked.state };
    const found = await recall(past, { words: 'code 4711' }, CHARS);
    expect(found.passages.map(({ kind }) => kind)).toEqual(['message', 'call']);
  });
});

describe('by id', () => {
  const long = Array.from({ length: 3_000 }, (_, at) => `line ${at} 😀`).join('\n');

  it('gives the text of every event, and the body of one that says nothing, page by page to the last character', async () => {
    const log = working().message(long).events;
    const past = await kept(log).past();
    for (const [at, event] of log.entries()) {
      const whole = textOf(event) || encode(event as Event).body;
      let read = '';
      for (;;) {
        const [page] = (await recall(past, { id: `#${at + 1}`, offset: read.length }, 4_000)).passages;
        expect(page).toMatchObject({ seq: at + 1, offset: read.length, length: whole.length, at: event.at });
        read += page?.text;
        if (read.length === whole.length) break;
        expect(page?.text.length).toBeGreaterThan(0);
      }
      expect(read).toBe(whole);
    }
  });

  it('gives a part by its own id, as it is cited', async () => {
    const past = await kept([said(long), ...many(3)]).past();
    const { passages } = await recall(past, { words: 'line 2999' }, CHARS);
    const cited = passages.find(({ text }) => text.includes('line 2999'));
    expect(cited?.id).toMatch(/^#1\.\d+$/);
    const [page] = (await recall(past, { id: cited?.id ?? '' }, CHARS)).passages;
    expect(page).toEqual({ ...cited, standing: null });
    expect(long.slice(page?.offset).startsWith(page?.text ?? '-')).toBe(true);
  });

  it.each(['#0', '#99', '99', '#1.9', '#1.0', 'x', '', '#1e3', '#-1'])('refuses %j', async (id) => {
    const past = await kept(many(3)).past();
    await expect(recall(past, { id }, CHARS)).rejects.toMatchObject({ code: 'request.invalid' });
  });
});

describe('by kind and time', () => {
  it('lists the newest, and older ones from an offset on', async () => {
    const past = await kept(many(50)).past();
    const listed = async (over: object) => {
      const { passages, older } = await recall(past, { kind: 'message', limit: 3, ...over }, CHARS);
      return [...passages.map(({ text }) => text.split(' ').at(-1)), older];
    };
    expect(await listed({})).toEqual(['r47', 'r48', 'r49', 47]);
    expect(await listed({ offset: 3 })).toEqual(['r44', 'r45', 'r46', 44]);
    expect(await listed({ offset: 48 })).toEqual(['r0', 'r1', 0]);
    expect(await listed({ offset: 90 })).toEqual([0]);
    expect(await listed({ kind: 'result' })).toEqual([0]);
    expect(await listed({ from: 1_000_000 + 60_000, to: 1_000_000 + 2 * 60_000 })).toEqual(['r1', 'r2', 0]);
  });
});

describe('the tool', () => {
  const context = {
    ...{ reference: '', session: 'ses_0123456789abcdef' as SessionId, epoch: 1, attempt: 1 },
    signal: new AbortController().signal,
    workspace: () => {
      throw new Error('recall needs no files');
    },
    kin: () => {
      throw new Error('recall needs no children');
    },
  };
  const planned = (args: unknown) => RECALL_TOOL.plan(args as never);

  it.each([
    [{}, 'give an id'],
    [{ id: '#1', words: 'x' }, 'stands alone'],
    [{ id: 1 }, 'an id is as results cite it'],
    [{ words: ' ' }, 'words are a text'],
    [{ kind: 'rumour' }, 'the kinds are message'],
    [{ from: 'yesterday' }, 'ISO 8601'],
    [{ to: 5 }, 'ISO 8601'],
    [{ words: 'x', offset: -1 }, 'whole numbers'],
    [{ kind: 'note', limit: 0 }, 'whole numbers'],
    [{ word: 'x' }, 'there is no "word"'],
    ['x', 'an object'],
  ])('refuses %j', (args, why) => {
    expect(planned(args)).toMatchObject({
      refused: { code: 'call.invalid', message: expect.stringContaining(why) },
    });
  });

  it('O1 answers in words, with no more characters than a result may have', async () => {
    const log = working().message('word '.repeat(9_000));
    const busy = Array.from({ length: 40 }).reduce<Sequence>((all) => all.message('word '.repeat(90)), log);
    const past = await kept(busy.events).past();
    for (const args of [
      { id: '#3' },
      { words: 'word' },
      { kind: 'message', limit: 1_000 },
      { from: '2026-03-02' },
    ]) {
      for (const outputChars of [500, 4_000, 16_000]) {
        const s = {
          ...busy.state,
          contract: { ...busy.state.contract, limits: { ...busy.state.contract.limits, outputChars } },
        };
        const answer = await recallFor(session, s, past.store).run(args, context);
        expect(answer.status).toBe('done');
        const text = answer.status === 'done' ? String(answer.result) : '';
        expect(text.length, JSON.stringify([args, outputChars])).toBeLessThanOrEqual(outputChars);
        expect(text).toContain('message, 2026-03-02');
      }
    }
  });

  it('says what is not there as a failure, and nothing of it is made up', async () => {
    const { state, events } = working();
    const past = await kept(events).past();
    const answer = await recallFor(session, state, past.store).run({ id: '#77' }, context);
    expect(answer).toEqual({
      status: 'failed',
      code: 'request.invalid',
      message: `There is no #77 in this session: its log ends at #${events.length}.`,
    });
    expect(inWords(await recall(past, { words: 'zebra' }, CHARS))).toMatch(/^Nothing in the log/);
  });
});

function working(): Sequence {
  const body: EventBody = { kind: 'turn.failed', turn: 1, code: 'x', reason: 'It rained.', claims: [] };
  return sequence().started().acquired(1).message('Report').turn().event(body);
}
