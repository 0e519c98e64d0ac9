/**
 * The process sandboxes of this machine, as a worker has them: attached where they live, started where they do not.
 *
 * P1  A sandbox is found by its folder, not by a handle: one that is gone is started again at the next call.
 * P2  It is renewed as long as its session is held under the epoch that it knows; when another worker has it, no more.
 * P3  What a former worker of this folder has left running is renewed from the start on: its session may rest for days, and
 *     nobody asks for anything meanwhile.
 */

import { existsSync, rmSync } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { OutlastError } from '../../core/error.ts';
import { systemClock } from '../../lib/clock.ts';
import { Connection, Disconnected, Outdated } from './connection.ts';
import { ended, endNoted, launch, noteIn, socketOf } from './launch.ts';
import type { Command, Found, KernelObjects, Parked, ProcessBox, Processes, Report } from './port.ts';
import { newestEpoch, raise } from './supervisor/holder.ts';
import { formerReport } from './supervisor/jobs.ts';
import { readJournal } from './supervisor/journal.ts';
import { objectsIn } from './supervisor/kernel.ts';
import { files, type Settings } from './supervisor/settings.ts';

export interface HostOptions {
  /** `<dataDir>/run`. */
  readonly dir: string;
  readonly abilities: Processes['abilities'];
  readonly says: string;
  /** What is the same for all sessions. */
  readonly settings: Pick<
    Settings,
    'cage' | 'shown' | 'path' | 'python' | 'limits' | 'holdMs' | 'idleMs' | 'criu'
  >;
  /** Hosts that commands may reach. */
  readonly hosts: readonly string[];
  /** Whether a session is still held under this epoch, by this worker. */
  readonly isHeld: (session: string, epoch: number) => Promise<boolean>;
  /** Of the images of whole kernels of a session; without one, none are made. */
  readonly imageKey?: (session: string) => Uint8Array;
  readonly report: (line: string, cause?: unknown) => void;
}

interface Attached {
  readonly connection: Connection;
  epoch: number;
}

export class ProcessHost implements Processes {
  readonly abilities: Processes['abilities'];
  readonly says: string;
  private readonly options: HostOptions;
  private readonly attached = new Map<string, Attached>();
  /** One at a time for each session: two that start at once would be two. */
  private readonly opening = new Map<string, Promise<unknown>>();
  private readonly closing = new AbortController();
  private readonly renewing: Promise<void>;

  constructor(options: HostOptions) {
    this.options = options;
    this.abilities = options.abilities;
    this.says = options.says;
    this.renewing = this.renew();
  }

  async open(session: string, epoch: number, workspace: string | null): Promise<ProcessBox> {
    if (workspace === null) throw new Error('the files of this session are in no folder');
    const turn = this.opening.get(session)?.catch(() => {}) ?? Promise.resolve();
    const opened = turn.then(() => this.attach(session, epoch, workspace));
    this.opening.set(session, opened);
    try {
      return boxOf(await opened);
    } finally {
      if (this.opening.get(session) === opened) this.opening.delete(session);
    }
  }

  async find(session: string, epoch: number, reference: string, signal: AbortSignal): Promise<Found> {
    const dir = this.dirOf(session);
    if (!existsSync(dir)) return { status: 'gone' };
    const attached = await this.reach(session, epoch);
    if (attached) {
      try {
        return await boxOf(attached).find(reference, signal);
      } catch (error) {
        if (!(error instanceof Disconnected)) throw error;
      }
    }
    // From here on no former holder can start it any more: what the journal does not have was never accepted.
    if (!raise(dir, epoch)) throw new Outdated('another worker holds this session');
    const entries = readJournal(join(dir, files.journal));
    if (!entries) return { status: 'gone' };
    const entry = entries.find((one) => one.reference === reference);
    if (!entry) return { status: 'absent' };
    return { status: 'known', report: formerReport(entry, join(dir, files.outputs)) };
  }

