/**
 * The public API: sessions of one owner. Everything here is a thin call over inputs, the fold and the driver.
 *
 * @example
 * ```ts
 * const outlast = await createOutlast({ dataDir: './.outlast' });
 * const { session } = await outlast.start({ message: "Report on February's invoices", persist: true });
 * await outlast.rest(session);
 * await outlast.send(session, 'Now do the same for March');
 * ```
 */

import { NO_BUDGETS } from '../core/budget/budget.ts';
import { setBudget } from '../core/budget/decide.ts';
import * as decide from '../core/decide.ts';
import { OutlastError } from '../core/error.ts';
import type { Event, EventBody, ForeignEvent } from '../core/event.ts';
import { fold, initialState } from '../core/evolve.ts';
import { checkImages, type FileData } from '../core/file.ts';
import { lineageOf } from '../core/fork/state.ts';
import { type Owner, parseSessionId, type SessionId, sessionId } from '../core/ids.ts';
import { digestOf } from '../core/inbox.ts';
import { DEFAULT_LIMITS, type Limits } from '../core/limits.ts';
import type { Receipt } from '../core/message.ts';
import { type Phase, phase, rests } from '../core/phase.ts';
import { TUNABLES } from '../core/residency/policy.ts';
import { goneError } from '../core/retention/gone.ts';
import type { State } from '../core/state.ts';
import { decode, encode } from '../core/upcast.ts';
import type { Drive, Driver } from '../driver/port.ts';
import { assert } from '../lib/assert.ts';
import { given } from '../lib/given.ts';
import { drive } from '../loop/actor.ts';
import { ask } from '../loop/ask.ts';
import { sealFile } from '../loop/files.ts';
import { fork, noSuchEvent } from '../loop/fork.ts';
import { Heaps } from '../loop/heap/heaps.ts';
import { type Appended, appendInput, stamp } from '../loop/input.ts';
import { Leftovers } from '../loop/leftovers.ts';
import { Log } from '../loop/log.ts';
import type { Ports } from '../loop/ports.ts';
import { ratesOf } from '../loop/rates.ts';
import { readEvents } from '../loop/read.ts';
import { recall } from '../loop/recall/recall.ts';
import type { Wake } from '../loop/slot.ts';
import { states } from '../loop/states.ts';
import { Workspaces } from '../loop/workspace/workspaces.ts';
import { inspect } from '../projections/inspection.ts';
import { report } from '../projections/report.ts';
import { summarize } from '../projections/summary.ts';
import type { Blob } from '../store/port.ts';
import type { Outlast, Sessions, Started } from './api.ts';
import { type Approver, approving } from './approver.ts';
import { begin, findConversation } from './converse.ts';
import { fileCalls } from './files.ts';
import { follow, type Whisper } from './follow.ts';
import { type Followers, followers } from './followers.ts';
import { inbox, watchInbox } from './inbox.ts';
import { setOwnerBudget } from './owner-budget.ts';
import { ownerSlots, placed, setSlots } from './slots.ts';
import { stats } from './stats.ts';
import { verify } from './verify.ts';

export type * from './api.ts';

const STOP_WAIT_MS = 15_000;
/** Characters that a person gets at once: of passages, some 4,000 tokens as a model does; of an original, as good as all. */
const RECALLED = 16_200;
const WHOLE = 4_000_000;
/** A heap that parking did not reach, since another worker parked its session or nobody may drive it. */
const IDLE_MS = 2 * TUNABLES.parkMs.most;

export interface RuntimeOptions {
  readonly approver?: Approver | undefined;
  /** Of sessions that are started without limits of their own. */
  readonly limits?: Partial<Limits> | undefined;
}

