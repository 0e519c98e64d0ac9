/**
 * What an answer claims, held against the log: by what was settled there, and by nothing that the answer itself says. It
 * reads a model's words as well as the planner's, so it looks for what every report of this kind has to name.
 */

import type { Event, ForeignEvent } from '../../core/event.ts';
import { textOf } from '../../projections/recall/passages.ts';

type Log = readonly (Event | ForeignEvent)[];

interface Done {
  readonly seq: number;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly digest: string;
  readonly result: string;
}

/** Effects that came to their end, with what they were. */
function doneIn(log: Log): readonly Done[] {
  const intended = new Map<string, Omit<Done, 'seq' | 'result'>>();
  return log.flatMap((event): readonly Done[] => {
    if (event.kind === 'effect.intended') {
      const { tool, args, digest } = event;
      intended.set(event.effect, { tool, args: args as Done['args'], digest });
    }
    const outcome =
      event.kind === 'effect.settled'
        ? event.outcome
        : event.kind === 'effect.reconciled'
          ? event.finding
          : null;
    const effect = 'effect' in event && event.effect ? intended.get(event.effect as string) : undefined;
    if (!effect || outcome?.status !== 'done') return [];
    return [{ ...effect, seq: event.seq, result: JSON.stringify(outcome.result) }];
  });
}

const CHANGES = new Set(['edit_file', 'write_file']);

/** Changes of files that were done more than once. */
export function duplicates(log: Log): number {
  const changes = doneIn(log).filter(({ tool }) => CHANGES.has(tool));
  return changes.length - new Set(changes.map(({ digest }) => digest)).size;
}

/** By whatever tool: what a call has left behind in the files is committed with it. */
export const changedIn = (log: Log): ReadonlySet<string> =>
  new Set(
    log.flatMap((event) =>
      event.kind === 'workspace.committed' && event.why === 'call'
        ? event.changed.paths.map(({ path }) => path)
        : [],
    ),
  );

const CHANGED = /\b(?:chang|correct|replac|repair|edited|fix(?:e[sd])?\b|add(?:s|ed)?\b)/i;
const NEGATED = /\b(?:no|not|never|nothing|without)\b/i;

/** The claims of an answer that the log before it does not show, or the files (`differing` from those given) do not. */
export function untrueClaims(
  answer: string,
  seq: number,
  whole: Log,
  differing: ReadonlySet<string>,
): readonly string[] {
  const log = whole.filter((event) => event.seq < seq);
  const done = doneIn(log);
  const changes = done.filter(({ tool }) => CHANGES.has(tool));
  const changed = changedIn(log);
  const untrue: string[] = [];
  const claim = (what: string, holds: boolean): void => {
    if (!holds) untrue.push(what);
  };
  for (const line of answer.split('\n')) {
    for (const [, cited] of line.matchAll(/#(\d+)\b/g)) {
      const event = log.find((one) => one.seq === Number(cited));
      claim(`#${cited} is an event that says something`, event !== undefined && textOf(event) !== '');
    }
    const paths = [...new Set(line.match(/\b(?:src|bin|test)\/[\w./-]+\.js\b/g))];
    if (CHANGED.test(line) && !NEGATED.test(line))
      for (const path of paths) claim(`${path} was changed`, changed.has(path) && differing.has(path));
    const [, from, to] = /[Cc]hanged `(.+?)` to `(.+?)`/.exec(line) ?? [];
    if (from !== undefined && to !== undefined)
      claim(
        `${paths.join(', ')}: ${from} became ${to}`,
        changes.some(
          ({ args }) =>
            paths.includes(String(args.path)) &&
            String(args.old_string).includes(from) &&
            String(args.new_string).includes(to),
        ),
      );
  }
  // Whoever tells what was changed tells all of it: every file since the answer before.
  const before = log.findLast(({ kind }) => kind === 'response.surfaced')?.seq ?? 0;
  for (const path of changedIn(log.filter((event) => event.seq > before)))
    if (differing.has(path) && /changed `/i.test(answer))
      claim(`the change of ${path} is told`, answer.includes(path));
  if (/\btests? (?:now )?pass\b/i.test(answer)) {
    const run = done.findLast(({ tool, result }) => tool === 'shell' && /# fail \d+/.test(result));
    const lastChange = changes.at(-1)?.seq ?? 0;
    claim('the tests passed after the last change', run !== undefined && run.seq > lastChange);
    claim('the last test run had no failure', /# fail 0\\n/.test(run?.result ?? ''));
    const [, count] = /\ball (\d+)\b/i.exec(answer) ?? [];
    if (count !== undefined)
      claim(`${count} tests passed`, run?.result.includes(`# pass ${count}\\n`) === true);
  }
  return untrue;
}

/** Whether something said before was looked up, and found, between these two events. */
export function isRecalled(what: string, after: number, log: Log): boolean {
  return doneIn(log).some(
    ({ tool, seq, result }) => tool === 'recall' && seq > after && result.includes(what),
  );
}
