/** The cells of a session: each reference once, with its result on the disk beside the journal. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../lib/clock.ts';
import { parseJson } from '../../../lib/json.ts';
import { excerptOf } from '../excerpt.ts';
import type { Cell, CellReport, CellResult, Ending, Found, KernelObjects, Parked } from '../port.ts';
import type { Jobs } from './jobs.ts';
import { Kernel, type KernelPlace } from './kernel.ts';
import type { Settings } from './settings.ts';
import { Spool } from './spool.ts';

type Place = Omit<Settings, 'cage' | 'python'> &
  Omit<KernelPlace, 'python' | 'image'> & { readonly python: string | null };

export class Cells {
  private readonly jobs: Jobs;
  private readonly kernel: Kernel | null;
  private readonly results: string;
  private readonly mostBytes: number;
  private readonly asked = new Map<string, Promise<CellReport>>();

  constructor(place: Place, jobs: Jobs) {
    const { python, dir, limits, criu } = place;
    const image = criu === null ? null : { ...place, criu, memoryMb: limits.memoryMb };
    this.jobs = jobs;
    this.kernel = python === null ? null : new Kernel({ ...place, python, image });
    this.results = join(dir, 'cells');
    this.mostBytes = limits.outputMb * 2 ** 20;
    mkdirSync(this.results, { recursive: true, mode: 0o700 });
  }

  /** Whether the end of the kernel would take anything. */
  get hasLive(): boolean {
    return this.kernel?.hasLive ?? false;
  }

  run(cell: Cell): Promise<CellReport> {
    const known = this.jobs.before(cell.reference);
    if (known) return Promise.resolve({ ...known, result: this.read(known.job) });
    const running = this.asked.get(cell.reference) ?? this.start(cell);
    this.asked.set(cell.reference, running);
    return running;
  }

  /** Null when it is none of a cell. */
  async find(reference: string): Promise<Found | null> {
    const running = this.asked.get(reference);
    if (running) return { status: 'known', report: await running };
    const known = this.jobs.before(reference);
    const result = known && this.read(known.job);
    return result ? { status: 'known', report: { ...known, result } } : null;
  }

  async objects(): Promise<KernelObjects | null> {
    return (await this.kernel?.objects()) ?? null;
  }

  trust(key: Uint8Array): void {
    this.kernel?.trust(key);
  }

  callOff(reference: string): void {
    this.kernel?.callOff(reference);
  }

  async park(mayLose: boolean): Promise<Parked> {
    return (await this.kernel?.park(mayLose)) ?? { status: 'parked', kept: [] };
  }

  async end(cause: Ending, why: string): Promise<void> {
    await this.kernel?.end(cause, why);
  }

  private async start(cell: Cell): Promise<CellReport> {
    const { kernel } = this;
    if (!kernel) throw new Error('There is no Python here.');
    const { entry, outputs } = this.jobs.accept(cell.reference, cell.code);
    const spool = new Spool(outputs.path, this.mostBytes, () => kernel.callOff(cell.reference));
    const began = systemClock.monotonic();
    try {
      const { result, ending } = await kernel.run(cell, spool);
      writeFileSync(this.pathOf(entry.job), JSON.stringify(result), { mode: 0o600 });
      const ms = Math.round(systemClock.monotonic() - began);
      const exitCode = result.ran && result.error === undefined ? 0 : 1;
      const end = { exitCode, ending, ms };
      this.jobs.settle(cell.reference, end);
      const output = excerptOf(outputs.path, outputs.name);
      return { ...entry, ...end, status: 'ended', output, isAlive: false, result };
    } finally {
      spool.close();
    }
  }

  private read(job: string): CellResult | null {
    try {
      return (parseJson(readFileSync(this.pathOf(job), 'utf8')) as unknown as CellResult) ?? null;
    } catch {
      return null;
    }
  }

  private pathOf(job: string): string {
    return join(this.results, `${job}.json`);
  }
}
