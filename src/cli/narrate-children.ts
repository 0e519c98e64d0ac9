/** What happens between a session and its children, as lines for people. */

import type { EventOf } from '../core/event.ts';
import type { ChildNotice, ChildQuestion } from '../core/family/event.ts';
import { endInWords } from '../core/family/words.ts';
import { noticeKey } from '../core/residency/notice.ts';
import { clip, oneLine } from '../lib/text.ts';
import { answersTo } from './answers.ts';
import { COMMAND } from './name.ts';
import { clean, type Paint } from './terminal.ts';

export interface ChildNarrator {
  spawned(event: EventOf<'child.spawned'>): readonly string[];
  instructed(event: EventOf<'child.instructed'>): readonly string[];
  reported(event: EventOf<'child.reported'>): readonly string[];
}

const QUESTION_CHARS = 600;

export function childNarrator({ dim, bold, red, green, yellow }: Paint, width: number): ChildNarrator {
  const titles = new Map<string, string>();
  /** What is open of each child, and was told. */
  const open = new Map<string, ReadonlySet<string>>();
  const short = (text: string) => oneLine(clean(text), Math.max(40, width - 8));
  const of = (child: string) => {
    const title = titles.get(child);
    return title === undefined ? child : `${child} "${short(title)}"`;
  };

  const asked = (one: ChildQuestion): readonly string[] => [
    yellow(
      `? ${bold(one.decision)} of child ${of(one.session)}: ${clip(clean(one.question), QUESTION_CHARS)}`,
    ),
    ...answersTo(one).map((answer) => `    ${COMMAND} decide ${one.session} ${one.decision} ${answer}`),
  ];

  const noticed = (one: ChildNotice): readonly string[] => [
    yellow(`■ child ${of(one.session)} gives up at ${new Date(one.until).toISOString()}: ${short(one.what)}`),
    `    ${COMMAND} resume ${one.session}`,
  ];

  return {
    spawned({ child, title }) {
      titles.set(child, title);
      return [`→ child ${of(child)} ${dim(`(${COMMAND} attach ${child})`)}`];
    },
    instructed: ({ child }) => [`→ child ${of(child)} ${dim('goes on')}`],
    reported({ child, result, standing }) {
      const before = open.get(child);
      const questions = standing.questions.map((one) => ({ one, key: `${one.session} ${one.decision}` }));
      const unknown = standing.unknown.map((one) => ({ one, key: `${one.session} ${one.effect}` }));
      const notices = (standing.notices ?? []).map((one) => ({
        one,
        key: `${one.session} ${noticeKey(one)}`,
      }));
      const gone = (standing.gone ?? []).map((one) => ({
        one,
        key: `${one.session} gone ${noticeKey(one)}`,
      }));
      open.set(child, new Set([...questions, ...unknown, ...notices, ...gone].map(({ key }) => key)));
      return [
        ...(result === null ? [] : [toldOf(child, result)]),
        ...questions.flatMap(({ one, key }) => (before?.has(key) ? [] : asked(one))),
        ...notices.flatMap(({ one, key }) => (before?.has(key) ? [] : noticed(one))),
        ...gone.flatMap(({ one, key }) =>
          before?.has(key) ? [] : [yellow(`■ child ${of(one.session)} has lost ${short(one.what)}`)],
        ),
        ...unknown.flatMap(({ one, key }) =>
          before?.has(key)
            ? []
            : [yellow(`? ${one.effect} of child ${of(one.session)}: ${short(one.target)}: outcome unknown`)],
        ),
      ];
    },
  };

  function toldOf(child: string, result: NonNullable<EventOf<'child.reported'>['result']>): string {
    // Whoever ordered it need not be alarmed that it was done.
    if (result.ordered) return `■ child ${of(child)} ${endInWords(result)}, as ordered`;
    const isDone = result.end === 'surfaced';
    const line = `${isDone ? '✓' : '✗'} child ${of(child)} ${endInWords(result)}: ${short(result.text)}`;
    return isDone ? green(line) : red(line);
  }
}
