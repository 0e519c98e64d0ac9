/**
 * The kernel of a session, from its supervisor's side: one Python process with state between cells.
 *
 * K1  What lived and which cell made it is on the disk after each cell, with the code: after any loss it can be said what
 *     is gone, whoever comes next.
 * K2  Code never runs in a kernel that has lost names nobody was told of: the first cell after a loss is answered with the
 *     list, and is not run.
 * K3  A kernel is ended only with its values on the disk (`park`), on order, or by its limits. Another one is another
 *     generation.
 * K4  Where its whole process can be kept, parking keeps that, with its values beside it: when it cannot be brought back,
 *     they are, and what they lack is lost and told with the reason.
 */

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../lib/clock.ts';
import { openSeal, type Sealer } from '../../../lib/seal.ts';
import { type Cage, type Room, SCRATCH } from '../confine/cage.ts';
import type { Held } from '../limits.ts';
import type { Cell, CellResult, Ending, KernelObjects, LiveName, LostName, Parked } from '../port.ts';
import { type Dialogue, dialogueOf, type KernelAnswer, openDialogue, roomOfKernel } from './dialogue.ts';
import { backThrough } from './door.ts';
import { discard, freeze, type ImagePlace, thaw } from './image.ts';
import { drained, type Spool } from './spool.ts';
import { forbidMore } from './userns.ts';

/** An interrupt that is not heard within this is followed by the end of the kernel. */
const HEED_MS = 2_000;
const START_MS = 30_000;

/** What of the kernel is on the disk (K1). */
interface Notes {
  readonly generation: number;
  readonly live: readonly LiveName[];
  readonly codes: Readonly<Record<string, string>>;
  /** Whether its values stand in `values`, and nothing has changed them since. */
  readonly isParked: boolean;
  /** Of a kernel whose whole process stands in an image: what is lost when only its values can be brought back. */
  readonly image?: { readonly unsaved: readonly LostName[] } | null;
  /** What is lost and nobody was told of yet. */
  readonly untold: readonly LostName[];
  /** What a cell was told of, and not yet whoever asks what lives: it stands in the log with the same reason. */
  readonly told?: readonly LostName[];
}

const NEW: Notes = { generation: 0, live: [], codes: {}, isParked: false, untold: [] };

export interface KernelPlace {
  /** Folder of the session. */
  readonly dir: string;
  readonly session: string;
  readonly python: string;
  readonly cage: Cage;
  readonly held: Held;
  readonly room: Room;
  /** Where whole processes can be kept (K4). */
  readonly image: ImagePlace | null;
}

export interface Ran {
  readonly result: CellResult;
  readonly ending: Ending;
}

export class Kernel {
  private readonly place: KernelPlace;
  private notes: Notes;
  private dialogue: Dialogue | null = null;
  /** One cell at a time, in the order in which they came. */
  private turn: Promise<unknown> = Promise.resolve();
  private readonly off = new Set<string>();
  /** Of the images; a worker brings it, and it stands nowhere here. */
  private sealer: Sealer | null = null;
  private current: { readonly reference: string; cut(cause: Ending): void } | null = null;

  constructor(place: KernelPlace) {
    this.place = place;
    this.notes = readNotes(place.dir);
  }

  trust(key: Uint8Array): void {
    this.sealer = openSeal(key);
  }

  /** Whether there is anything in memory that its end would take. */
  get hasLive(): boolean {
    return this.dialogue !== null && (this.notes.live.length > 0 || this.current !== null);
  }

  run(cell: Cell, spool: Spool): Promise<Ran> {
    const ran = this.turn.then(() => this.runNow(cell, spool));
    this.turn = ran.catch(() => {});
    return ran;
  }

  /** Interrupts the cell of this reference, now or as soon as it begins. */
  callOff(reference: string): void {
    if (this.current?.reference === reference) this.current.cut('killed');
    else this.off.add(reference);
  }

  /** Behind the cell that runs: what it binds counts. */
  objects(): Promise<KernelObjects> {
    const seen = this.turn.then(() => {
      if (this.dialogue !== null && !this.dialogue.isAlive) this.loseAll(BETWEEN);
      const objects = objectsOf(this.notes);
      // Whoever asks tells it: in the log it stands by name before the model speaks again.
      if (objects.lost.length > 0) this.note({ untold: [], told: [] });
      return objects;
    });
    this.turn = seen.catch(() => {});
    return seen;
  }

  park(mayLose: boolean): Promise<Parked> {
    const parked = this.turn.then(() => this.parkNow(mayLose));
    this.turn = parked.catch(() => {});
    return parked;
  }

  /** Resolves when no process of it is left; what lived is lost, and noted so. */
  async end(cause: Ending, why: string): Promise<void> {
    this.current?.cut(cause);
    const { dialogue } = this;
    this.dialogue = null;
    await dialogue?.end();
    if (dialogue) this.loseAll(why);
  }

