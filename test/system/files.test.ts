// Owns: files of a session through the whole runtime: tools, commits, drift, restore, forks.
import { afterEach, describe, expect, it } from 'vitest';
import { OutlastError } from '../../src/core/error.ts';
import type { Event } from '../../src/core/event.ts';
import type { ModelRequest } from '../../src/core/message.ts';
import type { Json } from '../../src/lib/json.ts';
import {
  calls,
  gate,
  type Harness,
  type HarnessOptions,
  harness,
  read,
  say,
  tool,
} from '../../src/testing/harness.ts';
import { FILE_TOOLS } from '../../src/tools/files/tools.ts';

const running: Harness[] = [];

function given(options: HarnessOptions = {}): Harness {
  const h = harness({ tools: FILE_TOOLS, ...options });
  running.push(h);
  return h;
}

afterEach(async () => {
  for (const h of running.splice(0)) {
    h.end();
    expect(await h.unsound()).toEqual([]);
  }
});

type Asked = readonly [string, Json];

/** For each message these calls, each in a step of its own; then what became of them is said. */
const asks =
  (...work: readonly (readonly Asked[])[]) =>
  (request: ModelRequest) => {
    const { instructions, results } = read(request);
    const asked = work[instructions.length - 1]?.[results.length];
    return asked ? calls(asked) : say(results.map(({ status, text }) => `${status}: ${text}`).join('\n'));
  };

const of = async <Kind extends Event['kind']>(h: Harness, session: string, kind: Kind) =>
  (await h.log(session)).filter((event): event is Extract<Event, { kind: Kind }> => event.kind === kind);

const said = async (h: Harness, session: string): Promise<string> =>
  (await of(h, session, 'response.surfaced')).at(-1)?.text ?? '';

const tail = (h: Harness): string => {
  const last = h.requests.at(-1)?.messages.at(-1);
  return last?.role === 'user' ? last.text : '';
};

const write = (path: string, content: string): Asked => ['write_file', { path, content }];

