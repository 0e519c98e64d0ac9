/**
 * Recall: what a session's own log says, by id, by words, by kind and time. For its model and for people alike.
 *
 * R1  It reads one log, that of the session it is given, and changes nothing but the index that is derived from it.
 * R2  The whole log is searched: what the index does not hold yet is read and added to what it has, for this search and,
 *     once there is enough of it, for the next.
 * R3  Texts come from the log. An index that is wrong can miss a passage; it cannot make one up.
 */

import { CITATION, choose, type Readable, UNITS } from '../../context/recall/choose.ts';
import type { Cited, Recalled } from '../../context/recall/render.ts';
import { type Candidate, candidates, isAmong, type Question, wordsFor } from '../../context/recall/score.ts';
import { RECALL } from '../../core/effect.ts';
import { OutlastError } from '../../core/error.ts';
import type { Event, ForeignEvent } from '../../core/event.ts';
import type { EffectId, SessionId } from '../../core/ids.ts';
import type { State } from '../../core/state.ts';
import { decode } from '../../core/upcast.ts';
import { assert } from '../../lib/assert.ts';
import { head } from '../../lib/text.ts';
import { type PassageKind, partsIn, passagesOf, textOf } from '../../projections/recall/passages.ts';
import { type Batch, type Entry, makeBatch, readBatch } from '../../projections/recall/word-index.ts';
import type { Store } from '../../store/port.ts';

/** The log of one session, up to where its state has read it. */
export interface Past {
  readonly session: SessionId;
  readonly state: Pick<State, 'head' | 'effects'>;
  readonly store: Pick<Store, 'read' | 'index' | 'search'>;
  /** Whoever waits gives up: what is indexed by then is kept, and the next search goes on there. */
  readonly signal?: AbortSignal;
}

export interface RecallRequest {
  /** `#41` or `#41.2`: the original, from `offset` on. */
  readonly id?: string | undefined;
  readonly words?: string | undefined;
  readonly kind?: PassageKind | undefined;
  /** Instants, both inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Of an original: characters from its beginning. Of a list: passages from its end. */
  readonly offset?: number | undefined;
  /** Of an original: characters. Of a list: passages. */
  readonly limit?: number | undefined;
}

/** Events that are read again in each search until they are worth a batch. */
const LOOSE = 32;
/** Events of a batch, at most. */
const BATCH = 4_096;
const PAGE = 500;
const CANDIDATES = 400;
/** Units of what stands around the passages, and of a line of a list, at most. */
const AROUND = 200;
const LINE = 220;
const LISTED = 20;
/** Words take a third more tokens than there are of them; and so many candidates are read as would fit thrice. */
const TOKENS_A_WORD = 1.4;
const ENOUGH = 3;

/** At most `chars` units of text. Throws `request.invalid` where there is no such event. */
export async function recall(past: Past, request: RecallRequest, chars: number): Promise<Recalled> {
  const { id, words, offset = 0, limit } = request;
  const room = Math.max(0, chars - AROUND);
  if (id !== undefined) return original(past, id, offset, Math.min(limit ?? room, room));
  if (words !== undefined) return byWords(past, { ...request, words }, Math.floor(room / UNITS));
  return list(past, request, offset, Math.min(limit ?? LISTED, Math.max(1, Math.floor(room / LINE))));
}

// ── by id ──────────────────────────────────────────────────────────────────────────────────────────────────

async function original(past: Past, id: string, offset: number, limit: number): Promise<Recalled> {
  const [, seq = '', part] = /^#?(\d{1,15})(?:\.(\d{1,9}))?$/.exec(id.trim()) ?? [];
  const row = seq === '' ? undefined : (await past.store.read(past.session, Number(seq) - 1, 1))[0];
  if (!row || row.seq !== Number(seq)) throw noSuch(id, past.state.head);
  const event = decode(row);
  const said = textOf(event);
  // What says nothing in words is data, and stands here as it stands in the log.
  const text = said === '' ? row.body : said;
  const parts = partsIn(event);
  const found = part === undefined ? undefined : parts[Number(part) - 1];
  if (part !== undefined && !found) throw noSuch(id, past.state.head);
  const from = (found?.from ?? 0) + offset;
  const most = found ? Math.max(0, Math.min(limit, found.text.length - offset)) : limit;
  const kind = found?.kind ?? parts[0]?.kind ?? row.kind;
  const cited = {
    id: part === undefined ? `#${row.seq}` : `#${row.seq}.${part}`,
    seq: row.seq,
    kind,
    at: row.at,
  };
  const page = {
    ...cited,
    standing: null,
    text: head(text.slice(from), most),
    offset: from,
    length: text.length,
  };
  return { by: 'id', passages: [page], older: 0, skipped: 0 };
}

const noSuch = (id: string, last: number): OutlastError =>
  new OutlastError('request.invalid', `There is no ${id.trim()} in this session: its log ends at #${last}.`, {
    next: 'name an id as results cite them, such as #41 or #41.2',
  });

// ── by words ───────────────────────────────────────────────────────────────────────────────────────────────