  hold(session: string, epoch: number): void {
    const attached = this.attached.get(session);
    if (attached) attached.epoch = Math.max(attached.epoch, epoch);
  }

  async running(session: string): Promise<readonly Report[]> {
    const dir = this.dirOf(session);
    const attached = this.attached.get(session);
    if (attached?.connection.isOpen) return jobsOf(attached.connection, attached.epoch);
    const connection = existsSync(dir) ? await Connection.open(socketOf(dir)) : null;
    try {
      return connection ? await jobsOf(connection, newestEpoch(dir)) : [];
    } finally {
      connection?.close();
    }
  }

  async park(session: string, epoch: number, mayLose: boolean): Promise<Parked> {
    const attached = await this.reach(session, epoch);
    const parked = await attached?.connection.ask(epoch, { op: 'park', mayLose });
    return parked ?? { status: 'parked', kept: [] };
  }

  async objects(session: string, epoch: number): Promise<KernelObjects | null> {
    const attached = await this.reach(session, epoch);
    const seen = await attached?.connection.ask(epoch, { op: 'objects' }).catch(() => null);
    return seen ?? objectsIn(this.dirOf(session));
  }

  async end(session: string): Promise<void> {
    const dir = this.dirOf(session);
    if (!existsSync(dir)) return;
    const note = noteIn(dir);
    const attached = this.attached.get(session);
    this.attached.delete(session);
    const connection = attached?.connection.isOpen
      ? attached.connection
      : await Connection.open(socketOf(dir));
    await connection?.ask(attached?.epoch ?? newestEpoch(dir), { op: 'end' }).catch(() => {});
    connection?.close();
    if (connection && (await ended(note))) return;
    await endNoted(session, dir);
  }

  async erase(session: string, epoch: number): Promise<void> {
    const dir = this.dirOf(session);
    if (!existsSync(dir)) return;
    if (epoch < newestEpoch(dir)) throw outdated();
    await this.end(session);
    for (const name of ['socket', 'egress', 'hold']) rmSync(socketOf(dir, name), { force: true });
    rmSync(dir, { recursive: true, force: true });
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.renewing;
    for (const { connection } of this.attached.values()) connection.close();
    this.attached.clear();
  }

  private async attach(session: string, epoch: number, workspace: string): Promise<Attached> {
    const reached = await this.reach(session, epoch);
    if (reached) return reached;
    const dir = this.dirOf(session);
    const socket = socketOf(dir);
    const { settings, hosts } = this.options;
    const network =
      hosts.length > 0 ? { hosts, egress: socketOf(dir, 'egress'), hold: socketOf(dir, 'hold') } : null;
    await launch({ ...settings, session, dir, socket, workspace: resolve(workspace), network, epoch });
    const connection = await Connection.open(socket);
    if (!connection) throw new Error('The sandbox started and does not answer.');
    return this.keep(session, { connection, epoch });
  }

  /** The sandbox where it lives; null where it does not. */
  private async reach(session: string, epoch: number): Promise<Attached | null> {
    const attached = this.attached.get(session);
    if (attached?.connection.isOpen) {
      attached.epoch = Math.max(attached.epoch, epoch);
      if (await answers(attached.connection, epoch)) return attached;
    }
    this.attached.delete(session);
    const dir = this.dirOf(session);
    const connection = existsSync(dir) ? await Connection.open(socketOf(dir)) : null;
    if (!connection || !(await answers(connection, epoch))) return null;
    return this.keep(session, { connection, epoch });
  }

  private keep(session: string, attached: Attached): Attached {
    this.attached.set(session, attached);
    const { imageKey, settings } = this.options;
    if (settings.criu !== null && imageKey) {
      // Before whatever is asked next: the order of a connection is kept.
      const key = Buffer.from(imageKey(session)).toString('base64');
      attached.connection.ask(attached.epoch, { op: 'trust', key }).catch(() => {});
    }
    return attached;
  }

