/** The judge at the end of a run: the books, the ledger, the money, and the end of the clean run. */

import { isConversation } from '../../core/conversation/state.ts';
import { phase } from '../../core/phase.ts';
import type { State } from '../../core/state.ts';
import { digestOfTree, EMPTY_TREE, entryAt, type Tree } from '../../core/workspace/tree.ts';
import { sha256 } from '../../lib/digest.ts';
import type { OwnerBudget } from '../../store/port.ts';
import { ONE_CALL } from './reply.ts';
import type { Scenario } from './scenario.ts';
import type { Verdict } from './verdict.ts';
import type { World } from './world.ts';

/**
 * The ledger at rest against the books: what it calls done stands there, what it calls failed does not, and nothing
 * stands there that it has never heard of.
 */
export function judgeLedger({ effects, retention }: State, world: World): readonly string[] {
  if (retention.deleted !== null) {
    // Its totals are all that is left of it.
    const { done = 0 } = retention.deleted.had.effects;
    const stand = world.books.length;
    return done >= stand ? [] : [`the tombstone counts ${done} effects as done, the books have ${stand}`];
  }
  const known = new Set([...effects.closed, ...effects.open].map(({ id }) => id as string));
  const strangers = world.books
    .filter(({ reference }) => !known.has(reference.split('.')[1]?.split('~')[0] ?? ''))
    .map(
      ({ service, reference }) => `the books of ${service} have ${reference}, the ledger does not know it`,
    );
  const untrue = effects.closed.flatMap(({ id, tool, capability, status, files, family }) => {
    // What was done to files and to children stands in no book: those themselves are looked at.
    if (capability.kind === 'read' || status === 'withdrawn' || files || family) return [];
    const stands = world.books.some(
      ({ service, reference }) => service === tool && reference.endsWith(`.${id}`),
    );
    return stands === (status === 'done')
      ? []
      : [`at rest the ledger says ${id} ${status}, the books ${stands ? 'have' : 'lack'} it`];
  });
  return [...untrue, ...strangers];
}

/** What a provider charged against what the ledger counts, and against the limits in force. */
export function judgeMoney({ charged }: World, { budget }: State, ledger: OwnerBudget): readonly string[] {
  const { microUsd: session = Number.POSITIVE_INFINITY } = budget.limits.session;
  const { microUsd: owner = Number.POSITIVE_INFINITY } = ledger.limits;
  const counted = ledger.spent.microUsd + ledger.held.microUsd;
  const isMetered = session < Number.POSITIVE_INFINITY || owner < Number.POSITIVE_INFINITY;
  const most = Math.min(session, owner) + ONE_CALL;
  return [
    ...(isMetered && charged > counted
      ? [`the provider charged ${charged}, the ledger counts ${counted}`]
      : []),
    ...(charged > most ? [`the provider charged ${charged}, which is more than ${most}`] : []),
  ];
}