  private async runNow(cell: Cell, spool: Spool): Promise<Ran> {
    const restored = await this.ready(spool);
    const { untold } = this.notes;
    if (untold.length > 0) {
      this.tell();
      return { result: this.result({ ran: false, lost: untold, restored }), ending: 'exit' };
    }
    const dialogue = this.dialogue as Dialogue;
    const before = this.place.held.outOfMemory();
    dialogue.speakInto(spool);
    const { answer, cause } = await this.ask(dialogue, cell);
    await drained(spool);
    dialogue.speakInto(null);
    if (answer === null) {
      this.dialogue = null;
      await dialogue.end();
      const isMemory = this.place.held.outOfMemory() > before;
      const ending = cause ?? (isMemory ? 'memory' : 'lost');
      const lost = this.loseAll(`the kernel ended in ${cell.cell}${isMemory ? ': out of memory' : ''}`);
      this.tell();
      const error = 'The kernel ended before the cell did.';
      return { result: this.result({ ran: true, error, lost }), ending };
    }
    this.note({
      live: answer.live ?? [],
      codes: { ...this.notes.codes, [cell.cell]: cell.code },
      isParked: false,
    });
    const { value, table, error } = answer;
    const { plots = [] } = answer;
    return {
      result: this.result({
        ran: true,
        plots,
        restored,
        ...(value === undefined ? {} : { value }),
        ...(table === undefined ? {} : { table }),
        ...(error === undefined ? {} : { error }),
      }),
      ending: cause ?? 'exit',
    };
  }

  /** The answer of a cell, which is interrupted at its limit, and given up with its kernel when it does not heed that. */
  private async ask(
    dialogue: Dialogue,
    { reference, cell, code, timeoutMs }: Cell,
  ): Promise<{ readonly answer: KernelAnswer | null; readonly cause: Ending | null }> {
    const over = new AbortController();
    let cause: Ending | null = null;
    const cut = (why: Ending): void => {
      cause ??= why;
      dialogue.interrupt();
      systemClock.sleep(HEED_MS, over.signal).then(() => !over.signal.aborted && dialogue.kill());
    };
    this.current = { reference, cut };
    systemClock.sleep(timeoutMs, over.signal).then(() => !over.signal.aborted && cut('time'));
    try {
      const answer = dialogue.ask({ op: 'run', cell, code });
      if (this.off.delete(reference)) cut('killed');
      return { answer: await answer, cause };
    } finally {
      over.abort();
      this.current = null;
    }
  }

  /** A kernel that runs, with what could be brought back of the one before. Gives the names that came back. */
  private async ready(spool: Spool): Promise<readonly string[]> {
    if (this.dialogue?.isAlive) return [];
    if (this.dialogue) {
      await this.dialogue.end();
      this.loseAll(BETWEEN);
    } else if (!this.notes.isParked) {
      this.loseAll(WITH_SANDBOX);
    }
    if (await this.thawed()) {
      this.dialogue?.speakInto(spool);
      return [];
    }
    this.dialogue = await openDialogue(this.place, START_MS, spool);
    this.note({ generation: this.notes.generation + 1 });
    return this.notes.isParked ? this.restore(this.dialogue) : [];
  }

  /** K4. Brought back whole, it is the same kernel, and nothing is to be told. */
  private async thawed(): Promise<boolean> {
    const { notes, sealer } = this;
    const { image, dir } = this.place;
    if (!notes.isParked || !notes.image) return false;
    try {
      if (!image || !sealer) throw new Error('nothing here can read its image');
      const [pid, back] = await Promise.all([
        thaw({ ...image, room: roomOfKernel(this.place) }, sealer),
        backThrough(dir, START_MS),
      ]);
      if (back === null) throw new Error('it did not come back');
      forbidMore(pid);
      this.dialogue = await dialogueOf(pid, back, START_MS);
      this.note({ isParked: false, image: null });
      return true;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      console.error(`the kernel was not brought back whole: ${why}`);
      const lost = notes.image.unsaved.map((one) => ({
        ...one,
        why: `${one.why}; and its process could not be brought back whole: ${why}`,
      }));
      const gone = new Set(lost.map(({ name }) => name));
      const live = notes.live.filter(({ name }) => !gone.has(name));
      this.note({ live, image: null, untold: [...notes.untold, ...lost] });
      return false;
    } finally {
      discard(dir);
    }
  }

