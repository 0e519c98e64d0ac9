/** The command line as a process of its own, against a world at hand behind real HTTP. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { VERBS } from '../../src/cli/verbs.ts';
import { app } from '../../src/server/app.ts';
import { parseTokens } from '../../src/server/auth.ts';
import { type Listening, listen } from '../../src/server/listen.ts';
import { command, launch, type Ran, temporaryFolder } from './process.ts';
import { type World, world } from './world.ts';

let outlast: World;
let listening: Listening;

beforeEach(async () => {
  outlast = world();
  listening = await listen({ fetch: app(outlast).fetch, port: 0 });
});

afterEach(async () => {
  outlast.release();
  await listening.close(0);
  await outlast.close();
});

const run = (...args: string[]): Promise<Ran> => command(args, { env: { OUTLAST_URL: listening.url } });

/** What a program reads: the last line of stdout. */
const resultOf = ({ stdout }: Ran): Record<string, unknown> =>
  JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');

async function rested(message: string, persist = true): Promise<string> {
  const { session } = await outlast.start({ message, persist });
  await outlast.rest(session);
  return session;
}

describe('help and usage', () => {
  test('help lists every verb, and loads none of them: it is there at once', async () => {
    const loaded = temporaryFolder();
    const { code, stdout } = await command(['--help'], { env: { NODE_V8_COVERAGE: loaded.path } });
    expect(code).toBe(0);
    for (const { name, summary } of VERBS)
      expect(stdout).toMatch(new RegExp(`^  ${name}\\b.*${summary}`, 'm'));
    const files = readdirSync(loaded.path).map((file) => readFileSync(join(loaded.path, file), 'utf8'));
    const ours = files.flatMap((text) =>
      [...text.matchAll(/"url":"file:[^"]*\/dist\/([^"]+)"/g)].map(([, path]) => path),
    );
    expect(ours).toContain('cli/main.js');
    expect(ours.filter((path) => /^(server|client|compose)|cli\/verbs\//.test(path ?? ''))).toEqual([]);
    expect(files.join('')).not.toMatch(/node_modules\/(zod|hono|quickjs-wasi)/);
    loaded.remove();
  });

  test('each verb has help with examples, or says what it does', async () => {
    for (const { name, help } of VERBS) {
      const { code, stdout } = await command([name, '--help']);
      expect([name, code, stdout.includes(help), stdout.includes('--json')]).toEqual([name, 0, true, true]);
    }
  }, 60_000);

  test.each([
    [['frobnicate']],
    [['send', 'last']],
    [['start']],
    [['list', '--limit', 'many']],
    [['send', 'last', 'x', '--when', 'soon']],
    [['decide', 'last', 'd1', 'perhaps']],
    [['decide', 'last', 'd1', 'answer']],
    [['inspect', 'last', '--colour']],
    [['stop', 's']],
    [['serve', '--port', 'x']],
    [['list', '--phase', 'busy']],
    [['follow', 'last', '--after', '-1']],
    [['budget', '--turn', 'steps=5']],
    [['budget', 'usd=5']],
    [['budget', 'last', 'euros=5']],
    [['budget', 'last', 'usd=-5']],
    [['start', 'x', '--budget', 'usd']],
    [['recall', 'last', '--kind', 'rumour']],
    [['recall', 'last', '--id', '#2', 'words']],
  ])('wrong usage is exit code 2 and says what is right: %j', async (args) => {
    const ran = await run(...args, '--json');
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(/^outlast: .+\n {2}→ .+\n$/);
    expect(resultOf(ran)).toMatchObject({ error: { code: 'usage' } });
  });
});

describe('the server is found, or it is said that there is none', () => {
  const data = temporaryFolder();
  beforeAll(() => mkdirSync(join(data.path, 'gone'), { recursive: true }));
  afterAll(() => data.remove());

  test('none: exit code 3 and `npm start`', async () => {
    const ran = await command(['list', '--json'], { cwd: data.path });
    expect(ran.code).toBe(3);
    expect(ran.stderr).toContain('npm start');
    expect(resultOf(ran)).toMatchObject({ error: { code: 'server.unreachable' } });
  });

  test('one that was killed left its note: exit code 3 all the same', async () => {
    const note = { url: 'http://127.0.0.1:1', pid: 1, startedAt: '' };
    writeFileSync(join(data.path, 'gone', 'server.json'), JSON.stringify(note));
    const ran = await command(['list', '--data', join(data.path, 'gone')]);
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining('npm start')]);
  });

  test('by its note, by --url, by OUTLAST_URL', async () => {
    mkdirSync(join(data.path, '.outlast'));
    writeFileSync(join(data.path, '.outlast', 'server.json'), JSON.stringify({ url: listening.url }));
    expect((await command(['list'], { cwd: data.path })).code).toBe(0);
    expect((await command(['list', '--url', listening.url])).code).toBe(0);
    expect((await run('list')).code).toBe(0);
  });

  test('with tokens: a wrong one is refused, one of the environment is used', async () => {
    const { fetch } = app(outlast, { tokens: parseTokens('ann:ann-secret') });
    const guarded = await listen({ fetch, port: 0, hasTokens: true });
    const list = (env: NodeJS.ProcessEnv, ...more: string[]) =>
      command(['list', '--url', guarded.url, ...more], { env });
    expect((await list({})).code).toBe(4);
    expect((await list({}, '--token', 'wrong')).code).toBe(4);
    expect((await list({ OUTLAST_TOKEN: 'ann-secret' })).code).toBe(0);
    expect((await list({ OUTLAST_TOKENS: 'ann:ann-secret,bob:x' })).code).toBe(0);
    await guarded.close(0);
  });
});

describe('start and send', () => {
  test('start prints the id and the receipt, then what happens, and ends with the response', async () => {
    const ran = await run('start', 'look');
    expect(ran.code).toBe(0);
    const lines = ran.stdout.split('\n');
    expect(lines[0]).toMatch(/^ses_\w{20} m1: starts turn 1$/);
    expect(lines).toContain('· Having a look.');
    expect(lines).toContain('  ✓ e1 GET test://window');
    expect(lines).toContain('done');
    expect(lines.at(-2)).toBe('completed');
  });

  test('with --json stdout is one object, and the story goes to stderr', async () => {
    const ran = await run('start', '--persist', '--json', 'say', 'hello');
    expect(ran.stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(ran.stderr).toContain('hello');
    expect(resultOf(ran)).toMatchObject({
      session: expect.stringMatching(/^ses_/),
      message: 'm1',
      seq: 2,
      rule: 'starts turn 1',
      phase: 'awaiting_input',
      response: 'hello',
    });
  });

  test('a turn that fails is exit code 1, a question exit code 5', async () => {
    const failed = await run('start', '--persist', 'fail');
    expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining('✗ turn 1 failed')]);
    const asked = await run('start', 'pay', '--json');
    expect(asked.code).toBe(5);
    expect(asked.stderr).toMatch(/outlast decide ses_\w+ d1 done/);
    expect(resultOf(asked)).toMatchObject({
      phase: 'awaiting_decision',
      response: null,
      decisions: [{ id: 'd1' }],
    });
  });

  test('send goes to the newest, to an id, to the beginning of one, and says the rule', async () => {
    const id = await rested('say hello');
    for (const which of ['last', id, id.slice(0, 12), id.slice(4, 12)]) {
      const ran = await run('send', which, 'say', 'again');
      expect([which, ran.code]).toEqual([which, 0]);
      expect(ran.stdout).toMatch(/^m\d starts turn \d\n/);
      expect(ran.stdout).toMatch(/\nagain\n/);
    }
  });

  test('send with a key is done once, and --detach returns at once', async () => {
    const id = await rested('say hello');
    const first = resultOf(await run('send', id, 'hold', '--key', 'k1', '--detach', '--json'));
    const second = resultOf(await run('send', id, 'hold', '--key', 'k1', '--detach', '--json'));
    expect(second).toEqual(first);
    expect(first).toMatchObject({ session: id, message: 'm2' });
    expect((await outlast.inspect(id)).phase).toBe('working');
  });

  test('what the server refuses is exit code 4, with what to do', async () => {
    const id = await rested('say hello');
    await outlast.stop(id);
    const ran = await run('send', id, 'say x', '--json');
    expect([ran.code, ran.stderr]).toEqual([4, expect.stringContaining('reopen')]);
    expect(resultOf(ran)).toMatchObject({ error: { code: 'session.stopped' } });
    expect((await run('inspect', 'ses_00000000000000000000')).code).toBe(4);
    expect((await run('interrupt', id)).code).toBe(4);
  });

  test('--image goes with a message, several times, and takes no words with it', async () => {
    const folder = temporaryFolder();
    const file = (name: string, bytes: readonly number[]) => {
      writeFileSync(join(folder.path, name), Uint8Array.from(bytes));
      return join(folder.path, name);
    };
    const png = file('a.png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1]);
    const gif = file('b.dat', [0x47, 0x49, 0x46, 0x38, 0x39, 0x61]);
    const ran = await run('start', '--image', png, 'say', 'hello', '--image', gif, '--json');
    expect(ran.stderr).toContain('hello');
    const id = String(resultOf(ran).session);
    await run('send', id, '--image', gif, 'say more');
    const events = await outlast.events(id, 0, 100);
    const kept = events.flatMap((e) => (e.kind === 'message.accepted' ? [[e.text, e.images]] : []));
    expect(kept).toMatchObject([
      ['say hello', [{ mediaType: 'image/png', bytes: 9 }, { mediaType: 'image/gif' }]],
      ['say more', [{ mediaType: 'image/gif', bytes: 6 }]],
    ]);
    const attached = await command(['attach', id], { env: { OUTLAST_URL: listening.url }, input: '' });
    expect(attached.stdout).toContain('› say hello\n  [image, png, 9 bytes]\n  [image, gif, 6 bytes]');

    const text = file('c.png', [1, 2, 3]);
    const wrong = await run('send', id, 'look', '--image', text);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('no image that is read here')]);
    const gone = await run('send', id, 'look', '--image', `${text}.gone`);
    expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining('ENOENT')]);
    expect(await outlast.events(id, 0, 100)).toHaveLength(events.length);
    folder.remove();
  });

  test('a message comes from stdin with -', async () => {
    const ran = await command(['start', '-'], {
      env: { OUTLAST_URL: listening.url },
      input: 'say from\nfar',
    });
    expect(ran.stdout).toContain('from\nfar');
  });

  test('control characters of a model do not reach the terminal', async () => {
    const ran = await run('start', 'say a\u001b[31mb\u0007c\u202ed');
    expect(ran.stdout).toContain('\na[31mbcd\n');
    expect(ran.stdout).not.toContain('\u001b');
  });

  test('Ctrl-C stops the watching, says how to come back, and the session goes on', async () => {
    const watching = launch(['start', '--persist', 'hold'], { env: { OUTLAST_URL: listening.url } });
    await outlast.holding;
    await expect.poll(() => watching.said.stdout, { timeout: 20_000 }).toContain('turn 1');
    watching.child.kill('SIGINT');
    const { code, stdout } = await watching.ended;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/outlast attach ses_\w+\n$/)]);
    const [row] = await outlast.list();
    expect(row?.phase).toBe('working');
    outlast.release();
    expect(await outlast.rest(row?.id ?? '')).toBe('awaiting_input');
  });
});

