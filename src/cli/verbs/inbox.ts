/** `outlast inbox`: what awaits a person, over all sessions, and how to answer it. */

import { systemClock } from '../../lib/clock.ts';
import type { Json } from '../../lib/json.ts';
import { readable } from '../../lib/readable.ts';
import { oneLine } from '../../lib/text.ts';
import type { Inbox } from '../../protocol/schema.ts';
import { answersTo } from '../answers.ts';
import { EXIT } from '../exit.ts';
import { ago } from '../layout.ts';
import { COMMAND } from '../name.ts';
import { pages } from '../pages.ts';
import { reach } from '../reach.ts';
import { clean, type Paint } from '../terminal.ts';
import type { Verb } from '../verb.ts';

type Item = Inbox['items'][number];

export const run: Verb = async ({ options, terminal }) => {
  const outlast = reach(options);
  const items: Item[] = [];
  for await (const page of pages((query) => outlast.inbox(query))) items.push(...page.items);
  const now = systemClock.now();
  for (const line of items.flatMap((item) => [...shown(item, now, terminal.paint), ''])) terminal.say(line);
  if (items.length === 0) terminal.say(terminal.paint.dim('Nothing awaits you.'));
  terminal.result({ items });
  return items.length === 0 ? EXIT.ok : EXIT.decision;
};

function shown(item: Item, now: number, { bold, dim, yellow }: Paint): readonly string[] {
  const { session, title, parent, id, about, question, why, evidence, since, expiresAt } = item;
  const { answers, choices, action } = item;
  const until = expiresAt === null ? '' : `, until ${new Date(expiresAt).toISOString()}`;
  const known = evidence.map((one) => oneLine(clean(one), 200)).join('; ');
  const commands =
    id === 'resume'
      ? [`resume ${session}`]
      : answersTo({ options: answers.map(({ answer }) => answer), choices }).map(
          (answer) => `decide ${session} ${id} ${answer}`,
        );
  return [
    `${yellow(about)}  ${bold(clean(title))}  ${dim(`${session} ${id}, ${ago(now - since)}${until}`)}`,
    ...(parent === null ? [] : [dim(`  child of ${parent.id} "${oneLine(clean(parent.title), 80)}"`)]),
    ...(action === null ? [`  ${clean(question)}`] : exactly(item.effect, action)),
    ...(why === '' ? [] : [dim(`  why: ${clean(why)}`)]),
    ...(known === '' ? [] : [dim(`  known: ${known}`)]),
    ...answers.map(({ answer, brings }) => dim(`  ${answer}: ${brings}`)),
    ...commands.map((command) => `    ${COMMAND} ${command}`),
  ];
}

const ACTION_LINES = 40;

/** The exact action, as it would be read. */
function exactly(
  effect: string | null,
  { tool, target, args }: NonNullable<Item['action']>,
): readonly string[] {
  const lines = readable(args as Json);
  const more =
    lines.length > ACTION_LINES ? [`  … ${lines.length - ACTION_LINES} more lines: --json has them all`] : [];
  return [
    `  Send ${effect}? ${clean(tool)} to ${clean(target)}:`,
    ...lines.slice(0, ACTION_LINES).map((line) => `    ${clean(line)}`),
    ...more,
  ];
}