  /** P3. */
  private async takeOver(): Promise<void> {
    for (const session of await readdir(this.options.dir).catch(() => [])) {
      const dir = this.dirOf(session);
      const isThere = await access(socketOf(dir)).then(
        () => true,
        () => false,
      );
      const epoch = newestEpoch(dir);
      if (!isThere || this.closing.signal.aborted || !(await this.isHeld(session, epoch))) continue;
      const connection = await Connection.open(socketOf(dir));
      // Whoever was quicker has asked for something, and is attached.
      const isOurs = connection !== null && !this.attached.has(session) && !this.closing.signal.aborted;
      if (isOurs && (await answers(connection, epoch).catch(() => false)) && !this.attached.has(session))
        this.keep(session, { connection, epoch });
      else connection?.close();
    }
  }

  /** P2. */
  private async renew(): Promise<void> {
    await this.takeOver().catch((error: unknown) =>
      this.options.report('what a former worker left running could not be looked for', error),
    );
    const everyMs = Math.min(5_000, this.options.settings.holdMs / 4);
    const { signal } = this.closing;
    while (!signal.aborted) {
      await systemClock.sleep(everyMs, signal);
      for (const [session, attached] of this.attached) {
        const { connection, epoch } = attached;
        if (!connection.isOpen || !(await this.isHeld(session, epoch))) {
          if (this.attached.get(session) === attached && attached.epoch === epoch) this.letGo(session);
          continue;
        }
        connection.ask(epoch, { op: 'renew' }).catch(() => this.letGo(session));
      }
    }
  }

  /** A store that cannot be asked is no reason to let it die: it was ours a moment ago. */
  private async isHeld(session: string, epoch: number): Promise<boolean> {
    try {
      return await this.options.isHeld(session, epoch);
    } catch (error) {
      this.options.report(`${session}: whether it is still held could not be asked`, error);
      return true;
    }
  }

  private letGo(session: string): void {
    this.attached.get(session)?.connection.close();
    this.attached.delete(session);
  }

  private dirOf(session: string): string {
    return join(this.options.dir, session);
  }
}

/** Throws when a newer holder has been there. */
async function answers(connection: Connection, epoch: number): Promise<boolean> {
  try {
    await connection.ask(epoch, { op: 'renew' });
    return true;
  } catch (error) {
    if (error instanceof Outdated) {
      throw outdated(error);
    }
    return false;
  }
}

const outdated = (cause?: unknown): OutlastError =>
  new OutlastError('lease.lost', 'Another worker holds the sandbox of this session.', { cause });

const jobsOf = (connection: Connection, epoch: number): Promise<readonly Report[]> =>
  connection.ask(epoch, { op: 'jobs' }).catch(() => []);

function boxOf(attached: Attached): ProcessBox {
  const { connection } = attached;
  /** Whoever does not want it any more ends it, and hears what became of it. */
  async function calledOff<T>(reference: string, signal: AbortSignal, asked: Promise<T>): Promise<T> {
    const callOff = (): void => {
      connection.ask(attached.epoch, { op: 'callOff', reference }).catch(() => {});
    };
    if (signal.aborted) callOff();
    signal.addEventListener('abort', callOff, { once: true });
    try {
      return await asked;
    } finally {
      signal.removeEventListener('abort', callOff);
    }
  }
  return {
    run: (command: Command, signal) =>
      calledOff(command.reference, signal, connection.ask(attached.epoch, { op: 'run', command })),
    cell: (cell, signal) =>
      calledOff(cell.reference, signal, connection.ask(attached.epoch, { op: 'cell', cell })),
    find: (reference, signal) =>
      calledOff(reference, signal, connection.ask(attached.epoch, { op: 'find', reference })),
    jobs: () => connection.ask(attached.epoch, { op: 'jobs' }),
    look: (job, chars) => connection.ask(attached.epoch, { op: 'look', job, chars: chars ?? null }),
    input: (job, text, reference) => connection.ask(attached.epoch, { op: 'input', job, text, reference }),
    kill: (job) => connection.ask(attached.epoch, { op: 'kill', job }),
  };
}
