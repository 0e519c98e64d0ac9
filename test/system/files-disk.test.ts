// Owns: files of a session on a real disk: from a folder to a folder, through HTTP, the command and a restart.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/cli/verbs/files.ts';
import type { Json } from '../../src/lib/json.ts';
import { textIn } from '../../src/lib/text.ts';
import type { Model } from '../../src/models/port.ts';
import { app } from '../../src/server/app.ts';
import { listen } from '../../src/server/listen.ts';
import { call, createOutlast, say, since, withFolder } from './outlast.ts';

/** Each instruction is a list of calls in JSON; the results are what it says in the end. */
const model: Model = {
  name: 'scripted/test',
  scripted: true,
  async generate(request) {
    const { instruction, results } = since(request);
    const asked = (JSON.parse(instruction) as [string, object][])[results.length];
    return asked ? call(...asked) : say(results.join('\n--\n'));
  },
};

const asking = (...asked: readonly (readonly [string, Json])[]): string => JSON.stringify(asked);

async function cli(
  url: string,
  ...args: string[]
): Promise<{ said: string; result: Record<string, unknown> }> {
  const said: string[] = [];
  let result: unknown;
  const plain = (text: string): string => text;
  const paint = new Proxy({}, { get: () => plain });
  const terminal = {
    paint,
    say: (line: string) => said.push(line),
    result: (value: unknown) => (result = value),
  };
  const [which = '', ...rest] = args;
  const flags = rest.indexOf('--at');
  const at = flags === -1 ? undefined : rest.splice(flags, 2)[1];
  const options = { url, ...(at === undefined ? {} : { at }) };
  await run({ args: [which, ...rest], options, terminal: terminal as never });
  return { said: said.join('\n'), result: result as Record<string, unknown> };
}