export function judgeBooks(wanted: Scenario['wanted'], world: World): Pick<Verdict, 'duplicates' | 'lost'> {
  const counts = new Map<string, number>();
  for (const { service, what } of world.books) {
    const name = `${service}: ${what}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const names = new Set([...counts.keys(), ...Object.keys(wanted)]);
  const duplicates: string[] = [];
  const lost: string[] = [];
  for (const name of names) {
    const found = counts.get(name) ?? 0;
    const aim = wanted[name] ?? 0;
    const finding = `${name} stands ${found} times, wanted ${aim}`;
    if (found > aim) duplicates.push(finding);
    if (found < aim) lost.push(finding);
  }
  return { duplicates, lost };
}

/** What must be equal to the clean run whatever crashed. Ids, times, attempts, epochs and questions may differ. */
export function essence(s: State): unknown {
  // Children work side by side, and which is done first is not the same in each run.
  const heard = said(s)
    .filter((text) => OF_CHILD.test(text))
    .map(unnamed)
    .sort();
  // What comes of tasks, and of children that nobody waits for, is read as it comes: in one turn or in several.
  const isAsItComes = isConversation(s) || heard.length > 0;
  return {
    deleted: s.retention.deleted?.cause.by ?? null,
    status: s.lifetime.status,
    turns: isAsItComes ? null : s.turns,
    relayed: Object.keys(s.conversation.relayed).length,
    last: !isConversation(s) &&
      s.lastTurn && {
        number: isAsItComes ? null : s.lastTurn.number,
        end: s.lastTurn.end,
        text: s.lastTurn.text,
      },
    unread: s.inbox.unread.length,
    read: said(s).filter((text) => !OF_CHILD.test(text)),
    heard,
    // Ids of children follow from those of effects, and which call is planned first is not the same in each run.
    effects: s.effects.closed.map((e) => `${e.tool} ${unnamed(e.target)} ${e.status}`).sort(),
    open: s.effects.open.length,
    timers: s.timers.length,
    live: s.heap.live.map(({ name, type, size }) => `${name}: ${type} ${size}`),
    generation: s.heap.generation,
    files: s.workspace.tree?.digest ?? null,
  };
}

const OF_CHILD = /^(?:Child|Task) ses_/;
const unnamed = (text: string): string => text.replace(/ses_\w+/, 'a child');

/** The beginning of what was read, wherever it stands by now: when it leaves the view is not the same in each run. */
export const said = ({ context, transcript }: State): readonly string[] =>
  [
    ...(context.past?.instructions ?? []).map(({ text }) => text),
    ...transcript.flatMap((item) => (item.kind === 'message' ? [item.message.text] : [])),
  ].map((text) => text.slice(0, 60));

/** The folder at rest against the log, and against what must stand there. */
export function judgeFiles(
  { files }: Scenario,
  { workspace, retention }: State,
  stands: Tree,
): { readonly untrue: readonly string[]; readonly lost: readonly string[] } {
  // Of a session that never had a file nobody looks at the folder.
  const isUnused = workspace.tree === null && workspace.parked;
  const isAs = isUnused || digestOfTree(stands) === (workspace.tree?.digest ?? digestOfTree(EMPTY_TREE));
  const wanted = Object.entries(files ?? {}).flatMap(([path, said]) => {
    const [mode = '', ...words] = said.split(' ');
    const entry = entryAt(stands, path);
    const isIt =
      entry?.kind === 'file' && entry.mode.toString(8) === mode && entry.digest === sha256(words.join(' '));
    return isIt ? [] : [`the file ${path} is not "${said}"`];
  });
  if (retention.deleted !== null && stands.length > 0)
    return { untrue: ['files of a session that was deleted are still there'], lost: wanted };
  return { untrue: isAs ? [] : ['at rest the folder is not what the log says'], lost: wanted };
}

/** Whether the last response says what it is to say. */
export function untrueEnd({ says }: Scenario, { lastTurn }: State): readonly string[] {
  if (says === undefined || lastTurn?.text.includes(says)) return [];
  return [`the last response should say "${says}", it says: ${lastTurn?.end} ${lastTurn?.text}`];
}

/** What code still waits for although it is over: a promise that no answer will ever settle. */
export const waitsInVain = ({ heap, effects, decisions }: State): readonly string[] =>
  heap.pending.flatMap((call) => {
    if (call.answer) return [];
    const isOver =
      (call.on === 'effect' && !effects.open.some(({ id }) => id === call.effect)) ||
      (call.on === 'decision' && decisions.some(({ id, made }) => id === call.decision && made !== null));
    return isOver ? [`call ${call.guestCall} of ${call.cell} is answered, and waits for ever`] : [];
  });

/** Where a session that came to no rest stands. */
export const described = (s: State): string =>
  `${phase(s)}, head ${s.head}, step ${JSON.stringify(s.turn?.step ?? null).slice(0, 300)}`;