async function byWords(past: Past, question: Question, budget: number): Promise<Recalled> {
  const batches = await indexOf(past, wordsFor(question));
  const { best, standing } = candidates(batches, question, CANDIDATES);
  const events = await eventsOf(past, [...enough(best, budget), ...enough(standing, budget)]);
  const read = (found: readonly Candidate[]): readonly Readable[] =>
    found.flatMap(({ entry }) => {
      const passage = partsIn(events.get(entry.seq) ?? NONE)[entry.part - 1];
      return passage ? [{ ...passage, standing: entry.standing }] : [];
    });
  const readable = { best: read(best), standing: read(standing) };
  const chosen = choose(readable, budget);
  const cite = (standsOut: boolean) => (passage: Readable) =>
    cited(passage, events, standsOut ? passage.standing : null);
  const passages = [...chosen.standing.map(cite(true)), ...chosen.rest.map(cite(false))];
  // Where not even one has room: nothing would be taken for nothing found.
  const [first] = passages.length > 0 ? [] : readable.best.map(cite(false));
  const begun = first ? [{ ...first, text: head(first.text, Math.max(0, budget - CITATION) * UNITS) }] : [];
  return { by: 'words', passages: [...passages, ...begun], older: 0, skipped: 0 };
}

function enough(found: readonly Candidate[], budget: number): readonly Candidate[] {
  let tokens = 0;
  return found.filter(({ entry }) => {
    tokens += entry.length * TOKENS_A_WORD;
    return tokens - entry.length * TOKENS_A_WORD < ENOUGH * budget;
  });
}

// ── by kind and time ───────────────────────────────────────────────────────────────────────────────────────

async function list(past: Past, request: RecallRequest, skipped: number, limit: number): Promise<Recalled> {
  const all = (await indexOf(past, [])).flatMap((batch) => readBatch(batch) ?? []);
  const among = all.filter((entry) => isAmong(entry, request));
  const end = Math.max(0, among.length - skipped);
  const shown = among.slice(Math.max(0, end - limit), end);
  const events = await eventsOf(
    past,
    shown.map((entry) => ({ entry })),
  );
  const passages = shown.flatMap((entry) => {
    const passage = partsIn(events.get(entry.seq) ?? NONE)[entry.part - 1];
    return passage ? [cited({ ...passage, standing: entry.standing }, events, entry.standing)] : [];
  });
  return { by: 'time', passages, older: Math.max(0, end - limit), skipped };
}

// ── what they share ────────────────────────────────────────────────────────────────────────────────────────

type Events = ReadonlyMap<number, Event | ForeignEvent>;

const NONE: ForeignEvent = { kind: 'foreign', original: '', version: 0, seq: 0, at: 0 };

function cited(passage: Readable, events: Events, standing: Cited['standing']): Cited {
  const { seq, part, kind, at, text, from } = passage;
  const event = events.get(seq) ?? NONE;
  const id = partsIn(event).length === 1 ? `#${seq}` : `#${seq}.${part}`;
  return { id, seq, kind, at, standing, text, offset: from, length: textOf(event).length };
}

/** The events of these, read in as few pages as they lie together. */
async function eventsOf(past: Past, found: readonly { readonly entry: Entry }[]): Promise<Events> {
  const seqs = [...new Set(found.map(({ entry }) => entry.seq))].sort((a, b) => a - b);
  const events = new Map<number, Event | ForeignEvent>();
  for (let at = 0; at < seqs.length; ) {
    const first = seqs[at] as number;
    let last = first;
    while (at < seqs.length && (seqs[at] as number) <= last + NEAR && (seqs[at] as number) < first + PAGE)
      last = seqs[at++] as number;
    const rows = await past.store.read(past.session, first - 1, last - first + 1);
    for (const row of rows) events.set(row.seq, decode(row));
  }
  return events;
}

/** A gap that costs less to read over than another page. */
const NEAR = 4;

/** R2. The batches of the whole log, with what they have of these words. */
async function indexOf(past: Past, words: readonly string[]): Promise<readonly Batch[]> {
  const { session, store } = past;
  const known = await store.search(session, words);
  const broken = known.findIndex((batch) => readBatch(batch) === null);
  const batches = broken < 0 ? [...known] : known.slice(0, broken);
  const end = past.state.head;
  let after = batches.at(-1)?.upTo ?? 0;
  if (end - after >= LOOSE) {
    // A small batch joins those before it that are no larger, so that there are never many.
    for (let last = batches.at(-1); last && joins(last, end - after); last = batches.at(-1)) {
      after = last.after;
      batches.pop();
    }
  }
  const isRecall = recalls(past.state);
  while (after < end) {
    past.signal?.throwIfAborted();
    const batch = await batchOf(past, after, Math.min(end, after + BATCH), isRecall);
    // Not taken when somebody else has indexed meanwhile: this search goes on with its own, the next with theirs.
    if (batch.upTo - after >= LOOSE) await store.index(session, batch);
    batches.push(batch);
    after = batch.upTo;
  }
  return batches;
}

const joins = ({ after, upTo }: Batch, fresh: number): boolean =>
  upTo - after <= fresh && upTo - after + fresh <= BATCH;

/** Effects whose result only repeats the log. */
function recalls({ effects }: Past['state']): (effect: EffectId) => boolean {
  const ids = new Set(
    [...effects.closed, ...effects.open].filter(({ tool }) => tool === RECALL).map(({ id }) => id),
  );
  return (effect) => ids.has(effect);
}

async function batchOf(
  { session, store }: Past,
  after: number,
  upTo: number,
  isRecall: (effect: EffectId) => boolean,
): Promise<Batch> {
  const events: (Event | ForeignEvent)[] = [];
  while (after + events.length < upTo) {
    const rows = await store.read(
      session,
      after + events.length,
      Math.min(PAGE, upTo - after - events.length),
    );
    assert(rows.length > 0, 'the log reaches as far as its state');
    events.push(...rows.map(decode));
  }
  return makeBatch(
    after,
    after + events.length,
    events.flatMap((event) => passagesOf(event, isRecall)),
  );
}
