/** Cells over real threads: what runs away delays nobody, what is secret stays secret, what is lost is named. */

import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Model, ModelError } from '../../src/models/port.ts';
import { cell, cellByCell, createOutlast, say, since, withFolder } from './outlast.ts';

describe('a cell that never ends', () => {
  const model = cellByCell({
    spin: ['while (true) {}'],
    parse: [`const text = '[' + '1,'.repeat(3e7) + '1]'; JSON.parse(text).length`],
    quick: ['6 * 7'],
  });

  it('delays neither another session, nor send, nor stop', async () => {
    const outlast = await createOutlast({ model });
    try {
      const limits = { cellMs: 60_000 };
      const { session: spinning } = await outlast.start({ message: 'spin', persist: true, limits });
      for await (const event of outlast.follow(spinning)) if (event.kind === 'cell.started') break;

      const { session: other } = await outlast.start({ message: 'quick', persist: true });
      expect(await outlast.rest(other)).toBe('awaiting_input');
      expect((await outlast.inspect(other)).lastTurn?.text).toBe('42');
      expect((await outlast.inspect(spinning)).phase).toBe('working');

      expect((await outlast.send(spinning, 'are you there?')).rule).toContain('joins turn 1');
      expect(await outlast.stop(spinning)).toEqual({ status: 'stopped', unknown: [], children: [] });
    } finally {
      await outlast.close();
    }
  });

  it('is stopped at its limit, and the heap is as it was before the cell', async () => {
    const script = cellByCell({ a: ['let kept = 7; kept'], b: ['kept = 8; while (true) {}', 'kept'] });
    const outlast = await createOutlast({ model: script });
    try {
      const { session } = await outlast.start({ message: 'a', persist: true, limits: { cellMs: 300 } });
      await outlast.rest(session);
      await outlast.send(session, 'b');
      await outlast.rest(session);
      expect((await outlast.inspect(session)).lastTurn?.text).toBe('7');
      expect((await outlast.verify(session)).identical).toBe(true);
    } finally {
      await outlast.close();
    }
  });

  it('is interrupted at once, and the session goes on', async () => {
    const outlast = await createOutlast({ model });
    try {
      const { session } = await outlast.start({ message: 'spin', persist: true, limits: { cellMs: 60_000 } });
      for await (const event of outlast.follow(session)) if (event.kind === 'cell.started') break;
      await outlast.interrupt(session);
      await outlast.send(session, 'quick');
      await outlast.rest(session);
      expect((await outlast.inspect(session)).lastTurn).toMatchObject({ end: 'surfaced', text: '42' });
    } finally {
      await outlast.close();
    }
  });
});

describe('images', () => {
  const SECRET = 'correct-horse-battery-staple';
  const model = cellByCell({
    keep: [
      `class Vault { #s; constructor(s) { this.#s = s; } get size() { return this.#s.length; } }
      const vault = new Vault(['correct', 'horse', 'battery', 'staple'].join('-')); vault.size`,
    ],
    again: ['vault.size'],
  });

  it('hold what the guest knows, and nobody can read it on the disk', () =>
    withFolder(async (folder) => {
      const first = await createOutlast({ dataDir: folder, model });
      const { session } = await first.start({ message: 'keep', persist: true });
      await first.rest(session);
      await first.close();

      const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((f) =>
        f.isFile(),
      );
      for (const file of files) {
        const bytes = await readFile(join(file.parentPath, file.name));
        expect(bytes.includes(SECRET), file.name).toBe(false);
      }

      const second = await createOutlast({ dataDir: folder, model });
      await second.send(session, 'again');
      await second.rest(session);
      const seen = await second.inspect(session);
      expect(seen.lastTurn?.text).toBe(String(SECRET.length));
      expect(seen.heap.restored?.rung).toBe('exact');
      expect((await second.verify(session)).identical).toBe(true);
      await second.close();
    }));

  it('that cannot be opened any more are rebuilt from the journal, and it is said', () =>
    withFolder(async (folder) => {
      const first = await createOutlast({ dataDir: folder, model });
      const { session } = await first.start({ message: 'keep', persist: true });
      await first.rest(session);
      await first.close();

      // Another key: nothing that was sealed opens.
      await rm(join(folder, 'keys'), { recursive: true });
      const second = await createOutlast({ dataDir: folder, model, report: () => {} });
      await second.send(session, 'again');
      await second.rest(session);
      const seen = await second.inspect(session);
      expect(seen.heap.restored?.rung).toBe('replayed');
      expect(seen.heap.generation).toBe(2);
      expect(seen.lastTurn?.text).toBe(String(SECRET.length));
      await second.close();
    }));
});

describe('what a model is told', () => {
  it('a syntax error is an answer to the call, with its place, and no cell', async () => {
    const model: Model = {
      name: 'scripted/test',
      scripted: true,
      generate: async (request) => {
        const { results } = since(request);
        if (results.length === 0) return cell('const a = ;');
        return say(results[0] ?? '');
      },
    };
    const outlast = await createOutlast({ model });
    try {
      const { session } = await outlast.start({ message: 'x', persist: true });
      await outlast.rest(session);
      const text = (await outlast.inspect(session)).lastTurn?.text ?? '';
      expect(text).toContain('code.syntax');
      expect(text).toMatch(/1:\d+|line 1/);
    } finally {
      await outlast.close();
    }
  });

  it('a provider that refuses the request ends the turn, and the session goes on', async () => {
    let calls = 0;
    const model: Model = {
      name: 'scripted/test',
      scripted: true,
      generate: async () => {
        calls++;
        if (calls === 1)
          throw new ModelError('refused_request', 'The provider refused: 400.', { retry: false });
        return say('better');
      },
    };
    const outlast = await createOutlast({ model });
    try {
      const { session } = await outlast.start({ message: 'x', persist: true });
      expect(await outlast.rest(session)).toBe('awaiting_input');
      expect((await outlast.inspect(session)).lastTurn).toMatchObject({ end: 'failed' });
      await outlast.send(session, 'again');
      await outlast.rest(session);
      expect((await outlast.inspect(session)).lastTurn).toMatchObject({ end: 'surfaced', text: 'better' });
    } finally {
      await outlast.close();
    }
  });
});