  /** K4. True when all of it is in an image; else it goes on, or has ended. */
  private async frozen(dialogue: Dialogue): Promise<boolean> {
    const { sealer } = this;
    const { image, dir } = this.place;
    if (!image || !sealer) return false;
    try {
      if (!(await dialogue.letGo())) return false;
      await freeze(image, (await dialogue.first) ?? 0, sealer);
      await dialogue.end();
      return true;
    } catch (error) {
      console.error(`the kernel was not frozen: ${error instanceof Error ? error.message : error}`);
      discard(dir);
      const back = await backThrough(dir, START_MS);
      if (back === null) await dialogue.end();
      else this.dialogue = await dialogue.again(back);
      return false;
    }
  }

  private async restore(dialogue: Dialogue): Promise<readonly string[]> {
    const before = this.notes.live;
    const answer = await dialogue.ask({ op: 'restore', path: this.insidePath() });
    const live = answer?.live ?? [];
    const names = new Set(live.map(({ name }) => name));
    const reasons = new Map(answer?.failed?.map(({ name, why }) => [name, why]));
    const missing = before.filter(({ name }) => !names.has(name));
    const other = reasons.get('') ?? 'it could not be read back';
    const lost = missing.map((one) => this.lost(one, reasons.get(one.name) ?? other));
    this.note({ live, isParked: false, untold: [...this.notes.untold, ...lost] });
    return [...names];
  }

  private async parkNow(mayLose: boolean): Promise<Parked> {
    const { dialogue } = this;
    if (!dialogue?.isAlive) return { status: 'parked', kept: [] };
    const answer = await dialogue.ask({ op: 'checkpoint', path: this.insidePath() });
    const reasons = new Map(answer?.lost?.map(({ name, why }) => [name, why]));
    const all = answer?.ok ? null : (answer?.error ?? 'the kernel ended');
    const unsaved = this.notes.live
      .filter(({ name }) => all !== null || reasons.has(name))
      .map((one) => this.lost(one, all ?? reasons.get(one.name) ?? ''));
    const kept = this.notes.live.map(({ name }) => name);
    if (await this.frozen(dialogue)) {
      this.dialogue = null;
      this.note({ isParked: true, image: { unsaved } });
      return { status: 'parked', kept };
    }
    if (this.dialogue?.isAlive && unsaved.length > 0 && !mayLose) return { status: 'kept', unsaved };
    await this.dialogue?.end();
    this.dialogue = null;
    const gone = new Set(unsaved.map(({ name }) => name));
    this.note({
      isParked: all === null,
      live: this.notes.live.filter(({ name }) => !gone.has(name)),
      untold: [...this.notes.untold, ...unsaved],
    });
    return { status: 'parked', kept: answer?.kept ?? [] };
  }

  private tell(): void {
    const { told = [], untold } = this.notes;
    this.note({ untold: [], told: [...told, ...untold] });
  }

  private loseAll(why: string): readonly LostName[] {
    const lost = this.notes.live.map((one) => this.lost(one, why));
    this.note({ live: [], untold: [...this.notes.untold, ...lost], isParked: false });
    return this.notes.untold;
  }

  private lost(one: LiveName, why: string): LostName {
    return { ...one, why, code: this.notes.codes[one.cell] ?? '' };
  }

  private result(more: Partial<CellResult> & { readonly ran: boolean }): CellResult {
    const { generation, live } = this.notes;
    return { plots: [], lost: [], restored: [], generation, live, ...more };
  }

  /** The guest writes and reads there; the supervisor never does, since the guest may have made anything of it. */
  private insidePath(): string {
    const { cage, room } = this.place;
    return join(cage.name === 'none' ? room.scratch : SCRATCH, '.kernel', 'values');
  }

  private note(change: Partial<Notes>): void {
    this.notes = { ...this.notes, ...change };
    const path = notesPath(this.place.dir);
    writeFileSync(`${path}.draft`, JSON.stringify(this.notes), { mode: 0o600 });
    renameSync(`${path}.draft`, path);
  }
}

const BETWEEN = 'the kernel ended between two cells';
const WITH_SANDBOX = 'its sandbox ended, and the kernel with it';

/** Where no supervisor runs: only what was parked is not lost. Null when nothing was ever noted. */
export function objectsIn(dir: string): KernelObjects | null {
  if (!existsSync(notesPath(dir))) return null;
  const notes = readNotes(dir);
  if (notes.isParked) return objectsOf(notes);
  const lost = notes.live.map(
    (one): LostName => ({ ...one, why: WITH_SANDBOX, code: notes.codes[one.cell] ?? '' }),
  );
  const { lost: before, ...objects } = objectsOf(notes);
  return { ...objects, live: [], lost: [...before, ...lost] };
}

const objectsOf = ({ generation, live, untold, told = [] }: Notes): KernelObjects => ({
  generation,
  live,
  lost: [...told, ...untold],
});

const notesPath = (dir: string): string => join(dir, 'kernel.json');

function readNotes(dir: string): Notes {
  if (!existsSync(notesPath(dir))) return NEW;
  return JSON.parse(readFileSync(notesPath(dir), 'utf8')) as Notes;
}
