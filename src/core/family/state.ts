/**
 * A session among its parent and its children: the slice of the state, and what follows from it. Pure.
 *
 * The two ends of one edge stand in two logs. The child's says what is due to its parent, the parent's says what it has;
 * both are brought together by telling again until it is taken, and by taking each thing once.
 */

import { type Amounts, type Budget, NOTHING_SPENT, plus, type Spent, WHATS } from '../budget/budget.ts';
import { writes } from '../capability.ts';
import type { CallId, EffectId, MessageId, SessionId } from '../ids.ts';
import { announced, goneAfterNotice, noticeKey, standingNotices } from '../residency/notice.ts';
import { type Effect, openDecisions, type State, unknownEffects } from '../state.ts';
import type {
  ChildNotice,
  ChildQuestion,
  ChildResult,
  ChildUnknown,
  FamilyUse,
  Parent,
  Standing,
  Wanted,
} from './event.ts';

export interface Family {
  readonly parent: Parent | null;
  /** Results that the parent does not have yet, in order. */
  readonly due: readonly ChildResult[];
  /** What the parent has: the last result, and how this session stood. */
  readonly told: { readonly result: number; readonly standing: string };
  readonly children: readonly Child[];
  /** Effects whose child stands and is not in the list above yet. */
  readonly arriving: readonly EffectId[];
  /** Reports of children that are not in the list above yet. */
  readonly early: readonly Told[];
  /** Effects whose child will never act: stopped before anybody knew whether it stands. */
  readonly barred: readonly EffectId[];
  /** Sessions further down, of a session that is the root. */
  readonly descendants: readonly SessionId[];
}

export interface Told {
  readonly child: SessionId;
  readonly result: ChildResult | null;
  readonly standing: Standing;
}

export interface Child {
  readonly id: SessionId;
  /** The effect that spawned it. */
  readonly effect: EffectId;
  readonly title: string;
  readonly spawnedAt: number;
  /** From when on it is at work, or rests. */
  readonly since: number;
  /** Where it was taken in. */
  readonly spawnedSeq: number;
  /** What it may spend before it rests; what is not there is not limited. */
  readonly share: Budget;
  /** Instructions without a result, and the calls that wait for one. */
  readonly asked: readonly { readonly message: MessageId; readonly call: CallId | null }[];
  /** What it has answered and nobody here is known to have asked, newest last: its asking may yet be written down. */
  readonly unasked: readonly { readonly message: MessageId; readonly seq: number }[];
  /** The turn of the last instruction, and what had been spent then. */
  readonly turn: number;
  readonly spentBefore: Spent;
  readonly last: ChildResult | null;
  /** Where the last result was taken in. */
  readonly lastSeq: number;
  readonly standing: Standing | null;
  readonly relayed: Wanted;
}

export const NO_FAMILY: Family = {
  parent: null,
  due: [],
  told: { result: 0, standing: 'open' },
  children: [],
  arriving: [],
  early: [],
  barred: [],
  descendants: [],
};

// ── a child, towards its parent ────────────────────────────────────────────────────────────────────────────

/** How this session and all below it stand now. */
export function standing(s: State, session: SessionId): Standing {
  const below = s.family.children.flatMap(({ standing: of }) => (of === null ? [] : [of]));
  const questions = openDecisions(s).map(
    ({ id, about, question, options, choices, digest }): ChildQuestion => ({
      ...{ session, decision: id, about, question, options, choices },
      ...(digest === null ? {} : { digest }),
    }),
  );
  return {
    asOf: s.head,
    status: statusOf(s),
    questions: [...questions, ...below.flatMap((of) => of.questions)],
    unknown: [
      ...unknownWrites(s).map(({ id, tool, target, identity }): ChildUnknown => {
        return { session, effect: id, tool, target, identity };
      }),
      ...below.flatMap((of) => of.unknown),
    ],
    ...noticed(s, session, below),
    spent: spentInTree(s),
  };
}

/** What is to be given up, and what is gone, where anything is. */
function noticed(
  s: State,
  session: SessionId,
  below: readonly Standing[],
): Pick<Standing, 'notices' | 'gone'> {
  const own = standingNotices(s).map((one): ChildNotice => ({ session, ...announced(one) }));
  const past = goneAfterNotice(s).map((one): ChildNotice => ({ session, ...announced(one) }));
  const notices = [...own, ...below.flatMap((of) => of.notices ?? [])];
  const gone = [...past, ...below.flatMap((of) => of.gone ?? [])];
  return { ...(notices.length === 0 ? {} : { notices }), ...(gone.length === 0 ? {} : { gone }) };
}

/** What of it a parent is told anew when it changes: all but what changes with each step. */
export function standingKey(s: State): string {
  const own = [
    ...openDecisions(s).map(({ id }) => id),
    ...unknownWrites(s).map(({ id }) => id),
    ...standingNotices(s).map(noticeKey),
    ...goneAfterNotice(s).map((one) => `gone:${noticeKey(one)}`),
  ];
  const below = s.family.children.flatMap(({ standing: of, effect }) =>
    of === null ? [] : keysOf(of).map((key) => `${effect}/${key}`),
  );
  return [statusOf(s), ...own, ...below].join(' ');
}

const keysOf = ({ questions, unknown, notices = [], gone = [] }: Standing): readonly string[] => [
  ...questions.map(({ session, decision }) => `${session}/${decision}`),
  ...unknown.map(({ session, effect }) => `${session}/${effect}`),
  ...notices.map((one) => `${one.session}/${noticeKey(one)}`),
  ...gone.map((one) => `${one.session}/gone:${noticeKey(one)}`),
];

function statusOf({ lifetime }: State): Standing['status'] {
  const { status } = lifetime;
  if (status === 'stopped') return 'stopped';
  return (status === 'open' || status === 'queued') && lifetime.quarantine === null ? 'open' : 'paused';
}

