/**
 * What must be true of a store that is opened on a disk after a power cut.
 *
 * J1  Every acknowledged commit is there, byte for byte: its events, blobs, start key and index row. Epochs do not go back.
 * J2  Nothing else is there. A commit that was asked for and not answered is there wholly or not at all.
 * J3  The store calls nothing damaged: a power cut is no damage.
 * J4  It goes on: each session takes a lease and a commit, a new session begins, and after a close all of it is there.
 * J5  The owner's books (accounts.ts) and the indexes of words (indexes.ts) are what they may be, and go on as well.
 */

import type { SessionId } from '../../core/ids.ts';
import { assert } from '../../lib/assert.ts';
import type { Commit, Store } from '../../store/port.ts';
import { local, sampleBlob, sampleCommit, sampleId, sampleSummary } from '../../store/sample.ts';
import { asEntries, type Books, judgeBooks, keepOn } from './accounts.ts';
import { type Content, type Disk, memoryDisk } from './disk.ts';
import { type AskedBatch, judgeIndex } from './indexes.ts';
import { type Bounds, boundsOf, type Ledger, sessionsOf } from './ledger.ts';
import { same } from './same.ts';
import { type Life, startLife } from './store.ts';

export interface Verdict {
  readonly findings: readonly string[];
  /** What recovery did to the disk, for a second cut in it. */
  readonly disk: Disk;
  /** Operations until the store was open. */
  readonly openAt: number;
  /** What was found: nothing more and nothing less may be there after a second cut. */
  readonly found: Ledger;
}

/** What stands beside the sessions. */
interface Beside {
  readonly books: Books | null;
  readonly batches: readonly AskedBatch[];
}

/** A session as it stands. */
interface Standing {
  readonly session: SessionId;
  readonly commits: readonly Commit[];
  readonly epoch: number;
}

export async function judge(content: Content, ledger: Ledger, at: number): Promise<Verdict> {
  const disk = memoryDisk(content);
  const findings: string[] = [];
  let openAt = 0;
  let standings: readonly Standing[] = [];
  let beside: Beside = { books: null, batches: [] };
  let life: Life | null = null;
  try {
    life = await startLife(disk);
    openAt = disk.ops.length;
    const all = sessionsOf(ledger);
    noDamage(life, findings);
    const found = await Promise.all(
      all.map((session) => standing(life as Life, session, boundsOf(ledger, session, at), findings)),
    );
    standings = found.filter((one) => one.commits.length > 0);
    await whole(life.store, ledger, standings, findings);
    beside = await besides(life.store, ledger, at, findings);
    if (findings.length === 0) await goesOn(life, disk, standings, beside, findings);
  } catch (error) {
    findings.push(life ? `it fails: ${wordsOf(error)}` : `it does not open: ${wordsOf(error)}`);
  } finally {
    life?.kill();
  }
  return { findings, disk, openAt, found: asLedger(standings, beside) };
}

/** J3. The opening has checked all pages of a file as small as these; `whole` reads every log past its checksums. */
function noDamage({ store }: Life, findings: string[]): void {
  const { structure, sessions } = store.findings();
  if (structure !== null) findings.push(`J3 the file is called damaged: ${structure}`);
  for (const { session, reason } of sessions) findings.push(`J3 ${session} is called damaged: ${reason}`);
}

/** J1 and J2 of the index row: after which commit the session stands. */
async function standing(
  { store }: Life,
  session: SessionId,
  { commits, acknowledged, epochAtLeast, epochAtMost }: Bounds,
  findings: string[],
): Promise<Standing> {
  const row = await store.row(session);
  const head = row?.head ?? 0;
  const count = head === 0 ? 0 : 1 + commits.findIndex((commit) => endOf(commit) === head);
  const present = commits.slice(0, count);
  const last = present.at(-1);
  if (head > 0 && !last) findings.push(`J2 ${session} ends at event ${head}, where no commit ends`);
  if (count < acknowledged) {
    findings.push(`J1 ${session} has ${count} commits, and ${acknowledged} were acknowledged`);
  }
  if (row && last) {
    const expected = { ...last.summary, id: session, head, epoch: row.epoch };
    if (!same(row, expected)) findings.push(`J1 the index row of ${session} is another`);
    if (row.epoch < epochAtLeast) findings.push(`J1 the epoch of ${session} went back to ${row.epoch}`);
    if (row.epoch > epochAtMost) findings.push(`J2 the epoch of ${session} is ${row.epoch}: nobody got it`);
  }
  return { session, commits: present, epoch: row?.epoch ?? 0 };
}

