/** The commands of a session: each reference once, in the order in which they came. */

import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { systemClock } from '../../../lib/clock.ts';
import { type Cage, OUTPUTS, type Room, WORKSPACE } from '../confine/cage.ts';
import { excerptOf } from '../excerpt.ts';
import type { Held } from '../limits.ts';
import type { Command, Ending, Found, ProcessLimits, Report } from '../port.ts';
import { startCaged } from './caged.ts';
import { Job, type Outputs } from './job.ts';
import { type End, type Entry, openJournal, readJournal } from './journal.ts';
import { files, type Settings } from './settings.ts';

export class Jobs {
  private readonly jobs = new Map<string, Job>();
  /** Of supervisors before this one. */
  private readonly former = new Map<string, Entry>();
  private readonly journal: ReturnType<typeof openJournal>;
  private readonly outputs: string;
  private readonly limits: ProcessLimits;
  private readonly session: string;
  private count: number;

  private readonly cage: Cage;
  private readonly held: Held;
  private readonly room: Room;

  constructor(settings: Settings, cage: Cage, held: Held, room: Room) {
    this.cage = cage;
    this.held = held;
    this.room = room;
    const path = join(settings.dir, files.journal);
    for (const entry of readJournal(path) ?? []) this.former.set(entry.reference, entry);
    this.journal = openJournal(path);
    this.outputs = join(settings.dir, files.outputs);
    this.limits = settings.limits;
    this.session = settings.session;
    this.count = this.former.size;
  }

  /** Resolves when the command has ended, or is in the background. */
  async run(command: Command): Promise<Report> {
    const known = this.former.get(command.reference);
    if (known) return formerReport(known, this.outputs);
    const job = this.jobs.get(command.reference) ?? this.start(command);
    if (!job.isBackground) await job.ended;
    return job.report();
  }

  /** A command in the foreground is waited for: whoever looks wants to know how it ended. */
  async find(reference: string): Promise<Found> {
    const known = this.former.get(reference);
    if (known) return { status: 'known', report: formerReport(known, this.outputs) };
    const job = this.jobs.get(reference);
    if (!job) return { status: 'absent' };
    if (!job.isBackground) await job.ended;
    return { status: 'known', report: job.report() };
  }

  callOff(reference: string): void {
    this.jobs.get(reference)?.kill('killed');
  }

  alive(): readonly Job[] {
    return [...this.jobs.values()].filter((job) => job.isAlive);
  }

  byName(name: string): Job | undefined {
    return [...this.jobs.values()].find(({ entry }) => entry.job === name);
  }

  look(name: string, chars?: number): Report | null {
    const former = [...this.former.values()].find(({ job }) => job === name);
    if (former) return formerReport(former, this.outputs, chars);
    return this.byName(name)?.report(chars) ?? null;
  }

  /** Once for each reference: a key that is pressed twice is another key. */
  write(name: string, text: string, reference: string): boolean {
    const before = this.journal.written(reference);
    if (before !== undefined) return before;
    const job = this.byName(name);
    this.journal.write(reference, job?.isListening ?? false);
    return job?.write(text) ?? false;
  }

  async kill(name: string): Promise<Report | null> {
    const job = this.byName(name);
    if (!job) return this.look(name);
    job.kill('killed');
    await Promise.all([job.caged.gone, job.ended]);
    return job.report();
  }

  /** Everything that runs; resolves when it is gone. */
  async killAll(cause: Ending): Promise<void> {
    const alive = this.alive();
    for (const job of alive) job.kill(cause);
    await Promise.all(alive.map(({ caged, ended }) => Promise.all([caged.gone, ended])));
  }

  /** A reference that is in the journal from here on, and where its output goes. */
  accept(reference: string, text: string): { readonly entry: Omit<Entry, 'end'>; readonly outputs: Outputs } {
    const name = `j${++this.count}`;
    const entry = { reference, job: name, command: text, startedAt: systemClock.now() };
    this.journal.accept(entry);
    return { entry, outputs: { path: join(this.outputs, name), name: `${OUTPUTS}/${name}` } };
  }

  settle(reference: string, end: End): void {
    this.journal.end(reference, end);
  }

  /** What a supervisor before this one knew of a reference. */
  before(reference: string): Report | undefined {
    const entry = this.former.get(reference);
    return entry && formerReport(entry, this.outputs);
  }

  private start(command: Command): Job {
    const { reference, command: text } = command;
    const { entry, outputs } = this.accept(reference, text);
    const name = entry.job;
    const inmate = {
      argv: command.pty ? ['script', '-qefc', text, '/dev/null'] : [shell(), '-c', text],
      cwd:
        this.cage.name === 'none'
          ? join(this.room.workspace, command.cwd)
          : posix.resolve(WORKSPACE, command.cwd),
      pty: command.pty,
    };
    const hasInput = command.input !== null || command.pty;
    const caged = startCaged(this.cage, this.held, this.room, {
      inmate,
      hasInput,
      mark: `${this.session}.${name}`,
    });
    const job = new Job(entry, command, caged, outputs, this.held, this.limits.outputMb * 2 ** 20);
    this.jobs.set(reference, job);
    job.ended.then((end) => this.settle(reference, end));
    return job;
  }
}

/** Of one that has no end in the journal nobody saw it: its supervisor ended first, and it with it. */
export function formerReport({ end, ...entry }: Entry, outputs: string, chars?: number): Report {
  const { exitCode, ending, ms } = end ?? { exitCode: null, ending: 'lost' as const, ms: 0 };
  return {
    ...{ ...entry, exitCode, ending, ms },
    status: 'ended',
    output: excerptOf(join(outputs, entry.job), `${OUTPUTS}/${entry.job}`, chars),
    isAlive: false,
  };
}

/** As seen inside, where programs are in the same places. */
const shell = (): string => (existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh');
