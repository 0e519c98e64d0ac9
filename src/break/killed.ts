/**
 * A share of the cells with a real process and SIGKILL: the same lives (`life.ts`), each in a process of its own with a store
 * on disk, killed at the boundary from outside. Reported apart.
 *
 * Left out is what needs another machine (zombie), another disk (torn) or a restart within milliseconds (late, lagging,
 * expiring).
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../lib/clock.ts';
import { sqliteStore } from '../store/sqlite/open.ts';
import { orderText, type Step } from './agent.ts';
import { PROMISES } from './client.ts';
import type { Told } from './judge.ts';
import { logOf, type Outcome, type RunOptions, score, stepsOf } from './score.ts';
import { waysOf } from './strategies.ts';
import type { Boundary, Cell, Service } from './terms.ts';
import { builtInWorld, type Endpoints } from './world.ts';

/** What a worker is told first. */
export interface Life {
  readonly cell: Cell;
  readonly run: string;
  readonly books: string;
  readonly urls: Readonly<Record<Service, string>>;
  readonly dir: string;
  readonly holder: string;
  /** Null: it starts a new one, with what an earlier life is known to have done. */
  readonly session: string | null;
  readonly before: readonly Step[];
  /** Which of the traps is set; the life ends there when it is killed. */
  readonly trap: 'boundary' | 'recovery' | null;
}

/** What a worker says. */
export type Report =
  | { readonly say: 'session'; readonly session: string }
  | { readonly say: 'told'; readonly session: string; readonly seq: number; readonly told: Told }
  /** So far, after each answer of the model. */
  | { readonly say: 'used'; readonly calls: number; readonly tokens: number }
  | { readonly say: 'here' }
  | { readonly say: 'rested' };

const BOUNDARIES: readonly Boundary[] = [
  ...(['before-intent', 'intent', 'lost', 'applied', 'unsaved'] as const),
  ...(['receipt', 'told', 'answer', 'surfaced', 'recovery'] as const),
];
const SERVICES: readonly Service[] = ['keyed', 'queryable', 'cancelable', 'blind', 'batch'];

/** Outlast everywhere; the others at three boundaries of two services. In a short look, five cells. */
export function sample(cells: readonly Cell[], isQuick: boolean): readonly Cell[] {
  const fitting = cells.filter(
    ({ boundary, service, variant }) =>
      variant === 'one' && BOUNDARIES.includes(boundary) && SERVICES.includes(service),
  );
  const isSampled = ({ boundary, service, strategy }: Cell): boolean => {
    if (strategy === 'outlast') return !isQuick || (boundary === 'applied' && service !== 'batch');
    const isFew = boundary === 'lost' || boundary === 'applied' || boundary === 'receipt';
    const isPlain = service === 'keyed' || service === 'blind';
    if (isQuick) return strategy === 'retry' && boundary === 'applied' && service === 'blind';
    return isFew && isPlain && !strategy.includes('-');
  };
  return fitting.filter(isSampled);
}

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));
const BOUND_MS = 30_000;

export interface Place extends Endpoints {
  readonly books: string;
}

export async function playKilled(
  place: Place,
  cell: Cell,
  run: string,
  seed: number,
  signal: AbortSignal,
): Promise<Outcome> {
  const { service, variant, strategy } = cell;
  const { splits } = waysOf(strategy);
  const world = builtInWorld(place, { run, service, variant, splits, message: orderText });
  const folder = mkdtempSync(join(place.books, 'outlast-killed-'));
  const play = new Play({ cell, run, seed, capability: PROMISES[service], world }, place, folder, signal);
  try {
    return await play.play();
  } finally {
    await play.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Play {
  private readonly options: RunOptions;
  private readonly place: Place;
  private readonly folder: string;
  private readonly signal: AbortSignal;
  private readonly told = new Map<string, Told>();
  private readonly shelves: { readonly dir: string; readonly session: string }[] = [];
  private readonly children: ChildProcess[] = [];
  private readonly used = new Map<ChildProcess, { calls: number; tokens: number }>();

  constructor(options: RunOptions, place: Place, folder: string, signal: AbortSignal) {
    this.options = options;
    this.place = place;
    this.folder = folder;
    this.signal = signal;
  }

  async play(): Promise<Outcome> {
    const { cell, world } = this.options;
    await world.arm(cell.boundary, 0);
    const first = this.begin('boundary');
    const isHere = await this.within(Promise.race([first.here, world.seen() ?? first.here]));
    await kill(first.child);
    const crashedAt = systemClock.now();
    let isHereAgain = true;
    if (cell.boundary === 'recovery') {
      const second = this.begin('recovery', await this.before());
      isHereAgain = await this.within(second.here);
      await kill(second.child);
    }
    const begunAt = systemClock.now();
    const last = this.begin(null, await this.before());
    const isAtRest = await this.within(last.rested);
    await kill(last.child);
    const arrivals = await world.quiet();
    const used = [...this.used.values()];
    return score(this.options, {
      ...{ arrivals, crashedAt, begunAt },
      isStuck: !isAtRest,
      hasFired: isHere && isHereAgain,
      logs: await Promise.all(this.shelves.map(readLog)),
      told: [...this.told.values()],
      calls: used.reduce((sum, { calls }) => sum + calls, 0),
      tokens: used.reduce((sum, { tokens }) => sum + tokens, 0),
    });
  }

  async end(): Promise<void> {
    await Promise.all(this.children.map(kill));
  }

  private begin(
    trap: Life['trap'],
    before: readonly Step[] = [],
  ): { child: ChildProcess; here: Promise<void>; rested: Promise<void> } {
    const { cell, run } = this.options;
    const known = waysOf(cell.strategy).afterlife === 'log' ? this.shelves.at(-1) : undefined;
    const dir = known?.dir ?? join(this.folder, String(this.children.length));
    const child = fork(WORKER, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], detached: true });
    this.children.push(child);
    let [here, rested] = [(): void => {}, (): void => {}];
    child.on('message', (report: Report) => {
      switch (report.say) {
        case 'session':
          if (!known) this.shelves.push({ dir, session: report.session });
          return;
        case 'told':
          this.told.set(`${report.session} ${report.seq}`, report.told);
          return;
        case 'used':
          this.used.set(child, report);
          return;
        case 'here':
          return here();
        case 'rested':
          return rested();
      }
    });
    const { books, urls } = this.place;
    const session = known?.session ?? null;
    const holder = `${run}.${this.children.length}`;
    child.send({ cell, run, books, urls, dir, holder, session, before, trap } satisfies Life);
    return {
      child,
      here: new Promise((resolve) => {
        here = resolve;
      }),
      rested: new Promise((resolve) => {
        rested = resolve;
      }),
    };
  }

  /** What the transcript has, for whoever stands on it. */
  private async before(): Promise<readonly Step[]> {
    const shelf = this.shelves.at(-1);
    if (!shelf || waysOf(this.options.cell.strategy).afterlife !== 'transcript') return [];
    return stepsOf(await readLog(shelf));
  }

  private async within(event: Promise<void>): Promise<boolean> {
    const over = new AbortController();
    const happened = event.then(() => true);
    const late = systemClock.sleep(BOUND_MS, AbortSignal.any([over.signal, this.signal])).then(() => false);
    const result = await Promise.race([happened, late]);
    over.abort();
    return result;
  }
}

async function readLog({ dir, session }: { dir: string; session: string }): ReturnType<typeof logOf> {
  const store = await sqliteStore({ dir });
  try {
    return await logOf({ store, session });
  } finally {
    await store.close();
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