/** J1 and J2 of all that hangs on the index rows. */
async function whole(
  store: Store,
  ledger: Ledger,
  standings: readonly Standing[],
  findings: string[],
): Promise<void> {
  const listed = (await store.list({ limit: 1000 })).map(({ id }) => id).sort();
  if (!same(listed, standings.map(({ session }) => session).sort())) {
    findings.push(`J2 the list names ${listed.join(', ')}`);
  }
  const due = standings.filter(({ commits }) => commits.at(-1)?.summary.dueAt !== null);
  if (!same([...(await store.due(1e12, 1000))].sort(), due.map(({ session }) => session).sort())) {
    findings.push('J2 other sessions are due');
  }
  for (const session of sessionsOf(ledger)) {
    const present = standings.find((one) => one.session === session)?.commits ?? [];
    const events = await store.read(session, 0, 100_000);
    const expected = sinceErased(present).flatMap((commit) => commit.events);
    if (!same(events, expected)) findings.push(`J1 the events of ${session} are others`);
    for (const { commit } of ledger.commits) {
      if (commit.session === session) await checkCommit(store, commit, present, findings);
    }
  }
}

async function checkCommit(
  store: Store,
  commit: Commit,
  present: readonly Commit[],
  findings: string[],
): Promise<void> {
  const { session, startKey, blobs } = commit;
  const isPresent = present.includes(commit);
  if (startKey != null) {
    const found = await store.findStart(local, startKey);
    if (found !== (isPresent ? session : null)) findings.push(`J2 start key "${startKey}" names ${found}`);
  }
  for (const { ref, bytes } of blobs) {
    const isWanted = sinceErased(present).some((other) => other.blobs.some((blob) => blob.ref === ref));
    const found = await store.blob(session, ref).catch((error: { code?: unknown }) => error.code);
    if (isWanted && !(found instanceof Uint8Array && Buffer.compare(found, bytes) === 0)) {
      findings.push(`J1 blob ${ref.slice(0, 8)} of ${session} is ${String(found)}`);
    }
    if (!isWanted && found !== 'blob.missing') {
      findings.push(`J2 blob ${ref.slice(0, 8)} of ${session} is there, and its commit is not`);
    }
  }
}

/** J5. */
async function besides(store: Store, ledger: Ledger, at: number, findings: string[]): Promise<Beside> {
  const batches: AskedBatch[] = [];
  for (const session of sessionsOf(ledger)) {
    batches.push(...(await judgeIndex(store, session, ledger, at, findings)));
  }
  return { books: await judgeBooks(store, ledger.entries, at, findings), batches };
}

/** What stands of them: a tombstone, and what came after it. */
const sinceErased = (commits: readonly Commit[]): readonly Commit[] =>
  commits.slice(
    Math.max(
      0,
      commits.findLastIndex(({ erases }) => erases === true),
    ),
  );

/** J4. */
async function goesOn(
  life: Life,
  disk: Disk,
  standings: readonly Standing[],
  { books, batches }: Beside,
  findings: string[],
): Promise<void> {
  const fresh: Standing = { session: sampleId(99), commits: [], epoch: 0 };
  const after = await Promise.all([...standings, fresh].map((one) => oneMore(life.store, one, findings)));
  const kept = books && (await keepOn(life.store, books, findings));
  await life.store.close();
  const again = await startLife(disk);
  try {
    const ledger = asLedger(after, { books: kept, batches });
    noDamage(again, findings);
    for (const { session } of after) {
      await standing(again, session, boundsOf(ledger, session, 1), findings);
    }
    await whole(again.store, ledger, after, findings);
    await besides(again.store, ledger, 1, findings);
  } finally {
    again.kill();
  }
}

async function oneMore(store: Store, before: Standing, findings: string[]): Promise<Standing> {
  const { session, commits } = before;
  let { epoch } = before;
  if (commits.length > 0) {
    const lease = await store.acquire(session, 'next', 1000);
    assert(lease.status === 'acquired', 'nobody is left who could hold a lease');
    if (lease.epoch <= epoch) findings.push(`J4 ${session} gives epoch ${lease.epoch} again`);
    epoch = lease.epoch;
  }
  const head = commits.at(-1) ? endOf(commits.at(-1) as Commit) : 0;
  const commit = sampleCommit(session, head, {
    count: 2,
    epoch: head === 0 ? null : epoch,
    blobs: [sampleBlob(new Uint8Array(3000).fill(head))],
    summary: sampleSummary({ updatedAt: 5000 + head }),
  });
  const { status } = await store.commit(commit);
  if (status !== 'committed') findings.push(`J4 ${session} takes no further commit: ${status}`);
  return { session, commits: [...commits, commit], epoch };
}

/** Standings as a ledger in which all was acknowledged before anything was written, and nothing else asked for. */
function asLedger(standings: readonly Standing[], { books, batches }: Beside): Ledger {
  return {
    commits: standings.flatMap(({ commits }) =>
      commits.map((commit) => ({ commit, askedAt: -1, ackedAt: 0, isRefused: false })),
    ),
    epochs: standings.map(({ session, epoch }) => ({ session, epoch, askedAt: -1, ackedAt: 0 })),
    entries: books ? asEntries(books) : [],
    batches: [...batches],
  };
}

function endOf({ head, events }: Commit): number {
  return head + events.length;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