describe('files of a session', () => {
  it('a session that touches no files has no event of them, and its request no line', async () => {
    const h = given({ model: [say('hello')] });
    const id = await h.start('hi');
    await h.rest(id);
    expect((await h.log(id)).filter(({ kind }) => kind.startsWith('workspace'))).toEqual([]);
    expect(tail(h)).not.toContain('workspace');
  });

  it('each call that changes files is settled and committed in one', async () => {
    const h = given({
      model: asks([
        write('src/a.ts', 'one\n'),
        ['edit_file', { path: 'src/a.ts', old_string: 'one', new_string: 'two' }],
      ]),
    });
    const id = await h.start('write');
    await h.rest(id);
    const log = await h.log(id);
    const kinds = log.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind.startsWith('workspace'))).toEqual([
      'workspace.opened',
      'workspace.committed',
      'workspace.committed',
    ]);
    for (const [i, kind] of kinds.entries()) {
      if (kind === 'workspace.committed') expect(kinds[i - 1]).toBe('effect.settled');
    }
    const [first, second] = await of(h, id, 'workspace.committed');
    expect(first).toMatchObject({
      why: 'call',
      effect: 'e1',
      tree: { files: 1, bytes: 4 },
      changed: { added: 2, changed: 0, removed: 0 },
    });
    expect(second).toMatchObject({
      effect: 'e2',
      changed: { paths: [{ path: 'src/a.ts', change: 'changed' }] },
    });
    expect(await said(h, id)).toContain('Edited: src/a.ts, line 1.');
    expect(h.workspaces.hands.text(id, 'src/a.ts')).toBe('two\n');
    expect(tail(h)).toContain('workspace: 1 files, 4 bytes');
  });

  it('a folder that is gone is restored before the next step, byte for byte', async () => {
    const h = given({
      model: asks([write('a', 'x'), write('deep/b', 'y')], [['read_file', { path: 'deep/b' }]]),
    });
    const id = await h.start('write');
    await h.rest(id);
    h.workspaces.hands.lose(id);
    await h.tell(id, 'read');
    expect(await said(h, id)).toBe('done: 1\ty');
    expect((await of(h, id, 'workspace.opened')).at(-1)).toMatchObject({ rung: 'restored', tree: null });
    expect(h.workspaces.hands.text(id, 'a')).toBe('x');
  });

  it('files whose bytes are lost are named to the model and to people, and the rest is there', async () => {
    const h = given({ model: asks([write('a', 'lost'), write('b', 'kept')], [['list_files', {}]]) });
    const id = await h.start('write');
    await h.rest(id);
    h.workspaces.hands.lose(id);
    const { blob } = h.store;
    const [event] = await of(h, id, 'workspace.committed');
    let isFirst = true;
    h.faulty.blob = async (session, ref) => {
      const bytes = await blob(session, ref);
      // The content of `a` is the first blob that its commit has kept, and is read first.
      if (isFirst && new TextDecoder().decode(bytes).length < 60 && event) {
        isFirst = false;
        throw new OutlastError('blob.missing', 'gone');
      }
      return bytes;
    };
    h.restart();
    await h.tell(id, 'list');
    const opened = (await of(h, id, 'workspace.opened')).at(-1);
    expect(opened).toMatchObject({ rung: 'lost', lost: [{ path: 'a' }] });
    expect(await said(h, id)).toContain('b (4 bytes)');
    expect(tail(h)).toContain('generation 2');
    expect((await h.done(h.api.report(id))).lines).toContainEqual(
      expect.objectContaining({ kind: 'files', fate: 'lost', what: 'a' }),
    );
    expect((await h.done(h.api.inspect(id))).workspace).toMatchObject({
      lost: [{ path: 'a' }],
      generation: 2,
    });
  });

  it('what a person edits while it waits is kept, told to the model once, and shown to people', async () => {
    const h = given({
      model: asks([write('a', 'mine')], [['read_file', { path: 'a' }]], [['read_file', { path: 'a' }]]),
    });
    const id = await h.start('write');
    await h.rest(id);
    h.workspaces.hands.put(id, 'a', 'theirs');
    h.workspaces.hands.put(id, 'new', 'more');
    await h.tell(id, 'read');
    const first = h.requests[h.requests.length - 2];
    const told = first?.messages.at(-1);
    expect(told?.role === 'user' && told.text).toContain(
      'files that somebody else has changed since the last commit: a (changed), new (added)',
    );
    expect(tail(h)).not.toContain('somebody else');
    expect((await of(h, id, 'workspace.opened')).at(-1)).toMatchObject({
      rung: 'drifted',
      changed: { added: 1, changed: 1 },
      tree: { files: 2 },
    });
    expect(await said(h, id)).toBe('done: 1\ttheirs');
    const { workspace } = await h.done(h.api.inspect(id));
    expect(workspace?.commits.map(({ why }) => why)).toEqual(['call', 'drifted']);
    expect(workspace?.restored?.note).toContain('somebody else has changed them');
  });

  it('a change of others between two steps is a commit of its own, and not written over', async () => {
    const h: Harness = given({
      model: async (request) => {
        const { results, instructions } = read(request);
        if (instructions.length === 1) return say('ready');
        if (results.length === 0) return calls(write('a', 'one'));
        if (results.length === 1) {
          h.workspaces.hands.put(id, 'a', 'theirs');
          h.workspaces.hands.put(id, 'other', 'theirs');
          return calls(write('a', 'two'));
        }
        if (results.length === 2) return calls(write('b', 'three'));
        return say(results.map(({ status, text }) => `${status}: ${text}`).join('\n'));
      },
    });
    const id = await h.start('hello');
    await h.rest(id);
    await h.tell(id, 'write');
    expect(h.workspaces.hands.text(id, 'a')).toBe('theirs');
    expect(await said(h, id)).toContain('[file.changed]');
    expect((await of(h, id, 'workspace.committed')).map(({ why, effect }) => `${why} ${effect}`)).toEqual([
      'call e1',
      'drift null',
      'call e3',
    ]);
    const third = h.requests[3]?.messages.at(-1);
    expect(third?.role === 'user' && third.text).toContain('a (changed), other (added)');
  });

  it('a write that the worker did not live to settle is done once, and the differences are told as possibly its', async () => {
    const h = given({ model: asks([write('a', 'x')]) });
    const stop = gate();
    const write1 = h.faulty;
    // The settlement never becomes durable.
    write1.commit = async (commit) =>
      commit.events.some(({ kind }) => kind === 'effect.settled')
        ? stop.pass().then(() => h.store.commit(commit))
        : h.store.commit(commit);
    const id = await h.start('write');
    await h.until(() => stop.reached > 0, 'a settlement');
    expect(h.workspaces.hands.text(id, 'a')).toBe('x');
    delete write1.commit;
    h.restart();
    await h.rest(id);
    expect((await of(h, id, 'effect.dispatched')).map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(await said(h, id)).toBe('done: Written: a, 1 bytes.');
    const opened = (await of(h, id, 'workspace.opened')).at(-1);
    expect(opened).toMatchObject({ rung: 'drifted', changed: { paths: [{ path: 'a', change: 'added' }] } });
    expect(opened?.note).toContain('e1 (write_file) was under way');
    expect(await of(h, id, 'workspace.committed')).toEqual([]);
    expect(tail(h)).toContain('or e1, which came to no end');
  });

  it('calls that change files go one after the other, in their order', async () => {
    const busy: string[] = [];
    const slow = tool(
      'slow',
      { kind: 'blind' },
      async (args, context) => {
        const name = String((args as { name: string }).name);
        busy.push(`${name} begins`);
        await h.clock.sleep(100);
        await context.workspace().write(name, new TextEncoder().encode(name));
        busy.push(`${name} ends`);
        return { status: 'done', result: name };
      },
      { changesFiles: true },
    );
    const h: Harness = given({
      tools: [...FILE_TOOLS, slow],
      model: (request) =>
        read(request).results.length === 0
          ? calls(['slow', { name: 'a' }], ['slow', { name: 'b' }], ['read_file', { path: 'b' }])
          : say(
              read(request)
                .results.map(({ text }) => text)
                .join(' '),
            ),
    });
    const id = await h.start('both');
    await h.rest(id);
    expect(busy).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
    expect(await said(h, id)).toBe('a b 1\tb');
  });

  it('a fork has its own folder, and the files as they were at its place', async () => {
    const h = given({
      model: asks(
        [write('a', 'one')],
        [write('a', 'two')],
        [['read_file', { path: 'a' }], write('b', 'fork')],
      ),
    });
    const id = await h.start('first');
    await h.rest(id);
    const at = (await h.state(id)).head;
    await h.tell(id, 'second');
    const { session } = await h.done(h.api.fork(id, { at, message: 'x' }));
    await h.rest(session);
    await h.tell(session, 'read');
    expect(await said(h, session)).toContain('done: 1\ttwo');
    expect(h.workspaces.hands.text(session, 'b')).toBe('fork');
    expect(h.workspaces.hands.text(id, 'b')).toBeNull();
    expect(h.workspaces.hands.text(id, 'a')).toBe('two');
  });

  it('parking and stopping take a last look, of a session that has no heap too', async () => {
    const h = given({ model: asks([write('a', 'x')]) });
    const id = await h.start('write');
    await h.rest(id);
    h.workspaces.hands.put(id, 'a', 'edited');
    await h.pass(11 * 60_000);
    expect((await of(h, id, 'workspace.committed')).at(-1)).toMatchObject({ why: 'parked' });
    expect(await of(h, id, 'session.parked')).toHaveLength(1);
    h.workspaces.hands.put(id, 'b', 'more');
    await h.done(h.api.stop(id));
    expect((await of(h, id, 'workspace.committed')).at(-1)).toMatchObject({
      why: 'stopped',
      changed: { paths: [{ path: 'b', change: 'added' }] },
    });
  });
});
