/** Files of a session: whole after a rest, nowhere but inside, and never written over what a person did. */

import { expect, it } from 'vitest';
import { calls, read, say } from '../../src/testing/harness.ts';
import { FILE_TOOLS } from '../../src/tools/files/tools.ts';
import { events, given, results } from './kit.ts';

const write = (path: string, content: string) => calls(['write_file', { path, content }]);

it('B040 parked and woken elsewhere, the files are those of the last commit, to the byte', async () => {
  const h = given({
    tools: FILE_TOOLS,
    model: (request) => {
      const { instructions, results: done } = read(request);
      const asked = [[write('a/b.txt', 'one\r\n\u0000'), write('c', '')], [calls(['list_files', {}])]][
        instructions.length - 1
      ]?.[done.length];
      return asked ?? say('done');
    },
  });
  const id = await h.start('write');
  await h.rest(id);
  h.workspaces.hands.folder(id, 'empty/folder');
  h.workspaces.hands.put(id, 'run', '#!/bin/sh\n', 0o755);
  await h.pass(11 * 60_000);
  expect(await events(h, id, 'session.parked')).toHaveLength(1);
  const before = (await h.state(id)).workspace.tree;
  h.workspaces.hands.lose(id);
  h.restart();
  await h.tell(id, 'list');
  expect((await events(h, id, 'workspace.opened')).at(-1)).toMatchObject({ rung: 'restored' });
  expect((await h.state(id)).workspace.tree).toEqual(before);
  expect(h.workspaces.hands.text(id, 'a/b.txt')).toBe('one\r\n\u0000');
  expect(results(h.requests.at(-1)).at(-1)?.text).toBe(
    'a/\na/b.txt (6 bytes)\nc (0 bytes)\nempty/\nempty/folder/\nrun (10 bytes)',
  );
  // A look that finds all as it was is told to nobody.
  await h.tell(id, 'again');
  expect((await events(h, id, 'workspace.opened')).at(-1)).toMatchObject({ rung: 'attached' });
});

it('B078 no file tool leaves the workspace: not up, not from the root, not through a link', async () => {
  const paths = ['../secret', '/etc/passwd', 'out/passwd', 'a/../../secret', 'up/secret'];
  const h = given({
    tools: FILE_TOOLS,
    model: (request) =>
      read(request).results.length === 0 && read(request).instructions.length === 2
        ? calls(
            ...paths.flatMap((path) => [
              ['read_file', { path }] as const,
              ['write_file', { path, content: 'x' }] as const,
              ['edit_file', { path, old_string: '', new_string: 'x' }] as const,
              ['list_files', { path }] as const,
              ['search_files', { pattern: 'root', path }] as const,
            ]),
          )
        : say('done'),
  });
  const id = await h.start('hello');
  await h.rest(id);
  h.workspaces.hands.link(id, 'out', '/etc');
  h.workspaces.hands.link(id, 'up', '../..');
  await h.tell(id, 'out');
  const told = results(h.requests.at(-1));
  expect(told).toHaveLength(25);
  for (const { status, text } of told) {
    expect(status).toBe('failed');
    expect(text).toContain('[path.outside]');
  }
  const { tree } = (await h.state(id)).workspace;
  expect(tree?.files).toBe(0);
});

it('B101 what a person changed while it waited is shown before it is written, and not written over unread', async () => {
  const h = given({
    tools: FILE_TOOLS,
    model: (request) => {
      const { instructions, results: done } = read(request);
      if (instructions.length === 1) return done.length === 0 ? write('f', 'one\n') : say('done');
      if (done.length === 0) h.workspaces.hands.put(id, 'f', 'while it thought\n');
      const asked = [write('f', 'two\n'), calls(['read_file', { path: 'f' }]), write('f', 'three\n')];
      return asked[done.length] ?? say('done');
    },
  });
  const id = await h.start('write');
  await h.rest(id);
  await h.pass(11 * 60_000);
  h.workspaces.hands.put(id, 'f', 'theirs\n');
  await h.tell(id, 'change it');

  const [, , first] = h.requests;
  const tail = first?.messages.at(-1);
  expect(tail?.role === 'user' && tail.text).toContain(
    'somebody else has changed since the last commit: f (changed)',
  );
  const told = results(h.requests.at(-1)).map(({ status, text }) => `${status} ${text}`);
  expect(told[1]).toContain('failed');
  expect(told[1]).toContain('[file.changed]');
  expect(told.slice(2)).toEqual([
    'done 1\twhile it thought',
    expect.stringContaining('done Written in place'),
  ]);
  expect(h.workspaces.hands.text(id, 'f')).toBe('three\n');
  // Each of the three states was committed: nothing that stood there is lost.
  const commits = (await h.state(id)).workspace.commits.map(({ why }) => why);
  expect(commits).toEqual(['call', 'drifted', 'drift', 'call']);
});

it('B028 of a file of 50 MB the model gets a page and the way to go on, and memory a piece at a time', async () => {
  let most = 0;
  const h = given({
    tools: FILE_TOOLS,
    model: (request) => {
      const { instructions, results: done } = read(request);
      if (instructions.length === 1 || done.length > 1) return say('done');
      return calls(['read_file', { path: 'big.txt', offset: done.length === 0 ? 1 : 400_000 }]);
    },
  });
  const { read: reading } = h.workspaces;
  h.workspaces.read = async (session, path, from, length) => {
    const bytes = await reading(session, path, from, length);
    most = Math.max(most, bytes.length);
    return bytes;
  };
  const id = await h.start('hello');
  await h.rest(id);
  h.workspaces.hands.put(id, 'big.txt', `${'x'.repeat(99)}\n`.repeat(500_000));
  await h.tell(id, 'read it');
  const [first, second] = results(h.requests.at(-1));
  expect(first?.text.length).toBeLessThan(70_000);
  expect(first?.text).toContain('more follow: offset');
  expect(second?.text).toContain('400000\txxx');
  expect(most).toBeLessThanOrEqual(256 * 1024);
  expect((await h.state(id)).lastTurn).toMatchObject({ end: 'surfaced' });
});
