/**
 * The story of the repair: when the worker is killed, what is deleted, and what a person says. Kills come when the log says
 * that something is under way, and the next worker has nothing but the store.
 */

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../lib/clock.ts';
import { endNoted } from '../../sandbox/process/launch.ts';
import { readJournal } from '../../sandbox/process/supervisor/journal.ts';
import { endOf, type Seen, Stage, type StageOptions } from '../stage.ts';
import { changedIn, duplicates, isRecalled, untrueClaims } from './judge.ts';
import { Copy, differing, REPOSITORY } from './world.ts';

export interface RepairFigures {
  /** Windows of the model that the work went through. */
  readonly contexts: number;
  readonly kills: number;
  readonly workspaceLost: boolean;
  /** As the judge has run them. */
  readonly testsPass: boolean;
  readonly duplicateEffects: number;
  readonly modelCalls: number;
  readonly untrueClaims: number;
}

const ORDER =
  'The tests of this repository fail. Make the tests pass, and change no file under test/. When you are done, tell me ' +
  'what was wrong and what you changed, file by file.';
const REMARK =
  'Thank you for looking into this. The shop around the corner asked what we could do for them, so: later we will want a ' +
  '`--json` flag that prints the totals as JSON, not now.';
const FOLLOW_UP = 'also add the flag we talked about';

/** Small enough for several windows; the rules and the tools alone are some 4,000. */
const CONTEXT_TOKENS = 12_000;
const LIMITS = { contextTokens: CONTEXT_TOKENS, stepsPerTurn: 120 };
const SCRIPTED_MS = 110_000;
const MODEL_MS = 30 * 60_000;

export async function tellRepair(
  options: StageOptions,
): Promise<{ figures: RepairFigures; wrong: readonly string[] }> {
  if (!existsSync(REPOSITORY))
    throw new Error(
      'The repository of this example is not here: it comes with the sources, not with the package.',
    );
  const story = new Story(options);
  try {
    return await story.play();
  } finally {
    await story.leave();
  }
}

class Story extends Stage {
  private readonly wrong: string[] = [];
  private late = this.options.signal;
  private turn = 1;
  private untrue = 0;

  async play(): Promise<{ figures: RepairFigures; wrong: readonly string[] }> {
    const { say } = this.options;
    await this.open('A server on an empty folder');
    const { model } = await this.outlast.health();
    say.fact(`${model?.scripted ? 'no model: ' : 'model: '}${model?.name ?? 'not told'}`);
    this.late = AbortSignal.any([
      this.options.signal,
      AbortSignal.timeout(model?.scripted ? SCRIPTED_MS : MODEL_MS),
    ]);

    say.act(`outlast start --persist --workspace examples/repair/repository "${ORDER}"`);
    const started = await this.outlast.start({
      message: ORDER,
      persist: true,
      workspace: REPOSITORY,
      limits: LIMITS,
    });
    this.session = started.session;
    const watched = this.watch();
    say.act(`outlast send … "${REMARK}"`);
    const remark = await this.outlast.send(this.session, REMARK);
    say.fact(`receipt ${remark.message}: ${remark.rule}`);

    const repaired = await this.repair();
    const read = this.log.find(
      (e) => e.kind === 'message.read' && e.messages.some((id) => id === remark.message),
    );
    const firstWindow = this.log.find((e) => e.kind === 'context.compacted')?.seq ?? 0;
    this.expect((read?.seq ?? Infinity) < firstWindow, 'the flag was spoken of in the first window');
    this.expect(this.compactions() >= 2, `three contexts, found ${this.compactions() + 1}`);
    const isGreen = await this.isGreen();

    const isAdded = await this.later(repaired);
    this.expect(isAdded, 'the flag prints the totals as JSON, and is recalled and not guessed');
    const testsPass = isGreen && (await this.isGreen());
    this.expect(testsPass, 'the tests pass when the judge runs them');

    say.act('outlast stop …');
    const { status } = await this.outlast.stop(this.session);
    say.fact(status);
    await this.leave();
    await watched;

    const figures: RepairFigures = {
      contexts: this.compactions() + 1,
      kills: this.kills,
      workspaceLost: this.log.some((e) => e.kind === 'workspace.opened' && e.rung === 'restored'),
      testsPass,
      duplicateEffects: duplicates(this.log),
      modelCalls: this.log.filter((e) => e.kind === 'model.completed' || e.kind === 'model.failed').length,
      untrueClaims: this.untrue,
    };
    this.expect(figures.workspaceLost, 'the files were restored from the log after they were deleted');
    this.expect(figures.duplicateEffects === 0, `nothing done twice, found ${figures.duplicateEffects}`);
    say.fact(
      `${figures.contexts} contexts, ${figures.kills} kills, ${figures.modelCalls} calls of the ${model?.scripted ? 'planner' : 'model'}, ` +
        `${figures.duplicateEffects} changes done twice, ${figures.untrueClaims} untrue claims`,
    );
    return { figures, wrong: this.wrong };
  }

  /** Green through three kills. */
  private async repair(): Promise<Seen> {
    const { say } = this.options;
    await this.until((e) => e.kind === 'workspace.committed' && e.why === 'call');
    await this.commandRuns();
    await this.kill('while the tests run; the shell goes on without the worker');
    await this.open('The same folder, a new process');

    await this.until((e) => e.kind === 'context.compacted');
    await this.commandRuns();
    await this.kill('in the second context, while the tests run');
    await this.lose();
    await this.open('What is left is the log');

    await this.until((e) => e.kind === 'compaction.started', this.log.at(-1)?.seq ?? 0);
    await this.kill('while the view is being compacted');
    await this.open('The same folder, a new process');
    const answer = await this.answer();
    say.fact(
      `the judge found nothing untrue in it: ${this.untrue === 0 ? 'yes' : `no, ${this.untrue} claims`}`,
    );
    return answer;
  }

