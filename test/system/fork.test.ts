/** Forks over a real disk and real threads: two sessions that share a past and nothing else. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Event } from '../../src/core/event.ts';
import { cell, cellByCell, createOutlast, defineTool, say, since, withFolder } from './outlast.ts';

type Outlast = Awaited<ReturnType<typeof createOutlast>>;

const lastText = async (outlast: Outlast, session: string) =>
  (await outlast.inspect(session)).lastTurn?.text ?? '';

const logOf = async (outlast: Outlast, session: string): Promise<Event[]> => {
  const events: Event[] = [];
  for (;;) {
    const page = (await outlast.events(session, events.length, 1_000)) as Event[];
    events.push(...page);
    if (page.length < 1_000) return events;
  }
};

async function said(outlast: Outlast, session: string, message: string): Promise<string> {
  await outlast.send(session, message);
  await outlast.rest(session);
  return lastText(outlast, session);
}

const TWENTY = Array.from({ length: 20 }, (_, n) => `v${n}`);
const SUM = `[${TWENTY.join(', ')}].map((v) => v.n).join()`;

const script = cellByCell({
  make: [
    `class Box { #n; constructor(n) { this.#n = n; } get n() { return this.#n; } set n(n) { this.#n = n; } }
    ${TWENTY.map((name, n) => `const ${name} = new Box(${n});`).join(' ')} ${SUM}`,
  ],
  double: [`for (const v of [${TWENTY.join(', ')}]) v.n *= 2; ${SUM}`],
  negate: [`for (const v of [${TWENTY.join(', ')}]) v.n = -v.n - 1; ${SUM}`],
  read: [SUM],
});

const row = (of: (n: number) => number): string => JSON.stringify(TWENTY.map((_, n) => of(n)).join());
const plain = (text: string): string => text.replaceAll("'", '"');

describe('live objects', () => {
  it('are each one`s own: both go on from the same twenty, also in another process', () =>
    withFolder(async (folder) => {
      const first = await createOutlast({ dataDir: folder, model: script });
      const { session } = await first.start({ message: 'make', persist: true });
      await first.rest(session);
      const { session: fork, from, at } = await first.fork(session);
      expect(from).toBe(session);
      expect(await first.rest(fork)).toBe('awaiting_input');
      expect(plain(await said(first, fork, 'negate'))).toBe(row((n) => -n - 1));
      expect(plain(await said(first, session, 'double'))).toBe(row((n) => 2 * n));
      await first.close();

      const second = await createOutlast({ dataDir: folder, model: script });
      expect(plain(await said(second, fork, 'read'))).toBe(row((n) => -n - 1));
      expect(plain(await said(second, session, 'read'))).toBe(row((n) => 2 * n));
      for (const id of [session, fork]) {
        const { identical, violations, image } = await second.verify(id);
        expect({ identical, violations, image }).toEqual({
          identical: true,
          violations: [],
          image: 'intact',
        });
      }
      const seen = await second.inspect(fork);
      expect(seen.forkedFrom).toEqual({ session, at });
      expect(seen.heap.restored?.rung).toBe('exact');
      await second.close();
    }));

  it('are those of the event that is named: an older one has the older heap, and its own past', () =>
    withFolder(async (folder) => {
      const outlast = await createOutlast({ dataDir: folder, model: script });
      const { session } = await outlast.start({ message: 'make', persist: true });
      await outlast.rest(session);
      const { head } = await outlast.inspect(session);
      await said(outlast, session, 'double');
      await said(outlast, session, 'negate');

      const { session: fork, at, seq } = await outlast.fork(session, { at: head, message: 'read' });
      expect([at, seq]).toEqual([head, head + 1]);
      await outlast.rest(fork);
      expect(plain(await lastText(outlast, fork))).toBe(row((n) => n));
      const [own, copied] = [await logOf(outlast, session), await logOf(outlast, fork)];
      expect(copied.slice(0, head)).toEqual(own.slice(0, head));
      expect(copied[head]).toMatchObject({ kind: 'session.forked', from: session, head });
      expect((await outlast.verify(fork)).identical).toBe(true);

      // A fork of a fork, before and after the place where it was made.
      const early = await outlast.fork(fork, { at: head - 2, message: 'read' });
      const late = await outlast.fork(fork, { message: 'double' });
      for (const made of [early, late]) await outlast.rest(made.session);
      expect(plain(await lastText(outlast, early.session))).toBe(row((n) => n));
      expect(plain(await lastText(outlast, late.session))).toBe(row((n) => 2 * n));
      for (const made of [early, late]) {
        expect(await outlast.verify(made.session)).toMatchObject({ identical: true, image: 'intact' });
      }
      await outlast.close();
    }));

  it('come back by the journal when an image is gone, and the fork is told', () =>
    withFolder(async (folder) => {
      const first = await createOutlast({ dataDir: folder, model: script });
      const { session } = await first.start({ message: 'make', persist: true });
      await first.rest(session);
      await first.close();
      // Another key: no image opens any more.
      await rm(join(folder, 'keys'), { recursive: true });

      const second = await createOutlast({ dataDir: folder, model: script });
      const { session: fork } = await second.fork(session, { message: 'read' });
      await second.rest(fork);
      expect(plain(await lastText(second, fork))).toBe(row((n) => n));
      expect((await second.inspect(fork)).heap.restored?.rung).toBe('replayed');
      expect((await second.verify(fork)).identical).toBe(true);
      await second.close();
    }));
});

describe('what was in flight', () => {
  const payments = () => {
    const paid: string[] = [];
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const pay = defineTool({
      name: 'pay',
      description: 'Pay.',
      input: z.object({ what: z.string() }),
      capability: { kind: 'keyed', retentionMs: 3_600_000 },
      run: async ({ what }, { reference }) => {
        paid.push(`${what} ${reference}`);
        if (what !== 'again') await held;
        return { ok: true };
      },
    });
    return { paid, pay, release: () => release() };
  };

  const model = {
    name: 'scripted/test',
    scripted: true,
    generate: async (request: Parameters<typeof since>[0]) => {
      const { instruction, results } = since(request);
      if (results.length > 0) return say(results.at(-1) ?? '');
      if (instruction === 'pay both') {
        return cell(`const seen = []; let undone = 0;
          for (const what of ['rent', 'power']) {
            try { await tools.pay({ what }); seen.push(what); } catch (error) { seen.push(error.code); }
          }
          seen.join()`);
      }
      if (instruction === 'again') return cell("await tools.pay({ what: 'again' }); seen.join()");
      return cell('seen.join()');
    },
  };

  it('stays there: the promise rejects, its code cannot act, what it had made is kept, nothing is sent twice', () =>
    withFolder(async (folder) => {
      const { paid, pay, release } = payments();
      const outlast = await createOutlast({ dataDir: folder, model, tools: [pay] });
      const { session } = await outlast.start({ message: 'pay both', persist: true });
      for await (const event of outlast.follow(session)) if (event.kind === 'effect.dispatched') break;

      const { session: fork } = await outlast.fork(session);
      expect(await outlast.rest(fork)).toBe('awaiting_input');
      const seen = await outlast.inspect(fork);
      expect(seen.ledger.map(({ effect, status }) => [effect, status])).toEqual([
        ['e1', 'left'],
        ['e2', 'withdrawn'],
      ]);
      // The code ran to its end in the fork, and got nothing done.
      expect(await said(outlast, fork, 'look')).toContain('left_with_original,left_with_original');
      expect(paid).toHaveLength(1);

      release();
      expect(await outlast.rest(session)).toBe('awaiting_input');
      expect(await lastText(outlast, session)).toContain('rent,power');
      expect(paid.map((line) => line.split(' ')[0])).toEqual(['rent', 'power']);

      // What the fork does by itself is its own, under its own name.
      expect(await said(outlast, fork, 'again')).toContain('left_with_original');
      expect(paid.at(-1)).toMatch(new RegExp(`^again ${fork}\\.`));
      for (const id of [session, fork]) {
        expect(await outlast.verify(id)).toMatchObject({ identical: true, violations: [] });
      }
      await outlast.close();
    }));

  it('a loop in the background that ignores each refusal does not keep a fork awake', async () => {
    const loop = cellByCell({
      loop: [
        `(async () => { for (;;) { try { await tools.sleep({ seconds: 3600 }); } catch { n++; } } })();
        setInterval(() => { n += 100; }, 1_000); let n = 0; n`,
      ],
      n: ['n'],
    });
    const outlast = await createOutlast({ model: loop });
    const { session } = await outlast.start({ message: 'loop', persist: true });
    await outlast.rest(session);
    const { session: fork } = await outlast.fork(session);
    expect(await outlast.rest(fork)).toBe('awaiting_input');
    // Refused twice: the sleep of the original, and the one that came after it.
    expect(await said(outlast, fork, 'n')).toBe('2');
    expect(await outlast.verify(fork)).toMatchObject({ identical: true, violations: [] });
    await outlast.close();
  });
});

it('images are shown in a fork, sealed as they were, and those that are sent to it', () =>
  withFolder(async (folder) => {
    const shown: number[] = [];
    const looking = {
      name: 'scripted/test',
      scripted: true,
      generate: async (request: Parameters<typeof since>[0]) => {
        const images = request.messages.flatMap((m) => (m.role === 'user' ? (m.images ?? []) : []));
        shown.push(...images.map(({ data }) => data.at(-1) ?? -1));
        return say('seen');
      },
    };
    const image = (last: number) => ({
      mediaType: 'image/png',
      data: Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, last]),
    });
    const first = await createOutlast({ dataDir: folder, model: looking });
    const { session } = await first.start({ message: 'look', persist: true, images: [image(1)] });
    await first.rest(session);
    const { session: fork } = await first.fork(session);
    await first.close();

    const second = await createOutlast({ dataDir: folder, model: looking });
    shown.length = 0;
    await second.send(fork, 'and this?', { images: [image(2)] });
    await second.rest(fork);
    expect(shown).toEqual([1, 2]);
    const { session: again } = await second.fork(fork, { message: 'once more' });
    shown.length = 0;
    await second.rest(again);
    expect(shown).toEqual([1, 2]);
    await second.close();
  }));

describe('the call', () => {
  it('under a key is done once, for its session and its content', async () => {
    const outlast = await createOutlast({ model: script });
    const { session } = await outlast.start({ message: 'make', persist: true });
    await outlast.rest(session);
    const first = await outlast.fork(session, { key: 'k', message: 'read' });
    await said(outlast, session, 'double');
    expect(await outlast.fork(session, { key: 'k', message: 'read' })).toEqual(first);
    await expect(outlast.fork(session, { key: 'k', message: 'double' })).rejects.toMatchObject({
      code: 'key.conflict',
    });
    await expect(outlast.fork(session, { key: 'k', at: 2 })).rejects.toMatchObject({ code: 'key.conflict' });
    // Keys of starts are others.
    const { session: started } = await outlast.start({ message: 'make', persist: true, key: 'k' });
    expect(started).not.toBe(first.session);
    const other = await outlast.fork(started, { key: 'k' });
    expect([first.session, started]).not.toContain(other.session);
    await outlast.close();
  });

  it('works in every state, and refuses a place that is none', async () => {
    const outlast = await createOutlast({ model: script });
    const { session } = await outlast.start({ message: 'make' });
    expect(await outlast.rest(session)).toBe('completed');
    const of = async () => {
      const { session: fork } = await outlast.fork(session);
      return plain(await said(outlast, fork, 'read'));
    };
    expect(await of()).toBe(row((n) => n));
    await outlast.pause(session);
    expect(await of()).toBe(row((n) => n));
    await outlast.stop(session);
    expect(await of()).toBe(row((n) => n));
    const { head } = await outlast.inspect(session);
    for (const at of [0, -1, 1.5, head + 1, Number.NaN]) {
      await expect(outlast.fork(session, { at })).rejects.toMatchObject({ code: 'request.invalid' });
    }
    await outlast.close();
  });

  it('a place inside a move of the sandbox is rounded down, and the receipt says so', async () => {
    const pay = defineTool({
      name: 'pay',
      description: 'Pay.',
      input: z.object({}),
      capability: { kind: 'read' },
      run: async () => 1,
    });
    const outlast = await createOutlast({ model: cellByCell({ go: ['await tools.pay({})'] }), tools: [pay] });
    const { session } = await outlast.start({ message: 'go', persist: true });
    await outlast.rest(session);
    const moved = (await logOf(outlast, session)).find((event) => event.kind === 'cell.committed');
    const seq = moved?.seq ?? 0;
    const { at, rule } = await outlast.fork(session, { at: seq });
    expect(at).toBe(seq - 1);
    expect(rule).toBe(
      `starts from event ${seq - 1}: event ${seq} belongs to a move of the sandbox that begins after it`,
    );
    await outlast.close();
  });

  it('forks at every event of a log, and each of them verifies and goes on', async () => {
    const outlast = await createOutlast({ model: script });
    const { session } = await outlast.start({ message: 'make', persist: true });
    await outlast.rest(session);
    await said(outlast, session, 'double');
    const { head } = await outlast.inspect(session);
    for (let at = 1; at <= head; at++) {
      const { session: fork } = await outlast.fork(session, { at, message: 'negate' });
      expect(await outlast.rest(fork), `at ${at}`).toBe('awaiting_input');
      const { identical, violations } = await outlast.verify(fork);
      expect({ at, identical, violations }).toEqual({ at, identical: true, violations: [] });
    }
    await outlast.close();
  }, 120_000);

  it('an older event of a log can be looked at', async () => {
    const outlast = await createOutlast({ model: script });
    const { session } = await outlast.start({ message: 'make', persist: true });
    await outlast.rest(session);
    const before = await outlast.inspect(session);
    await said(outlast, session, 'double');
    const { residency: _r, ...then } = await outlast.inspect(session, { at: before.head });
    const { residency: _q, ...expected } = before;
    expect(then).toEqual(expected);
    await expect(outlast.inspect(session, { at: 10_000 })).rejects.toMatchObject({ code: 'request.invalid' });
    await outlast.close();
  });
});
