/**
 * Kernels of sessions as their supervisors would have them, in memory: each holds one object that can be kept by value
 * and one that cannot. Like a process beside the worker, they outlive it.
 */

import type { KernelObjects, LiveName, LostName, Parked, Processes } from '../sandbox/process/port.ts';
import type { Tool } from '../tools/port.ts';

/** `gen` does not pickle. */
export const KERNEL_CODE = 'rows = [1]; gen = (i for i in rows)';
export const UNSAVED_WHY = "TypeError: cannot pickle 'generator' object";

export interface FakeKernel {
  /** Null when no kernel is in memory. */
  memory: readonly LiveName[] | null;
  kept: readonly LiveName[];
  untold: LostName[];
  generation: number;
  /** References of the code that has run in it. */
  readonly ran: Set<string>;
  /** By whoever holds the session: an older epoch is refused. */
  epoch: number;
}

export class FakeKernels {
  readonly asked: string[] = [];
  private readonly kernels = new Map<string, FakeKernel>();

  of(session: string): FakeKernel {
    const none = { memory: null, kept: [], untold: [], generation: 0, epoch: 0 };
    const kernel = this.kernels.get(session) ?? { ...none, ran: new Set() };
    this.kernels.set(session, kernel);
    return kernel;
  }

  /** Runs `KERNEL_CODE` in the kernel of the session whose call this is. */
  readonly tool: Tool = {
    spec: { name: 'python', description: 'Python of a test.', input: { type: 'object' } },
    direct: true,
    keepsObjects: true,
    changesFiles: true,
    plan: (args) => ({
      ...{ capability: { kind: 'queryable', lateMs: 0 }, target: 'python', identity: null, args },
    }),
    run: async (_, { reference, epoch, session }) => {
      this.run(this.held(session, epoch), reference);
      return { status: 'done', result: {} };
    },
    find: async (_, { reference, epoch, session }) =>
      this.held(session, epoch).ran.has(reference) ? { status: 'done', result: {} } : { status: 'absent' },
  };

  readonly processes = {
    park: (session: string, epoch: number, mayLose: boolean) => this.park(session, epoch, mayLose),
    objects: (session: string, epoch: number) => this.objects(session, epoch),
    running: async () => [],
    hold: () => {},
    end: async (session: string) => {
      this.of(session).memory = null;
    },
    close: async () => {},
  } as unknown as Processes;

  private run(kernel: FakeKernel, reference: string): void {
    if (kernel.ran.has(reference)) return;
    kernel.ran.add(reference);
    if (kernel.memory === null) kernel.generation++;
    const cell = reference.slice(reference.lastIndexOf('.') + 1);
    const name = (of: string, type: string): LiveName => ({ name: of, type, size: null, cell });
    kernel.memory = [name('rows', 'list'), name('gen', 'generator')];
  }

  private async park(session: string, epoch: number, mayLose: boolean): Promise<Parked> {
    this.asked.push(`park ${epoch}${mayLose ? ' may lose' : ''}`);
    const kernel = this.held(session, epoch);
    if (kernel.memory === null) return { status: 'parked', kept: [] };
    const unsaved = kernel.memory
      .filter(({ name }) => name === 'gen')
      .map((one): LostName => ({ ...one, why: UNSAVED_WHY, code: KERNEL_CODE }));
    if (unsaved.length > 0 && !mayLose) return { status: 'kept', unsaved };
    kernel.kept = kernel.memory.filter(({ name }) => name !== 'gen');
    kernel.untold.push(...unsaved);
    kernel.memory = null;
    return { status: 'parked', kept: kernel.kept.map(({ name }) => name) };
  }

  private async objects(session: string, epoch: number): Promise<KernelObjects | null> {
    const { generation, memory, kept, untold } = this.held(session, epoch);
    if (generation === 0) return null;
    return { generation, live: memory ?? kept, lost: untold.splice(0) };
  }

  private held(session: string, epoch: number): FakeKernel {
    const kernel = this.of(session);
    if (epoch < kernel.epoch) throw new Error('another worker holds this session');
    kernel.epoch = epoch;
    return kernel;
  }
}
