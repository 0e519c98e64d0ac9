/**
 * The story of the children: a report over six accounts, while the server that holds all seven sessions is killed at
 * random. The instants come from a seed; what is under way there is for chance to say.
 */

import { systemClock } from '../../lib/clock.ts';
import { seededEntropy } from '../../lib/entropy.ts';
import { accounts } from '../../services/billing/world.ts';
import { endOf, type Seen, Stage, type StageOptions } from '../stage.ts';
import { type Found, type Judged, judge } from './judge.ts';

export interface DelegateFigures {
  readonly kills: number;
  readonly spawned: number;
  readonly results: number;
  readonly orphans: number;
  readonly duplicates: number;
}

const MONTH = '2026-02';
const ORDER = `Report on February's invoices for each of these accounts, each by a child of its own: ${accounts
  .map(({ name }) => `"${name}"`)
  .join(', ')}`;

/** A worker has so long, from when its server is ready, before it is killed. */
const LIFE_MS = [40, 900] as const;
const KILLS = 6;
/** After that it is killed no more: a slow machine needs what is left for the work. */
const KILLING_MS = 40_000;
/** Killed so often they must not count as the cause of it. */
const LIMITS = { crashes: 40 };
const SCRIPTED_MS = 110_000;
const MODEL_MS = 20 * 60_000;

export async function tellDelegate(
  options: StageOptions,
): Promise<{ figures: DelegateFigures; wrong: readonly string[] }> {
  const story = new Story(options);
  try {
    return await story.play();
  } finally {
    await story.leave();
  }
}

class Story extends Stage {
  async play(): Promise<{ figures: DelegateFigures; wrong: readonly string[] }> {
    const { say, env, signal } = this.options;
    await this.open('A server on an empty folder, with a billing service beside it');
    const { model } = await this.outlast.health();
    const isScripted = model?.scripted ?? false;
    say.fact(`${isScripted ? 'no model: ' : 'model: '}${model?.name ?? 'not told'}`);
    const late = AbortSignal.any([signal, AbortSignal.timeout(isScripted ? SCRIPTED_MS : MODEL_MS)]);

    say.act(`outlast start --persist "${ORDER}"`);
    const started = await this.outlast.start({ message: ORDER, persist: true, limits: LIMITS });
    this.session = started.session;
    const watched = this.watch();
    await this.killAtRandom(Number(env.OUTLAST_SEED ?? 1), late);
    const answer = await this.seen((event) => endOf(event, 1), { signal: late });
    say.answer(answer.kind === 'response.surfaced' ? answer.text : 'no answer');

    const judged = judge(this.session, await this.everybody(), this.options.dataDir, MONTH);
    this.table(judged);
    say.act('outlast stop …');
    const { status } = await this.outlast.stop(this.session);
    const after = await this.everybody();
    say.fact(
      `${status}, and with it ${after.filter(({ phase }) => phase === 'stopped').length - 1} children`,
    );
    await this.leave();
    await watched;
    const { spawned, results, orphans, duplicates } = judged;
    const figures = { kills: this.kills, spawned, results, orphans, duplicates };
    return { figures, wrong: this.wrong(figures, judged, answer, after) };
  }

  /** Again and again, until that was often enough or the report is there. */
  private async killAtRandom(seed: number, late: AbortSignal): Promise<void> {
    const random = seededEntropy(seed);
    const [least, most] = LIFE_MS;
    const over = systemClock.monotonic() + KILLING_MS;
    const isOver = (): boolean =>
      this.kills >= KILLS || systemClock.monotonic() > over || this.log.some((event) => endOf(event, 1));
    while (!isOver()) {
      const lifeMs = Math.round(least + random.next() * (most - least));
      await systemClock.sleep(lifeMs, late);
      const { children } = await this.outlast.inspect(this.session);
      const atWork = children.filter(({ asked }) => asked > 0).length;
      await this.kill(
        `${lifeMs} ms after it was ready; ${children.length} children stand, ${atWork} at work`,
      );
      await this.open('The same folder, a new process');
    }
  }

  /** All sessions of the server with their logs, by its list. */
  private async everybody(): Promise<readonly Found[]> {
    const { sessions } = await this.outlast.list({ limit: 500 });
    const found: Found[] = [];
    for (const { id, parent = null, phase } of sessions) {
      const { events } = await this.outlast.events(id, { after: 0, limit: 1_000 });
      found.push({ id, parent, phase, log: events as unknown as readonly Seen[] });
    }
    return found;
  }

  private table({ lines, spawned, results, orphans, duplicates }: Judged): void {
    const { say } = this.options;
    say.fact('the judge, by all logs and by the books of the service:');
    const columns = (cells: readonly string[]): string =>
      cells.map((cell, i) => cell.padEnd([26, 30, 9, 8, 6][i] ?? 0)).join('');
    say.answer(columns(['account', 'child', 'results', 'logins', 'right']));
    for (const line of lines) {
      const { account, child, isRight } = line;
      say.answer(columns([account, child, `${line.results}`, `${line.logins}`, isRight ? 'yes' : 'no']));
    }
    say.fact(
      `${this.kills} kills: ${spawned} spawned, ${results} results, ${orphans} orphans, ${duplicates} duplicates`,
    );
  }

  private wrong(
    { kills, spawned, results, orphans, duplicates }: DelegateFigures,
    { lines }: Judged,
    answer: Seen,
    after: readonly Found[],
  ): readonly string[] {
    const wanted = accounts.length;
    const checks: readonly (readonly [boolean, string])[] = [
      [kills >= 3, `killed several times, but only ${kills}`],
      [spawned === wanted, `${wanted} children, found ${spawned}`],
      [results === wanted, `${wanted} results, found ${results}`],
      [orphans === 0, `no orphans, found ${orphans}`],
      [duplicates === 0, `nothing twice, found ${duplicates}`],
      [lines.every(({ isRight }) => isRight), 'each report as the books of the service have it'],
      [answer.kind === 'response.surfaced' && !answer.partial, 'a response that is not partial'],
      [after.every(({ phase }) => phase === 'stopped'), 'stopped with all children'],
    ];
    return checks.flatMap(([holds, what]) => (holds ? [] : [what]));
  }
}