test('a folder goes in, is worked on, looked at, brought back, and goes out', () =>
  withFolder(async (dir) => {
    const project = join(dir, 'project');
    mkdirSync(join(project, 'src'), { recursive: true });
    writeFileSync(join(project, 'src/a.ts'), 'export const a = 1;\n');
    writeFileSync(join(project, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
    const data = join(dir, 'data');
    const outlast = await createOutlast({ dataDir: data, model, env: {} });
    const listening = await listen({ fetch: app(outlast).fetch, port: 0 });
    const url = listening.url;

    const message = asking(
      ['list_files', { glob: '**/*.ts' }],
      ['edit_file', { path: 'src/a.ts', old_string: '1', new_string: '2' }],
      ['search_files', { pattern: 'a = \\d', glob: '*.ts' }],
      ['diff_files', { against: 'turn' }],
    );
    const { session } = await outlast.start({ message, persist: true, workspace: project });
    await outlast.rest(session);
    const { lastTurn, workspace } = await outlast.inspect(session);
    expect(lastTurn?.text.split('\n--\n')).toEqual([
      'src/a.ts (20 bytes)',
      'Edited: src/a.ts, line 1.',
      'src/a.ts:1: export const a = 2;',
      expect.stringContaining('+export const a = 2;'),
    ]);
    expect(workspace?.commits.map(({ why }) => why)).toEqual(['imported', 'call']);
    // What was taken is a copy.
    expect(readFileSync(join(project, 'src/a.ts'), 'utf8')).toContain('1');

    const first = workspace?.commits[0]?.seq ?? 0;
    expect((await cli(url, session)).said).toMatch(/755 +10 B +run\.sh[\s\S]*src\/a\.ts\n2 files, 30 B/);
    expect((await cli(url, session, 'show', 'src/a.ts')).said).toBe('export const a = 2;');
    expect((await cli(url, session, 'show', 'src/a.ts', '--at', String(first))).said).toBe(
      'export const a = 1;',
    );
    expect((await cli(url, session, 'diff')).said).toContain('-export const a = 1;');
    const out = join(dir, 'out');
    expect((await cli(url, session, 'export', out)).result).toMatchObject({ at: out, files: 2, lost: [] });
    expect(readFileSync(join(out, 'src/a.ts'), 'utf8')).toBe('export const a = 2;\n');

    // Nothing of what is there is lost, also what nobody has committed.
    const files = join(data, 'workspaces', session, 'files');
    writeFileSync(join(files, 'mine.txt'), 'by hand');
    await cli(url, session, 'restore', '--at', String(first));
    await outlast.rest(session);
    expect(readFileSync(join(files, 'src/a.ts'), 'utf8')).toBe('export const a = 1;\n');
    expect(readdirSync(files).sort()).toEqual(['run.sh', 'src']);
    const after = (await outlast.inspect(session)).workspace;
    expect(after?.commits.map(({ why }) => why).slice(-2)).toEqual(['drifted', 'restored']);
    const drifted = after?.commits.at(-2)?.seq ?? 0;
    const mine = await outlast.file(session, 'mine.txt', { at: drifted });
    expect(textIn(mine.data)).toBe('by hand');

    writeFileSync(join(project, 'new.txt'), 'more');
    await cli(url, session, 'import', project);
    await outlast.rest(session);
    expect(readFileSync(join(files, 'new.txt'), 'utf8')).toBe('more');
    await expect(outlast.as('bob' as never).start({ message, workspace: project })).rejects.toThrow(
      'own owner',
    );

    // Another process, and the folder is gone with the machine.
    await listening.close(0);
    await outlast.close();
    rmSync(join(data, 'workspaces'), { recursive: true });
    const again = await createOutlast({ dataDir: data, model, env: {} });
    await again.send(session, asking(['read_file', { path: 'new.txt' }]));
    await again.rest(session);
    expect((await again.inspect(session)).lastTurn?.text).toBe('1\tmore');
    expect((await again.verify(session)).violations).toEqual([]);
    await again.close();
  }));

test('the reports of both searches are the same, with ripgrep and without', () =>
  withFolder(async (dir) => {
    const project = join(dir, 'project');
    mkdirSync(join(project, 'deep/.git'), { recursive: true });
    for (const name of ['b.md', 'a.ts', 'deep/c.ts', 'deep/.git/d.ts', '.hidden.ts'])
      writeFileSync(join(project, name), 'nothing\nfind me: Ünïcode\r\nFIND ME\n');
    writeFileSync(join(project, 'binary.ts'), Buffer.from([0, 1, 2, 10, 102, 105, 110, 100, 32, 109, 101]));
    const message = asking(
      ['search_files', { pattern: 'find me' }],
      ['search_files', { pattern: 'find me', ignore_case: true, glob: '*.ts' }],
      ['search_files', { pattern: 'find', path: 'deep' }],
      ['search_files', { pattern: 'find', skip: 2 }],
      ['search_files', { pattern: '(' }],
      ['search_files', { pattern: 'not there' }],
    );
    const said: string[][] = [];
    for (const path of [process.env.PATH ?? '', '/nowhere']) {
      const outlast = await createOutlast({ dataDir: join(dir, `data-${said.length}`), model, env: {} });
      const before = process.env.PATH;
      process.env.PATH = path;
      try {
        const { session } = await outlast.start({ message, workspace: project });
        await outlast.rest(session);
        said.push(((await outlast.inspect(session)).lastTurn?.text ?? '').split('\n--\n'));
      } finally {
        process.env.PATH = before;
        await outlast.close();
      }
    }
    const [found, own] = said;
    expect(own?.[0]).toBe(
      '.hidden.ts:2: find me: Ünïcode\na.ts:2: find me: Ünïcode\nb.md:2: find me: Ünïcode\ndeep/c.ts:2: find me: Ünïcode',
    );
    for (const i of [0, 1, 2, 3, 5]) expect(found?.[i]).toBe(own?.[i]);
    expect(found?.[4]).toContain('[search.pattern]');
    expect(own?.[4]).toContain('[search.pattern]');
  }));

test('B078 what a search was made to read outside, while folders were exchanged for links, is not shown', () =>
  withFolder(async (dir) => {
    const project = join(dir, 'project');
    mkdirSync(join(project, 'in'), { recursive: true });
    writeFileSync(join(project, 'in/a'), 'key: mine\n');
    // Ripgrep that was led outside by a folder that has become one again since.
    const hit = (path: string, line: number, text: string) =>
      JSON.stringify({ type: 'match', data: { path: { text: path }, lines: { text }, line_number: line } });
    const hits = [
      hit('./in/a', 1, 'key: secret\n'),
      hit('./in/a', 1, 'key: mine\n'),
      hit('./in/b', 1, 'key: b\n'),
    ];
    const bin = join(dir, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'rg'), `#!/bin/sh\ncat <<'END'\n${hits.join('\n')}\nEND\n`, { mode: 0o755 });
    const before = process.env.PATH;
    process.env.PATH = `${bin}:${before}`;
    const outlast = await createOutlast({ dataDir: join(dir, 'data'), model, env: {} });
    try {
      const { session } = await outlast.start({
        message: asking(['search_files', { pattern: 'key', path: 'in' }]),
        workspace: project,
      });
      await outlast.rest(session);
      expect((await outlast.inspect(session)).lastTurn?.text).toBe('in/a:1: key: mine');
    } finally {
      process.env.PATH = before;
      await outlast.close();
    }
  }));
