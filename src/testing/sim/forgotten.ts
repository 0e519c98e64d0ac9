/** What a compaction must not lose, against the fold before it. Shares nothing with the slice that does it. */

import type { EventOf } from '../../core/event.ts';
import type { State } from '../../core/state.ts';

export function forgotten(before: State, after: State, e: EventOf<'context.compacted'>): readonly string[] {
  const findings: string[] = [];
  const expect = (isTrue: boolean, what: string): void => {
    if (!isTrue) findings.push(`${e.seq}: ${what}`);
  };
  const rest = before.transcript.slice(e.items);
  const isRest =
    after.transcript.length === rest.length && rest.every((item, i) => after.transcript[i] === item);
  expect(isRest, 'what was to stay in the view is another one');
  const kept = (after.context.past?.sections ?? []).flatMap(({ lines }) => lines.map(({ text }) => text));
  expect(
    e.lines.every(({ text }) => kept.includes(text)),
    'a line that stands for what has left is not in the view',
  );
  expect(
    spoken(after) === spoken(before),
    `${spoken(before)} instructions were read, and ${spoken(after)} are known`,
  );
  const standing = after.context.past?.instructions ?? [];
  for (const item of before.transcript.slice(0, e.items)) {
    if (item.kind !== 'message' || item.message.from !== 'person') continue;
    const { id, text } = item.message;
    const isOpen = before.turn?.answers.includes(id) ?? false;
    const isRule = /^always /i.test(text);
    const stands = standing.some((one) => one.text === text && (!isOpen || one.status !== 'surfaced'));
    expect(!(isOpen || isRule) || stands, `"${text}" stands, and has left the view`);
  }
  return findings;
}

const spoken = ({ context, transcript }: State): number =>
  (context.past?.instructions.length ?? 0) +
  (context.past?.more ?? 0) +
  transcript.filter((item) => item.kind === 'message' && item.message.from === 'person').length;