/** With an approver, code decides about what the policy asks; without one, only people do. */
export function outlast(
  ports: Ports,
  driver: Driver,
  owner: Owner,
  { approver, limits = {} }: RuntimeOptions = {},
): Outlast {
  const heaps = new Heaps(ports);
  const workspaces = new Workspaces(ports);
  const wake: Wake = (session) => driver.wake(session);
  const following = followers();
  const context = {
    ...{ ports, heaps, workspaces, leftovers: new Leftovers(), states: states(), wake, following },
    attended: following.has,
  };
  const closing = new AbortController();
  const as = (of: Owner, by: string = of): Sessions =>
    sessions(of, { ...context, driver, limits, home: owner }, by);
  const driving: Drive = (session, signal) => drive(session, context, signal);
  const approvals =
    approver &&
    approving(approver, {
      ports,
      stateOf: (session) => latest(session, ports, context.states),
      decide: ({ session, owner: of, decision, digest }, answer) =>
        as(of, 'approver').decide(session, decision, answer, '', { digest }),
      signal: closing.signal,
    });
  driver.start(approvals ? approvals.beside(driving) : driving);
  const tidying = closeIdleHeaps(ports, heaps, driver, closing.signal);
  return {
    ...as(owner),
    as,
    async close() {
      closing.abort();
      await driver.stop();
      await tidying;
      await heaps.closeAll();
      await ports.processes?.close();
      await ports.sandbox.close();
      await ports.workspaces.close();
      await ports.store.close();
    },
  };
}

type Command = (s: State, now: number) => readonly EventBody[];

interface Context {
  readonly ports: Ports;
  readonly heaps: Heaps;
  readonly states: ReturnType<typeof states>;
  readonly workspaces: Workspaces;
  readonly following: Followers;
  readonly driver: Driver;
  readonly limits: Partial<Limits>;
  /** Whose server it is. */
  readonly home: Owner;
}

