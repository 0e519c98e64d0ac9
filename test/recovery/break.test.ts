/** The bench in a few cells, with real services: Outlast is right, a strategy that is known to be wrong is seen to be. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { foretold } from '../../src/break/foretold.ts';
import type { Results, Sums } from '../../src/break/report.ts';
import { ABLATIONS, SERVICES, STRATEGIES, VARIANTS } from '../../src/break/terms.ts';
import { lastJson, node, root } from '../build.ts';
import { temporaryFolder } from '../server/process.ts';

const LONG = { timeout: 120_000 };

const run = async (...args: readonly string[]) => {
  const { stdout, stderr, code } = await node('break/main.js', [...args, '--json'], { timeoutMs: 110_000 });
  const results = lastJson(stdout) as unknown as Results;
  const of = (name: string): Sums => ({ ...results.strategies, ...results.ablations })[name] as Sums;
  return { results, of, stderr, code };
};

describe('the bench', () => {
  it('finds nothing under Outlast, and what retry and skip do wrong', LONG, async () => {
    const { results, of, stderr, code } = await run(
      ...['--quick', '--strategy', 'outlast,retry,skip,no-wait', '--service', 'queryable,blind'],
      ...['--boundary', 'clean,lost,late,applied,torn,zombie'],
    );
    const outlast = of('outlast');
    expect(outlast, stderr).toMatchObject({ duplicates: 0, lost: 0, untrue: 0, stuck: 0, wrong: 0 });
    expect(outlast.questions, stderr).toBe(outlast.questionsMinimum);
    expect(outlast.questions).toBeGreaterThan(0);
    expect(of('retry').duplicates, stderr).toBeGreaterThanOrEqual(5);
    expect(of('retry').untrue, stderr).toBeGreaterThanOrEqual(5);
    expect(of('skip'), stderr).toMatchObject({ duplicates: 0 });
    expect(of('skip').lost, stderr).toBeGreaterThanOrEqual(3);
    expect(of('no-wait').duplicates, stderr).toBeGreaterThanOrEqual(1);
    expect(results.killed.runs, stderr).toBeGreaterThan(0);
    expect(results.killed.strategies.outlast, stderr).toMatchObject({ duplicates: 0, lost: 0, untrue: 0 });
    expect(code, stderr).toBe(0);
  });

  it('has every strategy and every piece of ours do what theory says, at every service', LONG, async () => {
    const { results, of, stderr, code } = await run(
      ...['--quick', '--no-kill', '--boundary', 'applied,zombie'],
    );
    const { strategies, ablations, predictions, coverage } = results;
    const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name).sort();
    expect(Object.keys(strategies).sort()).toEqual(names(STRATEGIES));
    // Without its wait for late arrivals it is in the first test, where something comes late.
    const pieces = names(ABLATIONS).filter((name) => name !== 'no-wait');
    expect(Object.keys(ablations).sort()).toEqual(pieces);
    expect([...new Set(results.cells.map(({ service }) => service))].sort()).toEqual(names(SERVICES));
    expect(coverage, stderr).toMatchObject({ isExhaustive: true, unfired: 0 });
    expect(predictions.missed, stderr).toEqual([]);
    expect(of('outlast'), stderr).toMatchObject({ wrong: 0, stuck: 0 });
    expect(of('ask'), stderr).toMatchObject({ wrong: 0, stuck: 0 });
    for (const name of ['restart', 'replay', 'retry', 'key', 'query', 'no-mark', 'no-fence', 'no-expiry'])
      expect(of(name).duplicates, `${name} ${stderr}`).toBeGreaterThan(0);
    expect(of('skip').lost, stderr).toBeGreaterThan(0);
    expect(of('model-key').suppressed, stderr).toBeGreaterThan(0);
    expect(code, stderr).toBe(0);
  });

  it('keeps what it found as JSON and as a page that needs nothing else', LONG, async () => {
    const folder = temporaryFolder();
    onTestFinished(folder.remove);
    const [out, html] = [join(folder.path, 'out.json'), join(folder.path, 'page.html')];
    const chosen = ['--strategy', 'outlast,retry', '--service', 'keyed,blind', '--boundary', 'applied'];
    const { results } = await run('--quick', '--no-kill', ...chosen, '--out', out, '--html', html);
    const kept = JSON.parse(await readFile(out, 'utf8')) as Results;
    expect(kept.strategies).toEqual(results.strategies);
    expect(kept.cells).toHaveLength(results.cells.length);
    expect(results.killed.runs).toBe(0);
    const page = await readFile(html, 'utf8');
    expect(page.match(/<svg /g)).toHaveLength(2);
    expect(page).toContain('<title>1 runs, 1 wrong, 0 questions</title>');
    expect(page).toMatch(/Outlast: <b>0<\/b> of \d+ runs wrong/);
    expect(page).not.toMatch(/<script|https?:/);
  });

  it("judges one's own tools, and sees one that declares more than it can", LONG, async () => {
    const example = join(root, 'examples/break/orders.mjs');
    const chosen = [
      '--rounds',
      '1',
      '--strategy',
      'outlast,retry',
      '--boundary',
      'clean,lost,applied,unsaved',
    ];
    const honest = await run('--with', example, ...chosen);
    expect(honest.of('outlast'), honest.stderr).toMatchObject({
      runs: 4,
      wrong: 0,
      questions: 0,
    });
    expect(honest.of('retry').duplicates, honest.stderr).toBe(2);
    expect(honest.code, honest.stderr).toBe(0);

    const text = await readFile(example, 'utf8');
    const folder = temporaryFolder();
    onTestFinished(folder.remove);
    const boasting = join(folder.path, 'boasting.mjs');
    const claim = "{ kind: 'keyed', retentionMs: 60_000 }";
    await writeFile(
      boasting,
      text
        .replace("{ kind: 'queryable', lateMs: 500 }", claim)
        .replace("from 'outlast'", `from '${new URL('../../dist/index.js', import.meta.url).href}'`),
    );
    const caught = await run('--with', boasting, ...chosen);
    expect(caught.of('outlast'), caught.stderr).toMatchObject({ duplicates: 2, lost: 0 });
    expect(caught.code).toBe(1);
    expect(caught.stderr).toContain('stands 2 times, wanted 1');
  });

  it("judges one's own agent by what its answers claim", LONG, async () => {
    const example = join(root, 'examples/break/agent.mjs');
    const chosen = ['--rounds', '1', '--strategy', 'outlast,skip', '--boundary', 'applied'];
    const honest = await run('--with', example, ...chosen);
    expect(honest.of('outlast'), honest.stderr).toMatchObject({ runs: 1, wrong: 0, questions: 0 });
    expect(honest.of('skip'), honest.stderr).toMatchObject({ duplicates: 0, lost: 0, untrue: 1 });
    expect(honest.code, honest.stderr).toBe(0);

    // It says what it has not done.
    const folder = temporaryFolder();
    onTestFinished(folder.remove);
    const idle = join(folder.path, 'idle.mjs');
    await writeFile(
      idle,
      `import own from '${pathToFileURL(example).href}';
export default {
  ...own,
  open(run) {
    const opened = own.open(run);
    const parts = [{ type: 'text', text: 'Ordered: ' + opened.calls[0].what }];
    const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0 };
    const generate = async () => ({ parts, finish: 'stop', usage });
    return { ...opened, model: { ...opened.model, generate } };
  },
};
`,
    );
    const caught = await run('--with', idle, '--rounds', '1', '--strategy', 'outlast', '--boundary', 'clean');
    expect(caught.of('outlast'), caught.stderr).toMatchObject({ duplicates: 0, lost: 1, untrue: 1 });
    expect(caught.code).toBe(1);
    expect(caught.stderr).toContain('the last word is');
  });

  it('says what it does not know', async () => {
    const { code, stderr } = await node('break/main.js', ['--service', 'nowhere'], { timeoutMs: 20_000 });
    expect(code).toBe(2);
    expect(stderr).toContain('there is no service "nowhere"; there are keyed');
  });
});

it('the page of predictions says what theory says', async () => {
  const page = await readFile(join(root, 'bench/break/predictions.md'), 'utf8');
  for (const variant of VARIANTS) {
    const table = new RegExp(`<!-- foretold ${variant} -->\\n([\\s\\S]*?)\\n<!-- end -->`).exec(page)?.[1];
    expect(table, variant).toBe(foretold(variant));
  }
});

it('the page of the policy says what the kept results say', async () => {
  const { strategies } = JSON.parse(
    await readFile(join(root, 'bench/break/results.json'), 'utf8'),
  ) as Results;
  const page = await readFile(join(root, 'docs/design/break.md'), 'utf8');
  for (const [name, figures] of Object.entries(strategies)) {
    const { duplicates, lost, untrue, questions, extraModelCalls, extraTokens } = figures;
    const title = name === 'outlast' ? 'Outlast' : `\`${name}\``;
    const row = page.split('\n').find((line) => line.startsWith(`| ${title} `) && line.includes('+'));
    const numbers = row
      ?.split('|')
      .slice(3, -1)
      .map((field) => Number.parseInt(field.replaceAll(/[ ,+]/g, ''), 10));
    expect(numbers, name).toEqual([duplicates, lost, untrue, questions, extraModelCalls, extraTokens]);
  }
});
