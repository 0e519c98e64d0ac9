/**
 * The environments of this machine: for each session a folder of files and a sandbox of processes, behind the walls that
 * were found here. What a supervisor guards it guards for brains elsewhere, too; this is only the way to it.
 *
 * M1  An environment is noted with its id before anything is in it, so what is there belongs to the id that is noted.
 * M2  Each brain has a hold of its own, with the epochs that it says: what it stops to renew is let go.
 * M3  Nothing is waited for longer than `POLL_MS`: what takes longer goes on, and is asked for again.
 */

import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OutlastError } from '../core/error.ts';
import { systemClock } from '../lib/clock.ts';
import { sha256 } from '../lib/digest.ts';
import { isRecord, parseJson } from '../lib/json.ts';
import { Outdated } from '../sandbox/process/connection.ts';
import { openProcesses, type ProcessOptions } from '../sandbox/process/open.ts';
import type { Processes } from '../sandbox/process/port.ts';
import { newestEpoch } from '../sandbox/process/supervisor/holder.ts';
import { NO_BYTES } from './frame.ts';
import { type Answered, machineFiles } from './machine-files.ts';
import { type At, type EnvironmentAbilities, type Exec, type FileCall, PENDING } from './port.ts';

export interface MachineOptions extends Omit<ProcessOptions, 'isHeld'> {
  /** Tests do not wait so long. */
  readonly pollMs?: number;
}

export type Machine = Awaited<ReturnType<typeof openMachine>>;

/** Below what proxies on the way take for a dead line. */
const POLL_MS = 15_000;
/** A few renewals may be lost. */
const HELD_MS = 20_000;
const SWEEP_MS = 5_000;
const KEPT_MS = 60_000;

interface Note {
  readonly id: string;
  readonly isPaused: boolean;
}

interface Brain {
  readonly processes: Processes;
  /** What is waited for, by the words in which it was asked for: asked again, the same is waited for. */
  readonly waiting: Map<string, Promise<unknown>>;
  readonly held: Map<string, { readonly epoch: number; readonly at: number }>;
  seenAt: number;
}

/** One command waits on it for each session. */
const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