describe('the other verbs', () => {
  test('slots and stats say what there is, and change it', async () => {
    await rested('look', false);
    const slots = await run('slots', '5');
    expect([slots.code, slots.stdout]).toEqual([0, expect.stringMatching(/slots +5\n.*working +0/s)]);
    expect((await run('slots', 'default')).stdout).toContain('20 (of the server)');
    expect((await run('slots', 'none')).code).toBe(2);
    const stats = await run('stats');
    expect([stats.code, stats.stdout]).toEqual([0, expect.stringMatching(/closed too early +0, 0 times/)]);
  });

  test('follow tells it all and ends with the session; --after skips what one has', async () => {
    const id = await rested('look', false);
    const all = await run('follow', 'last');
    expect([all.code, all.stdout]).toEqual([0, expect.stringContaining('› look\n')]);
    expect(all.stdout).toContain('· Having a look.');
    const json = await run('follow', id, '--json', '--after', '3');
    const lines = json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { head } = await outlast.inspect(id);
    expect(lines.slice(0, -1).map(({ seq }) => seq)).toEqual(
      Array.from({ length: head - 3 }, (_, i) => i + 4),
    );
    expect(lines.at(-1)).toEqual({ session: id, after: head, ended: true });
    expect((await run('follow', id, '--after', '999')).code).toBe(4);
  });

  test('follow goes on while the session does', async () => {
    const id = await rested('say hello');
    const following = run('follow', id);
    await outlast.send(id, 'say more');
    await outlast.rest(id);
    await outlast.stop(id);
    const { code, stdout } = await following;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/hello.+more.+■ stopped\n/s)]);
  });

  test('attach by a pipe: it all, what was sent, and what came of it', async () => {
    const id = await rested('say hello');
    const ran = await command(['attach', id], {
      env: { OUTLAST_URL: listening.url },
      input: 'say one\nsay two\n',
    });
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(/› say hello.+hello.+› say one.+two\n/s);
  });

  test('chat: what is said goes to one conversation, by words or by a pipe', async () => {
    const one = await run('chat', 'say one', '--json');
    expect(one.code).toBe(0);
    const { session, response } = resultOf(one);
    expect(response).toBe('one');
    expect(one.stderr).toContain('A scripted planner talks here, and no model');
    const piped = await command(['chat'], {
      env: { OUTLAST_URL: listening.url },
      input: 'say two\nsay three\n',
    });
    expect([piped.code, piped.stdout]).toEqual([0, expect.stringContaining('three')]);
    expect(resultOf(await run('chat', 'say four', '--json')).session).toBe(session);
    expect(resultOf(await run('chat', '--name', 'work', 'say five', '--json')).session).not.toBe(session);
    expect((await run('list')).stdout).toMatch(/talks {2}Conversation work\n.* talks {2}Conversation\n/);
  });

  test('list, inspect and verify show what there is', async () => {
    const id = await rested('pay');
    await rested('say hello', false);
    const list = (await run('list')).stdout.split('\n');
    expect(list[0]).toMatch(/^ses_\w+ {2}completed parked +turn 1 .* say hello$/);
    expect(list[1]).toMatch(/awaiting_decision.* pay {2}1 open decision, 1 unknown$/);
    expect((await run('list', '--phase', 'completed')).stdout).not.toContain('pay');
    const inspected = (await run('inspect', id)).stdout;
    expect(inspected).toMatch(
      /Ledger\n {2}e1 {2}unknown {2}blind +pay +POST test:\/\/bank {2}the line was cut/,
    );
    expect(inspected).toMatch(
      /Open decisions\n {2}d1 about e1: .+\n.+ decide ses_\w+ d1 done\n.+ d1 not-done\n/,
    );
    const inbox = await run('inbox');
    expect([inbox.code, inbox.stdout]).toEqual([
      5,
      expect.stringMatching(
        /unknown {2}pay {2}ses_\w+ d1, .+\n {2}Did e1 happen\?.+ decide ses_\w+ d1 not-done\n/s,
      ),
    ]);
    const reported = (await run('report', id)).stdout;
    expect(reported).toMatch(/unknown {5}effects {9}e1 \(POST test:\/\/bank\) may have happened or not/);
    expect(reported).toMatch(/rebuilt {5}derived context the index of words: what of it is missing/);
    const verified = await run('verify', id);
    expect([verified.code, verified.stdout]).toEqual([
      0,
      expect.stringMatching(/✓ the log: \d+ events, 0 violations/),
    ]);
  });

  test('recall finds by words, lists by kind, and gives the original by its id', async () => {
    const id = await rested('pay');
    expect((await run('recall', id, 'test', 'bank')).stdout).toMatch(
      /#\d+ (call|note|decision), \S+Z\n.*bank/,
    );
    const original = JSON.parse((await run('recall', id, '--id', '#2', '--json')).stdout);
    expect(original).toMatchObject({ by: 'id', passages: [{ id: '#2', text: 'pay', offset: 0, length: 3 }] });
    expect((await run('recall', id, '--kind', 'message')).stdout).toMatch(/^#2 message, \S+Z pay\n$/);
    expect((await run('recall', id, '--id', '#999')).code).toBe(4);
  });

  test('pause, resume, interrupt, stop, reopen', async () => {
    const { session } = await outlast.start({ message: 'hold', persist: true });
    await outlast.holding;
    for (const [verb, said] of [
      ['pause', 'paused'],
      ['resume', 'working'],
      ['interrupt', 'awaiting_input'],
      ['stop', 'stopped'],
      ['reopen', 'awaiting_input'],
    ] as const) {
      const ran = await run(verb, 'last', '--json');
      expect([verb, ran.code, ran.stderr]).toEqual([verb, 0, expect.stringContaining(`${session} ${said}`)]);
      expect(Object.values(resultOf(ran))).toContain(said);
    }
  });

  test('decide approve and reject: the action is shown, and the word for another one is refused', async () => {
    const id = await rested('refund');
    const inspected = (await run('inspect', id)).stdout;
    expect(inspected).toMatch(/d1 about e1: Send e1\? refund to POST test:\/\/shop with \{"cents":700\}\./);
    expect(inspected).toMatch(/ decide ses_\w+ d1 approve\n.+ d1 reject\n/);
    expect(inspected).toMatch(/because the rule "default:blind" asks; asked \d+ s ago, until 20\S+Z\n/);
    const digest = /digest ([0-9a-f]{64})/.exec(inspected)?.[1] ?? '';
    const stale = await run('decide', id, 'd1', 'approve', '--digest', 'f'.repeat(64));
    expect([stale.code, stale.stderr]).toEqual([
      4,
      expect.stringContaining('look again at what it is about'),
    ]);
    const made = await run('decide', id, 'd1', 'approve', '--digest', digest, '--json');
    expect([made.code, resultOf(made)]).toEqual([0, expect.objectContaining({ answer: 'approve' })]);
    expect(await outlast.rest(id)).toBe('awaiting_input');

    const other = await rested('refund');
    const rejected = await run('decide', other, 'd1', 'reject', 'not', 'before', 'Friday');
    expect(rejected.code).toBe(0);
    expect(await outlast.rest(other)).toBe('awaiting_input');
    const told = (await run('inspect', other)).stdout;
    expect(told).toMatch(/e1 {2}withdrawn .*It was not sent. local rejected it: not before Friday/);
    expect((await run('decide', other, 'd1', 'approve')).code).toBe(4);
  });

  test('decide answer: what is offered can be pasted, and is the answer', async () => {
    const id = await rested("choose it's $(id) `id`|--url=http://127.0.0.1:1");
    const { stdout } = await run('inspect', id);
    const offered = [...stdout.matchAll(/ decide ses_\w+ d1 (.*)$/gm)].map(([, words]) => words);
    expect(offered).toEqual(["answer 'it'\\''s $(id) `id`'", "answer -- '--url=http://127.0.0.1:1'"]);
    expect((await run('decide', id, 'd1', 'answer', 'green')).code).toBe(4);
    const made = await run('decide', id, 'd1', 'answer', '--', '--url=http://127.0.0.1:1');
    expect([made.code, made.stderr]).toEqual([0, '']);
    const [decided] = (await outlast.events(id, 0, 100)).filter(({ kind }) => kind === 'decision.made');
    expect(decided).toMatchObject({ decision: 'd1', text: '--url=http://127.0.0.1:1' });
  });

  test('a child: its question ends the watching, is answered in it, and the rest says whose it is', async () => {
    const started = await run('start', '--persist', 'delegate choose ant|bee');
    expect(started.code).toBe(5);
    const parent = /ses_[0-9a-z]+/.exec(started.stdout)?.[0] ?? '';
    const { id: child = '' } = (await outlast.inspect(parent)).children[0] ?? {};
    expect(started.stdout).toContain(`→ child ${child} "choose ant|bee"`);
    expect(started.stdout).toContain(`decide ${child} d1 answer 'bee'`);
    expect(started.stdout).toContain(`It waits for ${child}`);

    const inspected = await run('inspect', 'last');
    expect(inspected.stdout).toContain(parent);
    expect(inspected.stdout).toMatch(new RegExp(`Children\\n +${child} +awaiting_decision`));
    expect(inspected.stdout).toContain(`decide ${child} d1 answer 'ant'`);
    const listed = await run('list');
    expect(listed.stdout).toMatch(new RegExp(`^${parent} .*\\n  ${child} .*  child`, 'm'));

    expect((await run('pause', parent)).stdout).toContain(`paused with it: ${child}`);
    await run('resume', parent);
    expect((await run('decide', child, 'd1', 'answer', 'bee')).code).toBe(0);
    await outlast.rest(parent);
    const stopped = await run('stop', parent);
    expect(stopped.stdout).toContain(`with it: ${child} "choose ant|bee"`);
    const { stdout } = await run('follow', parent);
    expect(stdout).toContain(`✓ child ${child} "choose ant|bee" answered:`);
  }, 120_000);

  test('ask answers beside the work; the session does not notice', async () => {
    const id = await rested('say hello');
    const before = await outlast.inspect(id);
    const ran = await run('ask', 'last', 'say', 'well', '--json');
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('well\ntest/parrot, as of event')]);
    expect(resultOf(ran)).toMatchObject({
      session: id,
      answer: 'well',
      asOf: before.head,
      usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 },
    });
    expect(await outlast.inspect(id)).toEqual(before);
    const failed = await run('ask', 'last', 'fail', '--json');
    expect([failed.code, resultOf(failed)]).toMatchObject([1, { error: { code: 'model.failed' } }]);
    const empty = await command(['ask', id, '-'], { env: { OUTLAST_URL: listening.url }, input: ' \n' });
    expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining('The question is empty')]);
  });

  test('decide: the first answer stands', async () => {
    const id = await rested('pay');
    const made = await run('decide', 'last', 'd1', 'done', 'the', 'bank', 'has', 'it', '--json');
    expect([made.code, resultOf(made)]).toEqual([
      0,
      expect.objectContaining({ session: id, decision: 'd1', answer: 'done' }),
    ]);
    await outlast.rest(id);
    expect((await run('inspect', id)).stdout).toMatch(/known by person: .*the bank has it/);
    const late = await run('decide', id, 'd1', 'not-done', '--json');
    expect([late.code, resultOf(late)]).toMatchObject([4, { error: { code: 'decision.closed' } }]);
  });
});