/** `by` is who acts: the owner, or what acts for them. */
function sessions(
  owner: Owner,
  { ports, states: known, workspaces, driver, limits, home, following }: Context,
  by: string,
): Sessions {
  /** The id of a session that this owner has; anything else is unknown. */
  async function own(id: string): Promise<SessionId> {
    const session = parseSessionId(id);
    const row = await ports.store.row(session);
    if (row?.owner !== owner) throw unknownSession();
    return session;
  }

  const stateOf = (session: SessionId): Promise<State> => latest(session, ports, known);

  async function input(id: string, command: Command, blobs: readonly Blob[] = []): Promise<Appended> {
    const session = await own(id);
    const appended = await appendInput(session, ports, known.get(session), command, blobs);
    known.set(session, appended.state);
    driver.wake(session);
    return appended;
  }

  const phaseAfter = async (id: string, command: Command): Promise<Phase> =>
    phase((await input(id, command)).state);

  /** The images of a message: references for its event, and the sealed blobs of the same commit. */
  function sealed(lineage: SessionId, images: readonly FileData[] = []) {
    checkImages(images);
    const files = images.map((image) => sealFile(lineage, image, ports.sealer));
    return { images: files.map(({ ref }) => ref), blobs: files.map(({ blob }) => blob) };
  }

  async function firstFiles(session: SessionId, from: string) {
    ofFiles.checkPlace();
    const { tree, blobs } = await workspaces.take({ session, lineage: session }, from);
    const events = [{ kind: 'workspace.set', why: 'imported', tree, from, by } as const];
    return { events, blobs };
  }

  async function* followOwn(
    id: string,
    options: { after?: number; signal?: AbortSignal; whispers?: boolean } = {},
  ): AsyncGenerator<Event | ForeignEvent | Whisper, void, void> {
    const session = await own(id);
    yield* following.following(session, follow(session, ports, { ...options, after: options.after ?? 0 }));
  }

  async function rest(id: string, { signal }: { signal?: AbortSignal } = {}): Promise<Phase> {
    const session = await own(id);
    const head = (await stateOf(session)).head;
    const resting = async (): Promise<Phase | null> => {
      const s = await stateOf(session);
      return rests(s) ? phase(s) : null;
    };
    const already = await resting();
    if (already) return already;
    for await (const _ of follow(session, ports, { after: head, ...(signal ? { signal } : {}) })) {
      const now = await resting();
      if (now) return now;
    }
    throw new OutlastError('server.closing', 'Waiting was given up.', { cause: signal?.reason });
  }

  /** How it stands once it rests, or when so much time is over. */
  async function restedFor(id: string, waitMs: number): Promise<State> {
    const over = new AbortController();
    const late = ports.clock.sleep(waitMs, over.signal).then(() => over.abort());
    await rest(id, { signal: over.signal }).catch((error: unknown) => {
      if (!over.signal.aborted) throw error;
    });
    over.abort();
    await late;
    return stateOf(await own(id));
  }

  /** Throws `session.deleted` where a tombstone is all that is left. */
  async function there(session: SessionId): Promise<State> {
    const s = await stateOf(session);
    if (s.retention.deleted !== null) throw goneError(s);
    return s;
  }

  const ofFiles = fileCalls({
    ...{ ports, workspaces, own, stateOf: there, by, mayNameFolders: owner === home },
    input: async (id, command, blobs) => phase((await input(id, command, blobs)).state),
  });

  const calls: Sessions = {
    ...ofFiles.calls,

    async start(request) {
      const key = request.key ?? null;
      const session = sessionId(ports.entropy.token(20));
      const { images, blobs } = sealed(session, request.images);
      const contract: decide.Contract = {
        owner,
        persist: request.persist ?? false,
        message: request.message,
        images,
        ...(request.title === undefined ? {} : { title: request.title }),
        model: ports.model.name,
        tools: ports.tools.names,
        limits: { ...DEFAULT_LIMITS, ...limits, ...request.limits },
        budget: { ...NO_BUDGETS, ...request.budget },
        seed: ports.entropy.seed(),
        ...given({ rates: await ratesOf(ports) }),
      };
      const now = ports.clock.now();
      const isNew = key === null || (await ports.store.findStart(owner, key)) === null;
      const placed = isNew && request.workspace ? await firstFiles(session, request.workspace) : null;
      const { state, events } = stamp(
        initialState,
        [...decide.start(contract), ...(placed?.events ?? [])],
        now,
      );
      const result = await ports.store.commit({
        session,
        head: 0,
        epoch: null,
        events: events.map(encode),
        blobs: [...blobs, ...(placed?.blobs ?? [])],
        summary: summarize(state, now),
        startKey: key,
      });
      const stands = result.status === 'exists' ? result.session : session;
      const [first] = result.status === 'exists' ? (await ports.store.read(stands, 1, 1)).map(decode) : [];
      // Found, and not started again.
      if (first?.kind === 'session.deleted') throw goneError(await stateOf(stands));
      const again = { text: request.message, images, when: 'next' } as const;
      if (first?.kind === 'message.accepted' && digestOf(first) !== digestOf(again)) {
        throw new OutlastError('key.conflict', 'The key was used before to start another session.', {
          next: 'use a new key for a new session',
        });
      }
      assert(result.status === 'committed' || result.status === 'exists', 'a new session meets nobody');
      if (result.status === 'committed') known.set(session, state);
      driver.wake(stands);
      return { session: stands, message: 'm1' as Started['message'], seq: 2, rule: 'starts turn 1' };
    },

    async send(id, message, options = {}) {
      const key = options.key ?? null;
      const when = options.when ?? 'next';
      let receipt: Receipt | null = null;
      const session = parseSessionId(id);
      const hasImages = (options.images?.length ?? 0) > 0;
      const lineage = hasImages ? lineageOf(await stateOf(await own(id)), session) : session;
      const { images, blobs } = sealed(lineage, options.images);
      const accept = (s: State): readonly EventBody[] => {
        const sent = decide.send(s, message, { key, when, images });
        if ('repeated' in sent) {
          receipt = sent.repeated;
          return [];
        }
        const { events, ...given } = sent;
        receipt = { ...given, seq: s.head + 1 };
        return events;
      };
      const { events } = await input(id, accept, blobs);
      assert(receipt !== null, `a message was accepted with ${events.length} events`);
      return receipt;
    },

    async converse(message, options = {}) {
      const { name, key = null } = options;
      const stands = await findConversation(owner, ports, name);
      const begun = stands === null ? await begin(owner, message, options, limits, ports) : null;
      if (begun !== null) {
        driver.wake(begun.session);
        return { session: begun.session, ...begun.receipt };
      }
      const session = stands ?? (await findConversation(owner, ports, name));
      assert(session !== null, 'what was begun by somebody else stands');
      return { session, ...(await calls.send(session, message, { key })) };
    },

    conversation: (name) => findConversation(owner, ports, name),

    async ask(id, question, { signal } = {}) {
      const session = await own(id);
      return ask(session, await there(session), question, ports, signal);
    },

    async inspect(id, { at } = {}) {
      const session = await own(id);
      const now = await there(session);
      if (at === undefined || at === now.head) {
        const waiting = now.lifetime.queued ? (await ports.store.queue(owner)).waiting.indexOf(session) : -1;
        return inspect(session, now, ...(waiting === -1 ? [] : [waiting + 1]));
      }
      if (!Number.isInteger(at) || at < 1 || at > now.head) throw noSuchEvent(at, now.head);
      return inspect(session, fold(await readEvents(ports.store, session, at)));
    },

    async fork(id, request = {}) {
      const session = await own(id);
      const state = await there(session);
      const anew = sessionId(ports.entropy.token(20));
      const made = await fork(anew, { session, state }, request, owner, ports);
      if (made.state) known.set(anew, made.state);
      driver.wake(made.forked.session);
      return made.forked;
    },

    async list({ phase: wanted, after, limit = 50 } = {}) {
      const rows = await ports.store.list({
        owner,
        limit: Math.min(Math.max(1, limit), 500),
        ...(wanted === undefined ? {} : { phase: wanted }),
        ...(after === undefined ? {} : { after: await own(after) }),
      });
      return placed(rows, ports);
    },

    async events(id, after, limit) {
      const session = await own(id);
      return (await ports.store.read(session, after, Math.min(Math.max(1, limit), 1_000))).map(decode);
    },

    follow: followOwn,
    pause: (id) => phaseAfter(id, (s) => decide.pause(s, by)),
    resume: (id) => phaseAfter(id, (s) => decide.resume(s, by)),
    interrupt: (id) => phaseAfter(id, (s) => decide.interrupt(s, by)),
    reopen: (id) => phaseAfter(id, (s) => decide.reopen(s, by)),
    decide: (id, decision, answer, text = '', { digest } = {}) =>
      phaseAfter(id, (s, now) => decide.answer(s, decision, { answer, text, by, digest }, now)),

    async stop(id, { waitMs = STOP_WAIT_MS } = {}) {
      await input(id, (s) => decide.stop(s, by));
      const s = await restedFor(id, waitMs);
      const unknown = s.effects.open.filter((effect) => effect.dispatch).map((effect) => effect.id);
      const children = s.family.children.map(({ id: child, title }) => ({ id: child, title }));
      return { status: s.lifetime.status === 'stopped' ? 'stopped' : 'stopping', unknown, children };
    },

    async delete(id, { waitMs = STOP_WAIT_MS } = {}) {
      await input(id, (s) => decide.remove(s, by));
      const { retention, at } = await restedFor(id, waitMs);
      const { deleted } = retention;
      return deleted === null
        ? { status: 'deleting', at: null, had: null }
        : { status: 'deleted', at, had: deleted.had };
    },

    async inbox({ after, limit = 50 } = {}) {
      const page = { limit: Math.min(Math.max(1, limit), 500) };
      return inbox(
        owner,
        { ...ports, stateOf },
        after === undefined ? page : { ...page, after: await own(after) },
      );
    },

    watchInbox: ({ signal } = {}) => watchInbox(owner, { ...ports, stateOf }, signal),
    setBudget: (id, changes) => phaseAfter(id, (s) => setBudget(s, changes, by)),
    stats: () => stats(owner, ports),
    slots: () => ownerSlots(owner, ports),
    setSlots: (slots) => setSlots(owner, slots, ports),
    ownerBudget: () => ports.store.budget(owner),
    setOwnerBudget: (change) =>
      setOwnerBudget(owner, change, ports.store, (id) =>
        input(id, (s) => (s.budget.exhausted?.scope === 'owner' ? setBudget(s, {}, by) : [])),
      ),

    async recall(id, request = {}) {
      const session = await own(id);
      const past = { session, state: await there(session), store: ports.store };
      return recall(past, request, request.id === undefined ? RECALLED : WHOLE);
    },

    async report(id) {
      return report(await there(await own(id)));
    },

    async verify(id) {
      return verify(await own(id), ports);
    },

    rest,
  };
  return calls;
}

async function latest(session: SessionId, ports: Ports, known: Context['states']): Promise<State> {
  const log = new Log(session, ports, known.get(session));
  await log.catchUp();
  known.set(session, log.state);
  return log.state;
}

async function closeIdleHeaps(
  ports: Ports,
  heaps: Heaps,
  driver: Driver,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await ports.clock.sleep(IDLE_MS / 10, signal);
    await heaps.closeIdle(IDLE_MS, (session) => driver.isDriving(session));
  }
}

function unknownSession(): OutlastError {
  return new OutlastError('session.unknown', 'There is no session with this id.', {
    next: 'list your sessions',
  });
}
