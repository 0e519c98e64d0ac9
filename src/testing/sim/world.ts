/**
 * The outside: services of each capability, with books that no runtime can see into. They outlive every crash.
 */

import type { Audit, Capability } from '../../core/capability.ts';
import { type Policy, policyOf } from '../../core/policy.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Json } from '../../lib/json.ts';
import type { Answer, Tool } from '../../tools/port.ts';
import { type MemoryWorkspaces, memoryWorkspaces } from '../../workspace/memory.ts';
import { FakeKernels } from '../fake-kernels.ts';

export interface Entry {
  readonly service: string;
  readonly reference: string;
  readonly what: string;
  /** By the service's own clock, which jumps with nobody's. */
  readonly at: number;
}

export interface World {
  readonly books: Entry[];
  /** What stood in the books for a while and was undone. */
  readonly undone: Entry[];
  /** How often anything was read; reads are not in the books. */
  reads: number;
  /** Answers that get lost on the way, by service: the next `n` calls are applied and never answered. */
  readonly loseAnswers: Map<string, number>;
  /** How long the next call of a service is on its way before it is applied, whoever still waits for it. */
  readonly slow: Map<string, number>;
  /** Images that the disk gives out as others than those that were written. */
  readonly rotten: Set<string>;
  /** The folders of sessions: like the books, they outlive every crash. */
  readonly workspaces: MemoryWorkspaces;
  /** Kernels of sessions, which outlive every crash as well. */
  readonly kernels: FakeKernels;
  /** What a provider has charged, in micro-dollars; it charges whether or not its answer is heard. */
  charged: number;
  tools(): readonly Tool[];
}

const LATENCY_MS = 20;
/** Services that remember the newest epoch of a session and refuse an older one: the ones that can be asked. */
const FENCES = new Set(['pay', 'mail', 'book']);
/** Longer than any time limit of the scenarios. */
const NEVER_MS = 24 * 3_600_000;

/** How long `pay` remembers its keys: longer than a clock jumps, less than a session may be down (`MODES`). */
export const RETENTION_MS = 2 * 3_600_000;

/** In this world a person is asked about nothing, unless a scenario or a test is about that. */
export const ALLOW_ALL: Policy = policyOf([{ name: 'all', when: () => true, verdict: 'allow' }]);

export const SERVICES: Readonly<Record<string, Capability>> = {
  look: { kind: 'read' },
  pay: { kind: 'keyed', retentionMs: RETENTION_MS },
  mail: { kind: 'queryable', lateMs: 2_000 },
  book: { kind: 'cancelable', lateMs: 2_000 },
  post: { kind: 'blind' },
};

export function world(clock: Clock): World {
  const epochs = new Map<string, number>();

  /** Whether a request under `epoch` is from a holder that has been replaced, as far as this service knows. */
  function isStale(name: string, reference: string, epoch: number): boolean {
    if (!FENCES.has(name)) return false;
    const session = `${name} ${reference.split('.')[0]}`;
    const newest = epochs.get(session) ?? 0;
    epochs.set(session, Math.max(newest, epoch));
    return epoch < newest;
  }

  const self: World = {
    books: [],
    undone: [],
    reads: 0,
    loseAnswers: new Map(),
    slow: new Map(),
    rotten: new Set(),
    workspaces: memoryWorkspaces(),
    kernels: new FakeKernels(),
    charged: 0,
    tools: () => Object.entries(SERVICES).map(([name, capability]) => serviceTool(name, capability)),
  };

  function serviceTool(name: string, capability: Capability): Tool {
    return {
      spec: {
        name,
        description: `The ${name} service of the simulated world.`,
        input: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] },
      },
      direct: true,
      plan: (args) => ({ capability, target: `${name} service`, identity: null, args }),
      run: (args, { reference, epoch, signal }) => {
        if (isStale(name, reference, epoch)) throw new Error('refused: an older epoch');
        return apply(name, whatOf(args), reference, signal);
      },
      async find(_args, { reference, epoch }) {
        isStale(name, reference, epoch);
        await clock.sleep(LATENCY_MS);
        const found = self.books.find((entry) => entry.service === name && entry.reference === reference);
        return found ? { status: 'done', result: { ok: true, what: found.what } } : { status: 'absent' };
      },
      async audit(_args, { reference, epoch }): Promise<Audit> {
        if (isStale(name, reference, epoch)) throw new Error('refused: an older epoch');
        await clock.sleep(LATENCY_MS);
        const isOurs = (entry: Entry): boolean => entry.service === name && entry.reference === reference;
        const [kept, ...extras] = self.books.filter(isOurs);
        for (const extra of extras) self.undone.push(...self.books.splice(self.books.indexOf(extra), 1));
        const undone = self.undone.filter(isOurs).length;
        await clock.sleep(LATENCY_MS / 2);
        if (!kept) return { finding: { status: 'absent' }, undone };
        return { finding: { status: 'done', result: { ok: true, what: kept.what } }, undone };
      },
    };
  }

  async function apply(name: string, what: string, reference: string, signal: AbortSignal): Promise<Answer> {
    const onItsWay = self.slow.get(name) ?? LATENCY_MS / 2;
    self.slow.delete(name);
    await clock.sleep(onItsWay);
    const at = clock.monotonic();
    const isKnown = (entry: Entry): boolean =>
      entry.service === name && entry.reference === reference && at - entry.at < RETENTION_MS;
    if (name === 'look') self.reads++;
    else if (name !== 'pay' || !self.books.some(isKnown)) {
      self.books.push({ service: name, reference, what, at });
    }
    const losses = self.loseAnswers.get(name) ?? 0;
    if (losses > 0) {
      self.loseAnswers.set(name, losses - 1);
      await clock.sleep(NEVER_MS, signal);
      throw new Error('the connection was torn');
    }
    await clock.sleep(LATENCY_MS / 2);
    return { status: 'done', result: { ok: true, what } };
  }

  return self;
}

export function whatOf(args: Json): string {
  return typeof args === 'object' && args !== null && 'what' in args ? String(args.what) : '';
}
