/**
 * The crash loop of a crowd: several sessions of one owner, fewer slots, and a machine that dies anywhere. What the other
 * loop looks at in one session is not looked at again; here it is who works at the same time, and who waits for whom.
 *
 * C1  Never more at work than there are slots: counted at the model, where work happens, and not in any book of ours.
 * C2  Everybody gets a turn, and nobody waits for one who sleeps.
 * C3  Who has waited longest goes first.
 */

import type { Event } from '../../core/event.ts';
import type { Owner, SessionId } from '../../core/ids.ts';
import { decode } from '../../core/upcast.ts';
import { seededEntropy } from '../../lib/entropy.ts';
import { localBell } from '../../loop/bell.ts';
import type { Model } from '../../models/port.ts';
import { checkLog } from '../../projections/invariant/invariant.ts';
import type { Outlast } from '../../runtime/runtime.ts';
import type { Sandbox } from '../../sandbox/port.ts';
import { memoryStore } from '../../store/memory.ts';
import type { Store } from '../../store/port.ts';
import { quiet } from '../quiet.ts';
import { virtualClock } from '../virtual-clock.ts';
import { type Crash, type Life, life } from './life.ts';
import { LEASE_MS, type Mutation, machine } from './machine.ts';
import { patiently } from './person.ts';
import { calls, doing, read, report, say } from './reply.ts';
import { ALLOW_ALL, world } from './world.ts';

export interface CrowdOptions {
  readonly slots: number;
  readonly sandbox: Sandbox;
  /** Where the first machine dies; by default it does not. */
  readonly crash?: Crash;
  readonly mutation?: Mutation;
}

export interface Crowd {
  readonly boundaries: readonly string[];
  readonly crashed: boolean;
  /** What is wrong; empty when nothing is. */
  readonly findings: readonly string[];
}

const OWNER = 'local' as Owner;
/** The holder stays for a nap that is so short; nobody may wait for its end. */
const NAP_S = 55;
const MESSAGES = ['nap', 'one', 'two', 'three', 'four', 'late'];
const BOUND_MS = 3_600_000;
const CIRCLES = 1_000;

export async function crowd({ slots, sandbox, crash, mutation = {} }: CrowdOptions): Promise<Crowd> {
  const clock = virtualClock();
  const outside = world(clock);
  const disk = memoryStore(clock);
  const store: Store = mutation.store?.(disk) ?? disk;
  const entropy = seededEntropy(7);
  const workers: Life[] = [];
  const ids = new Map<string, SessionId>();
  let working = 0;
  let most = 0;

  const counted = (model: Model): Model => ({
    ...model,
    async generate(request, options) {
      most = Math.max(most, ++working);
      return model.generate(request, options).finally(() => working--);
    },
  });

  function live(): { readonly life: Life; readonly api: Outlast } {
    const one = life({ clock, circles: CIRCLES, crash: workers.length === 0 ? (crash ?? null) : null });
    workers.push(one);
    const api = machine(one, {
      ...{
        holder: `worker-${workers.length}`,
        bell: localBell(),
        report: () => {},
        store,
        clock,
        entropy,
        sandbox,
      },
      ...{ slots, workspaces: outside.workspaces, policy: ALLOW_ALL, prices: { price: async () => null } },
      tools: outside.tools().map((tool) => one.port(tool.spec.name, tool)),
      mutation: { model: counted },
      charge: () => {},
      reply(request) {
        const { instructions, results } = read(request);
        if (instructions[0] !== 'nap') return doing(['look', { what: instructions[0] ?? '' }])(request);
        return results.length === 0 ? calls(['sleep', { seconds: NAP_S }]) : say(report(results));
      },
    });
    return { life: one, api };
  }

  let current = live();

  /** Does it, in the life that is and in the one that follows it. False when it has no end. */
  async function through(work: (api: Outlast) => Promise<unknown>): Promise<boolean> {
    for (;;) {
      const { life: one, api } = current;
      let outcome: 'done' | Error | null = null;
      patiently(clock, () => work(api).then(() => {})).then(
        () => {
          outcome = 'done';
        },
        (error: Error) => {
          outcome = error;
        },
      );
      const end = clock.now() + BOUND_MS;
      while (outcome === null && !one.dead) {
        if (!(await quiet(workers))) return false;
        if (outcome !== null || one.dead) break;
        if (clock.now() > end || !clock.advance()) return false;
      }
      if (outcome === 'done') return true;
      if (outcome !== null) throw outcome;
      clock.elapse(LEASE_MS + 1);
      current = live();
    }
  }

  const findings: string[] = [];
  for (const message of MESSAGES) {
    const isStarted = await through(async (api) => {
      if (message === 'late') await clock.sleep(300);
      ids.set(message, (await api.start({ message, key: message, persist: true })).session);
      await clock.sleep(10);
    });
    if (!isStarted) findings.push(`${message} could not be started`);
  }
  for (const [message, id] of ids) {
    if (!(await through((api) => api.rest(id)))) findings.push(`${message} did not come to rest`);
  }
  for (const one of workers) one.end();
  if (most > slots) findings.push(`C1: ${most} at work, with ${slots} slots`);
  const logs = new Map<string, readonly Event[]>();
  for (const [message, id] of ids) {
    const log = (await disk.read(id, 0, 10_000)).map(decode);
    findings.push(...checkLog(log).map((found) => `${message}: ${found.invariant}: ${found.detail}`));
    logs.set(
      message,
      log.filter((event): event is Event => event.kind !== 'foreign'),
    );
  }
  findings.push(...turns(logs), ...overtaking(logs));
  const left = await disk.queue(OWNER);
  if (left.waiting.length > 0) findings.push('somebody still waits');
  return { boundaries: workers[0]?.boundaries ?? [], crashed: workers.length > 1, findings };
}

/** C2. */
function turns(logs: ReadonlyMap<string, readonly Event[]>): readonly string[] {
  const woke = logs.get('nap')?.find(({ kind }) => kind === 'timer.fired')?.at ?? 0;
  return [...logs].flatMap(([message, log]) => {
    const response = log.find(({ kind }) => kind === 'response.surfaced');
    if (!response) return [`C2: ${message} had no turn`];
    return message !== 'nap' && response.at >= woke ? [`C2: ${message} waited for one who slept`] : [];
  });
}

/** C3. Whose place was before another's was let in before it. */
function overtaking(logs: ReadonlyMap<string, readonly Event[]>): readonly string[] {
  const waits = [...logs].flatMap(([message, log]) => {
    const queued = log.find(({ kind }) => kind === 'session.queued');
    const admitted = log.find(({ kind }) => kind === 'session.admitted');
    // Who was never queued came in when it began.
    const from = queued ?? log[0];
    const to = admitted ?? log.find(({ kind }) => kind === 'turn.started');
    return from && to ? [{ message, from: from.at, to: to.at, isQueued: queued !== undefined }] : [];
  });
  return waits.flatMap((first) =>
    waits
      .filter((second) => first.isQueued && first.from < second.from && second.to < first.to)
      .map((second) => `C3: ${second.message} went before ${first.message}`),
  );
}