  /** The folder of the session, and its shell with all that it knew. */
  private async lose(): Promise<void> {
    const { dataDir, say } = this.options;
    const shell = join(dataDir, 'run', this.session);
    await endNoted(this.session, shell);
    rmSync(shell, { recursive: true, force: true });
    rmSync(join(dataDir, 'workspaces', this.session), { recursive: true, force: true });
    say.act('rm -r the workspace of the session; its shell is killed and deleted');
  }

  /** The same call, days after everybody has gone home. */
  private async later(repaired: Seen): Promise<boolean> {
    const { say } = this.options;
    await this.close();
    const ahead = fileURLToPath(new URL('days-later.js', import.meta.url));
    await this.open('Five days later: nobody waits for them, the clock of this server is that far ahead', [
      '--import',
      ahead,
    ]);
    say.act(`outlast send … "${FOLLOW_UP}"`);
    await this.outlast.send(this.session, FOLLOW_UP);
    const answer = await this.answer();
    say.fact(`days between the two answers: ${((answer.at - repaired.at) / 86_400_000).toFixed(1)}`);
    const copy = this.copy();
    try {
      const report = ['bin/tally.js', 'report', 'test/fixtures/ledger.csv', '--month', '2026-03'];
      const { code, output } = await copy.run([...report, '--json']);
      say.fact(`the judge runs it: ${output.trim()}`);
      const plain = await copy.run(report);
      const isRight = code === 0 && hasTotal(output, 105_340) && /^Total +1,053\.40 EUR$/m.test(plain.output);
      return isRight && isRecalled('--json', repaired.seq, this.log);
    } finally {
      copy.remove();
    }
  }

  private async isGreen(): Promise<boolean> {
    const copy = this.copy();
    try {
      const changed = [...differing(REPOSITORY, copy.dir)];
      const isUntouched = !changed.some((path) => path.startsWith('test/'));
      this.expect(isUntouched, 'the files of the tests are as they were');
      const known = changedIn(this.log);
      const strange = changed.filter((path) => !known.has(path));
      this.expect(strange.length === 0, `every change is in the log, but for ${strange.join(', ')}`);
      const { code, output } = await copy.run(['--test', '--test-reporter=tap']);
      const counts = output.match(/^# (?:pass|fail) \d+$/gm)?.join(', ') ?? 'no results';
      this.options.say.fact(
        `the judge runs the tests on a copy: ${counts}; test files untouched: ${isUntouched}`,
      );
      return isUntouched && code === 0 && /^# fail 0$/m.test(output);
    } finally {
      copy.remove();
    }
  }

  private copy(): Copy {
    return new Copy(join(this.options.dataDir, 'workspaces', this.session, 'files'));
  }

  private async answer(): Promise<Seen> {
    const { turn } = this;
    const event = await this.until((e) => endOf(e, turn));
    this.turn++;
    const text = event.kind === 'response.surfaced' ? event.text : '';
    this.options.say.answer(text || 'no answer');
    const copy = this.copy();
    const changed = differing(REPOSITORY, copy.dir);
    copy.remove();
    for (const claim of untrueClaims(text, event.seq, this.log, changed)) {
      this.untrue++;
      this.wrong.push(`a claim of answer ${turn} that the log or the files do not show: ${claim}`);
    }
    return event;
  }

  /** Resolves while a command that was not sent before is under way, by the journal of the shell. */
  private async commandRuns(): Promise<void> {
    const after = this.log.at(-1)?.seq ?? 0;
    const sent = await this.until((e) => e.kind === 'effect.dispatched' && this.toolOf(e) === 'shell', after);
    const reference = `${this.session}.${sent.kind === 'effect.dispatched' ? sent.effect : ''}`;
    const journal = join(this.options.dataDir, 'run', this.session, 'journal.jsonl');
    while (!readJournal(journal)?.some((entry) => entry.reference === reference)) {
      this.late.throwIfAborted();
      await systemClock.sleep(5);
    }
  }

  private toolOf(event: Seen): string | null {
    if (!('effect' in event)) return null;
    const found = this.log.find((e) => e.kind === 'effect.intended' && e.effect === event.effect);
    return found?.kind === 'effect.intended' ? found.tool : null;
  }

  private compactions(): number {
    return this.log.filter((event) => event.kind === 'context.compacted').length;
  }

  /** The first such event after that one, while the turn is open and there is time. */
  private until(is: (event: Seen) => boolean, after = 0): Promise<Seen> {
    const look = (): void => {
      const over = this.log.find((event) => endOf(event, this.turn));
      if (over?.kind === 'turn.failed') throw new Error(`the turn failed: ${over.reason}`);
      if (over?.kind === 'response.surfaced') throw new Error(`it ended before that: ${over.text}`);
    };
    return this.seen(is, { after, look, signal: this.late });
  }

  private expect(holds: boolean, what: string): void {
    if (!holds) this.wrong.push(what);
  }
}

function hasTotal(output: string, cents: number): boolean {
  try {
    return JSON.stringify(JSON.parse(output)).includes(`"cents":${cents}`);
  } catch {
    return false;
  }
}