export async function openMachine({ pollMs = POLL_MS, ...options }: MachineOptions) {
  const { dataDir } = options;
  const files = machineFiles(dataDir);
  const brains = new Map<string, Promise<Brain>>();
  const newest = new Map<string, number>();
  const closing = new AbortController();
  const first = await openProcesses({ ...options, isHeld: async () => false });
  if (!first.offered) throw new OutlastError('hands.unreachable', first.says, { next: UNCONFINED });
  const { abilities, says } = first.processes;
  await first.processes.close();
  void sweep();

  const noteOf = (session: string): string => join(dataDir, 'environments', `${checked(session)}.json`);

  function noted(session: string): Note | null {
    try {
      const note = parseJson(readFileSync(noteOf(session), 'utf8'));
      return isRecord(note) && typeof note.id === 'string' ? (note as unknown as Note) : null;
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ENOENT') return null;
      throw error;
    }
  }

  function note(session: string, said: Note): string {
    mkdirSync(join(dataDir, 'environments'), { recursive: true, mode: 0o700 });
    writeFileSync(`${noteOf(session)}.new`, JSON.stringify(said), { mode: 0o600, flush: true });
    renameSync(`${noteOf(session)}.new`, noteOf(session));
    return said.id;
  }

  function resume(session: string): string | null {
    const there = noted(session);
    if (there === null) return null;
    return there.isPaused ? note(session, { ...there, isPaused: false }) : there.id;
  }

  /** E1, E3. `isFree` is what need not hold it. */
  function admit({ session, id, epoch }: At, isFree = false): void {
    const there = noted(session);
    if (there?.id !== id) throw lost(there === null ? 'is gone' : 'is gone; there is a new one');
    if (there.isPaused) throw lost('is paused');
    if (!isFree) checkEpoch(session, epoch);
  }

  /** E3. */
  function checkEpoch(session: string, epoch: number): void {
    const known = Math.max(newest.get(session) ?? 0, newestEpoch(join(dataDir, 'run', session)));
    if (epoch < known) throw new OutlastError('lease.lost', 'another worker holds this session');
    newest.set(session, epoch);
  }

  /** M2. */
  function brainOf(name: string): Promise<Brain> {
    const known = brains.get(name);
    if (known) return known;
    const fresh = newBrain();
    brains.set(name, fresh);
    fresh.catch(() => brains.delete(name));
    return fresh;
  }

  async function newBrain(): Promise<Brain> {
    const held: Brain['held'] = new Map();
    const isHeld = async (session: string, epoch: number): Promise<boolean> => {
      const hold = held.get(session);
      return hold?.epoch === epoch && systemClock.monotonic() - hold.at < HELD_MS;
    };
    const opened = await openProcesses({ ...options, isHeld });
    if (!opened.offered) throw new OutlastError('internal', opened.says);
    return { processes: opened.processes, waiting: new Map(), held, seenAt: systemClock.monotonic() };
  }

  async function hold(name: string, { session, epoch }: At): Promise<Brain> {
    const brain = await brainOf(name);
    const at = systemClock.monotonic();
    brain.seenAt = at;
    brain.held.set(session, { epoch: Math.max(epoch, brain.held.get(session)?.epoch ?? 0), at });
    return brain;
  }

  async function sweep(): Promise<void> {
    while (!closing.signal.aborted) {
      await systemClock.sleep(SWEEP_MS, closing.signal);
      for (const [name, brain] of brains) {
        const seenAt = await brain.then((one) => one.seenAt).catch(() => null);
        if (seenAt !== null && systemClock.monotonic() - seenAt > 3 * HELD_MS) await leave(name);
      }
    }
  }

  async function leave(name: string): Promise<void> {
    const brain = brains.get(name);
    brains.delete(name);
    await (await brain)?.processes.close();
  }

  /** M3. What nobody has come for is kept for a while: whoever asks in the same words again gets it. */
  async function soon<Answer>(
    { waiting }: Brain,
    key: string,
    start: () => Promise<Answer>,
  ): Promise<Answer | typeof PENDING> {
    const known = waiting.get(key) as Promise<Answer> | undefined;
    const answer = known ?? start();
    const forget = (): void => {
      if (waiting.get(key) === answer) waiting.delete(key);
    };
    if (!known) {
      waiting.set(key, answer);
      const later = (): Promise<void> => systemClock.sleep(KEPT_MS, closing.signal).then(forget);
      answer.then(later, later);
    }
    const over = new AbortController();
    const late = systemClock.sleep(pollMs, over.signal).then((): typeof PENDING => PENDING);
    let isPending = false;
    try {
      const first = await Promise.race([answer, late]);
      isPending = first === PENDING;
      return first;
    } finally {
      over.abort();
      if (!isPending) forget();
    }
  }

  async function perform(brain: Brain, at: At, asked: Exec): Promise<unknown> {
    const { processes } = brain;
    const { session, epoch } = at;
    const box = async () => processes.open(session, epoch, await files.folder(session));
    const find = (reference: string, signal: AbortSignal) =>
      processes.find(session, epoch, reference, signal);
    const inTime = (reference: string, start: () => Promise<unknown>): Promise<unknown> =>
      soon(brain, `${session} ${epoch} ${reference}`, start);
    switch (asked.op) {
      case 'open':
        await box();
        return null;
      case 'run':
        return inTime(`run ${asked.command.reference}`, async () => (await box()).run(asked.command, NEVER));
      case 'cell':
        return inTime(`run ${asked.cell.reference}`, async () => (await box()).cell(asked.cell, NEVER));
      case 'find':
        return inTime(asked.reference, () => find(asked.reference, NEVER));
      case 'callOff':
        await inTime(`off ${asked.reference}`, () => find(asked.reference, AbortSignal.abort()));
        return null;
      case 'jobs':
        return (await box()).jobs();
      case 'look':
        return (await box()).look(asked.job, asked.chars ?? undefined);
      case 'input':
        return (await box()).input(asked.job, asked.text, asked.reference);
      case 'kill':
        return (await box()).kill(asked.job);
      case 'running':
        await attach(processes, at);
        return processes.running(session);
      case 'park':
        return processes.park(session, epoch, asked.mayLose);
      case 'objects':
        return processes.objects(session, epoch);
      case 'end':
        await processes.end(session);
        return null;
      default:
        throw new OutlastError('request.invalid', 'There is no such call for processes.');
    }
  }

  return {
    abilities: { ...abilities, pauseKeeps: 'files' } satisfies EnvironmentAbilities,
    says,
    create: (session: string): string =>
      resume(session) ?? note(session, { id: randomUUID(), isPaused: false }),
    resume,
    /** M1 backwards: the note goes last, so that what a crash has left is found again. */
    async destroy(name: string, session: string, epoch: number): Promise<void> {
      if (noted(session) === null) return;
      checkEpoch(session, epoch);
      await (await brainOf(name)).processes.erase(session, epoch);
      await files.erase(session, epoch);
      rmSync(noteOf(session), { force: true });
      newest.delete(session);
    },
    async pause(name: string, at: At): Promise<void> {
      admit(at);
      await (await hold(name, at)).processes.end(at.session);
      note(at.session, { id: at.id, isPaused: true });
    },
    async exec(name: string, at: At, asked: Exec): Promise<unknown> {
      // An end is an end, whoever still wants it.
      admit(at, asked.op === 'end');
      try {
        return await perform(await hold(name, at), at, asked);
      } catch (error) {
        throw inWords(error);
      }
    },
    async files(name: string, at: At, asked: FileCall, bytes: Uint8Array): Promise<Answered> {
      admit(at, READS.has(asked.op));
      const start = () => files.answer(at, asked, bytes);
      if (!LONG.has(asked.op)) return start();
      const words = `files ${at.session} ${at.epoch} ${sha256(JSON.stringify(asked))} ${sha256(bytes)}`;
      const answered = await soon(await brainOf(name), words, start);
      return answered === PENDING ? { answer: PENDING, bytes: NO_BYTES } : answered;
    },
    async renew(name: string, held: readonly At[]): Promise<void> {
      (await brainOf(name)).seenAt = systemClock.monotonic();
      for (const at of held) {
        if (noted(at.session)?.id !== at.id) continue;
        const isNew = !(await brainOf(name)).held.has(at.session);
        const { processes } = await hold(name, at);
        processes.hold(at.session, at.epoch);
        // These hands were started again since: what lives is attached to, and so it goes on living.
        if (isNew) await attach(processes, at).catch(() => null);
      }
    },
    leave,
    async close(): Promise<void> {
      closing.abort();
      await Promise.all([...brains.keys()].map(leave));
    },
  };
}

