/** What a judge says of a run: the words, and the counts, that all judges of real work share. */

export interface Verdict {
  readonly duplicates: readonly string[];
  readonly lost: readonly string[];
  readonly untrue: readonly string[];
  readonly stuck: readonly string[];
  /**
   * Broken invariants, an end that is not that of the clean run, a journal that does not lead to the heap that stands,
   * events that a follower missed or saw twice.
   */
  readonly broken: readonly string[];
  readonly questions: number;
  readonly questionsMinimum: number;
}

export type Counts = { -readonly [Kind in keyof Verdict]: number };

const KINDS = ['duplicates', 'lost', 'untrue', 'stuck', 'broken'] as const;

export const findingsOf = (verdict: Verdict): readonly string[] => [
  ...KINDS.flatMap((kind) => verdict[kind].map((finding) => `${kind}: ${finding}`)),
  ...(verdict.questions === verdict.questionsMinimum
    ? []
    : [`questions: ${verdict.questions}, the log allows ${verdict.questionsMinimum}`]),
];

export const countsOf = (verdict: Verdict): Counts => {
  const { questions, questionsMinimum } = verdict;
  const [duplicates, lost, untrue, stuck, broken] = KINDS.map((kind) => verdict[kind].length);
  return { duplicates, lost, untrue, stuck, broken, questions, questionsMinimum } as Counts;
};

/** Field by field, all that is a number. */
export function added<Fields extends object>(a: Fields, b: Fields): Fields {
  const more = b as Readonly<Record<string, unknown>>;
  const sums = Object.entries(a).map(([name, value]) => [
    name,
    typeof value === 'number' ? value + Number(more[name] ?? 0) : value,
  ]);
  return Object.fromEntries(sums) as Fields;
}
