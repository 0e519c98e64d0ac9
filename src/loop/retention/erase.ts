/**
 * The end of a session: what is looked at before its notice and after it, and the taking away of all that it has.
 *
 * X1  Whatever stands outside of its log goes before the tombstone: processes, kernel, folder, environment. Each of it can
 *     be taken away again, so a crash in between leaves a session that is still being deleted, never files without a word.
 * X2  Its children go first, each with a tombstone of its own: nobody is left without a parent.
 */

import * as decide from '../../core/decide.ts';
import type { Event, ForeignEvent } from '../../core/event.ts';
import type { SessionId } from '../../core/ids.ts';
import { phase } from '../../core/phase.ts';
import type { Estate } from '../../core/retention/event.ts';
import { graceMs, lookAgainMs, whyNotSettled } from '../../core/retention/next.ts';
import type { State } from '../../core/state.ts';
import type { Abort } from '../../lib/abort.ts';
import type { Heaps } from '../heap/heaps.ts';
import { appendInput } from '../input.ts';
import { Log } from '../log.ts';
import type { Ports } from '../ports.ts';
import { readEvents } from '../read.ts';

interface By {
  readonly session: SessionId;
  readonly ports: Ports;
  readonly heaps: Heaps;
  readonly epoch: number;
  readonly wake: (session: SessionId) => void;
}

/** What runs on although the log is at rest, and when it is worth another look; null when nothing does. */
export type Surveyed = { readonly why: string; readonly until: number } | null;

/** `until`: of the notice that is over; null before there is one. */
export async function survey(s: State, until: number | null, { session, ports }: By): Promise<Surveyed> {
  const { retentionMs } = s.contract.limits;
  const later = ports.clock.now() + lookAgainMs(retentionMs);
  const jobs = (await ports.processes?.running(session)) ?? [];
  const [job] = jobs;
  if (job) return { why: `${job.job} still runs: ${job.command.slice(0, 80)}`, until: later };
  const restsSince = until === null ? s.activeAt : (s.retention.notice?.at ?? s.activeAt);
  for await (const [id, c] of below(s, ports)) {
    if (!isAtRest(c)) return { why: `${id}, below it, is ${phase(c)}`, until: later };
    const due = c.activeAt + retentionMs - graceMs(retentionMs);
    if (c.activeAt > restsSince && due > ports.clock.now())
      return { why: `${id}, below it, was at work since`, until: due };
  }
  return null;
}

/** Takes everything away but the log; null when it is called off before. */
export async function erase(s: State, by: By, halt: Abort): Promise<Estate | null> {
  const { session, ports, epoch, heaps } = by;
  if (!(await childrenGone(s, by, halt))) return null;
  await ports.processes?.erase(session, epoch);
  await heaps.close(session);
  await ports.workspaces.erase(session, epoch);
  return estateOf(s, await readEvents(ports.store, session, s.head));
}

/** X2. */
async function childrenGone(s: State, by: By, halt: Abort): Promise<boolean> {
  const { ports, session, wake } = by;
  for (let left = s.family.children.map(({ id }) => id); ; ) {
    const rows = await Promise.all(left.map(async (id) => ports.store.row(id)));
    left = rows.flatMap((row) => (row === null || row.phase === 'deleted' ? [] : [row.id]));
    if (left.length === 0) return true;
    for (const id of left) {
      await appendInput(id, ports, undefined, (c) => decide.removeBelow(c, session));
      wake(id);
    }
    await ports.clock.sleep(POLL_MS, halt.signal);
    if (halt.aborted) return false;
  }
}

const POLL_MS = 1_000;

async function* below({ family }: State, ports: Ports): AsyncGenerator<readonly [SessionId, State]> {
  for (const { id } of family.children) {
    const log = new Log(id, ports);
    await log.catchUp();
    if (log.state.head === 0 || log.state.retention.deleted !== null) continue;
    yield [id, log.state];
    yield* below(log.state, ports);
  }
}

function isAtRest(c: State): boolean {
  const standing = phase(c);
  const rests = standing === 'stopped' || standing === 'completed' || standing === 'awaiting_input';
  return rests && whyNotSettled(c) === null;
}

// ── what there was ─────────────────────────────────────────────────────────────────────────────────────────

function estateOf(s: State, events: readonly (Event | ForeignEvent)[]): Estate {
  const images = new Map<string, number>();
  const attachments = new Map<string, number>();
  let snapshots = 0;
  let bytes = 0;
  for (const event of events) {
    bytes += JSON.stringify(event).length;
    switch (event.kind) {
      case 'cell.committed':
      case 'heap.based':
      case 'heap.restored':
        if (event.image) images.set(event.image.blob, event.image.bytes);
        break;
      case 'message.accepted':
        for (const { blob, bytes: size } of event.images) attachments.set(blob, size);
        break;
      case 'model.completed':
        for (const part of event.parts) if (part.type === 'file') attachments.set(part.blob, part.bytes);
        break;
      case 'workspace.committed':
        snapshots += 1;
        bytes += event.stored;
        break;
    }
  }
  const sizes = [...images.values(), ...attachments.values()];
  const effects: Record<string, number> = {};
  for (const { status } of s.effects.closed) effects[status] = (effects[status] ?? 0) + 1;
  return {
    ...{ events: s.head, turns: s.turns, images: images.size, attachments: attachments.size, snapshots },
    ...{ bytes: sizes.reduce((sum, size) => sum + size, bytes), effects, spent: s.budget.spent },
  };
}