const READS: ReadonlySet<FileCall['op']> = new Set<FileCall['op']>([
  ...(['look', 'lookAnew', 'take', 'find', 'read', 'list', 'recall'] as const),
]);

/** In a large tree they take their time. */
const LONG: ReadonlySet<FileCall['op']> = new Set<FileCall['op']>([
  ...(['look', 'lookAnew', 'want', 'restore'] as const),
]);

const UNCONFINED = 'install bubblewrap or util-linux there, or start it with --unconfined';

/** Where it lives; looking for what never was tells nobody anything, and starts nothing. */
const attach = (processes: Processes, { session, epoch }: At): Promise<unknown> =>
  processes.find(session, epoch, '', NEVER);

const lost = (what: string): OutlastError =>
  new OutlastError('hands.lost', `The environment of this session ${what}.`, {
    next: 'go on: the files come back from the log in a new one',
  });

/** A session names folders here. */
function checked(session: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(session)) return session;
  throw new OutlastError('request.invalid', 'That is no session.');
}

/** Whoever asks is the brain itself: it is told what went wrong. */
function inWords(error: unknown): unknown {
  if (error instanceof OutlastError) return error;
  const { message } = error instanceof Error ? error : new Error(String(error));
  return new OutlastError(error instanceof Outdated ? 'lease.lost' : 'internal', message, { cause: error });
}