const unknownWrites = (s: State): readonly Effect[] =>
  unknownEffects(s).filter(({ capability, family }) => writes(capability) && family === undefined);

export const spentInTree = (s: State): Spent =>
  s.family.children.reduce((sum, { standing: of }) => plus(sum, of?.spent ?? NOTHING_SPENT), s.budget.spent);

// ── a parent, towards its children ─────────────────────────────────────────────────────────────────────────

export const isAtWork = ({ asked }: Child): boolean => asked.length > 0;

/** The child that has an effect, or has one below it, of which nobody knows the outcome and that this one would repeat. */
export function childInTheWay({ family }: State, effect: Effect): Child | undefined {
  if (!writes(effect.capability)) return undefined;
  return family.children.find(({ standing: of }) => of?.unknown.some((one) => isLike(one, effect)));
}

type Deed = Pick<Effect, 'tool' | 'target' | 'identity'>;

/** The same tool on the same target, and not provably about another thing. */
export const isLike = (a: Deed, b: Deed): boolean =>
  a.tool === b.tool &&
  a.target === b.target &&
  (a.identity === b.identity || a.identity === null || b.identity === null);

/** Children whose last instruction, given in this turn, was cut off. */
export const cutOff = (s: State): readonly Child[] =>
  s.family.children.filter(
    ({ turn, last, asked }) =>
      turn === s.turn?.number && asked.length === 0 && last !== null && last.end !== 'surfaced',
  );

/** Sessions below this one, those included that are about to be. */
export const descendants = ({ family, effects }: State): number =>
  family.children.length +
  family.descendants.length +
  family.arriving.length +
  effects.open.filter((effect) => effect.family === 'spawns').length;

/** Why no further order goes to a child, new or known; null when one may. */
export function refusal(
  s: State,
  use: FamilyUse,
): { readonly code: string; readonly message: string } | null {
  if (use === 'stops' || use === 'decides') return null;
  const { childDepth, childrenTotal, childrenAtOnce } = s.contract.limits;
  const { children } = s.family;
  const ordered =
    s.effects.open.filter(({ family }) => family !== undefined).length + s.family.arriving.length;
  if (children.filter(isAtWork).length + ordered >= childrenAtOnce)
    return {
      code: 'children.busy',
      message: `${childrenAtOnce} children are at work, the most at the same time. Wait for one of them.`,
    };
  if (use === 'instructs') return null;
  if (depthOf(s) >= childDepth)
    return { code: 'children.depth', message: 'No children may come of this session. Do it yourself.' };
  // A session further down is counted, and may be refused, by its root.
  if (isTop(s) && descendants(s) >= childrenTotal)
    return {
      code: 'children.total',
      message: `All ${childrenTotal} sessions that may come of this one have been started. Do it yourself, or go on with one of them.`,
    };
  return null;
}

/** A session that is nobody's, and a task of a conversation: with it a tree begins, and it counts all below. */
export const isTop = (s: State): boolean => depthOf(s) === 0;

export const depthOf = ({ family }: State): number => family.parent?.depth ?? 0;

// ── budgets ────────────────────────────────────────────────────────────────────────────────────────────────

/** What children have spent, and may still spend while they are at work: it counts as spent by their parent. */
export function spentOnChildren(s: State): {
  readonly session: Spent;
  readonly turn: Spent;
  /** Of it, what they have spent. */
  readonly known: Spent;
} {
  let [session, turn, known] = [NOTHING_SPENT, NOTHING_SPENT, NOTHING_SPENT];
  for (const child of s.family.children) {
    const spent = child.standing?.spent ?? NOTHING_SPENT;
    // What a lost call has cost stands in the owner's ledger alone, within the share.
    const counted = isAtWork(child) || spent.lost > 0 ? atMost(spent, child.share) : spent;
    known = plus(known, spent);
    session = plus(session, counted);
    if (child.turn === s.turn?.number) turn = plus(turn, minus(counted, child.spentBefore));
  }
  return { session, turn, known };
}

/** Of what is left of the parent's own budgets: as much for each child that may be at work at once, and for itself. */
export function shareOf(s: State): Budget {
  const { limits, spent } = s.budget;
  const children = spentOnChildren(s);
  const places =
    Math.max(1, s.contract.limits.childrenAtOnce - s.family.children.filter(isAtWork).length) + 1;
  const left = (limit: number | undefined, used: number): number =>
    limit === undefined ? Number.POSITIVE_INFINITY : Math.max(0, limit - used);
  const shares = WHATS.flatMap((what) => {
    const most = Math.min(
      left(limits.session[what], spent[what] + children.session[what]),
      left(limits.turn[what], (s.turn?.spent[what] ?? 0) + children.turn[what]),
    );
    return Number.isFinite(most) ? [[what, Math.floor(most / places)] as const] : [];
  });
  return Object.fromEntries(shares);
}

/** What a child may have spent in the end: a share on top of what it has spent already. */
export const reaching = (spent: Spent = NOTHING_SPENT, share: Budget): Budget =>
  Object.fromEntries(
    WHATS.flatMap((what) => (share[what] === undefined ? [] : [[what, spent[what] + share[what]]])),
  );

const atMost = (spent: Spent, share: Budget): Spent => {
  const reserved = WHATS.map((what) => [what, Math.max(spent[what], share[what] ?? 0)] as const);
  return { ...spent, ...(Object.fromEntries(reserved) as unknown as Amounts) };
};

const minus = (a: Spent, b: Spent): Spent => {
  const left = Object.entries(a).map(([what, amount]) => [what, amount - b[what as keyof Spent]]);
  return Object.fromEntries(left) as unknown as Spent;
};