describe('budgets', () => {
  test('a session rests at its limit, says so, and goes on from there when it is raised', async () => {
    const started = await run('start', '--persist', '--budget', 'steps=1,minutes=30', 'look', '--json');
    expect([started.code, started.stderr + started.stdout]).toEqual([
      5,
      expect.stringContaining('Raise it: outlast budget'),
    ]);
    const session = String(resultOf(started).session);
    const shown = await run('budget', session, '--json');
    expect(resultOf(shown)).toMatchObject({
      phase: 'paused',
      budget: { session: { steps: 1, ms: 1_800_000 } },
    });
    expect((await run('inspect', session)).stdout).toContain('of 1 model call, 30.0 min');
    await run('budget', session, 'steps=9', '--turn', 'usd=none');
    await outlast.rest(session);
    expect(resultOf(await run('budget', session, '--json'))).toMatchObject({
      ...{ phase: 'awaiting_input', budget: { session: { steps: 9, ms: 1_800_000 }, spent: { steps: 2 } } },
    });
  });

  test("the owner's budget is shown, set and lifted", async () => {
    const set = await run('budget', '--owner-set', 'usd=20.5,tokens=1000', '--json');
    expect(resultOf(set)).toMatchObject({ limits: { microUsd: 20_500_000, tokens: 1_000 } });
    expect((await run('budget')).stdout).toContain('$20.50, 1,000 tokens');
    expect(resultOf(await run('budget', '--owner-set', 'none', '--json'))).toMatchObject({ limits: {} });
    expect((await run('budget')).stdout).toMatch(/all your sessions +none/);
  });
});
