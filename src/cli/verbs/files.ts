/** `outlast files`: the files of a session, what changed in them, and the way in and out. */

import type { Client } from '../../client/client.ts';
import { given } from '../../lib/given.ts';
import { EXIT, type ExitCode, UsageError } from '../exit.ts';
import { bytes, table } from '../layout.ts';
import { COMMAND } from '../name.ts';
import { placeOf } from '../place.ts';
import { reach } from '../reach.ts';
import { clean, type Terminal } from '../terminal.ts';
import { text, type Verb, whole } from '../verb.ts';
import { whichSession } from '../which.ts';

interface Asked {
  readonly outlast: Client;
  readonly session: string;
  readonly what: string | undefined;
  readonly at: number | undefined;
  readonly from: number | undefined;
  readonly terminal: Terminal;
}

export const run: Verb = async ({ args: [which = '', does = 'list', what], options, terminal }) => {
  const act = ACTS[does];
  if (!act) {
    const next = `${COMMAND} files SESSION [${Object.keys(ACTS).join('|')}]`;
    throw new UsageError(`There is no "${does}" of files.`, next);
  }
  const number = (name: string, value: string | undefined): number | undefined =>
    value === undefined ? undefined : whole(`--${name}`, value, 1, 'name an event by its number');
  const outlast = reach(options);
  const session = await whichSession(outlast, which);
  const at = number('at', text(options.at));
  const from = number('from', text(options.from));
  return act({ outlast, session, what, at, from, terminal });
};

const ACTS: Readonly<Record<string, (asked: Asked) => Promise<ExitCode>>> = {
  list,
  show,
  diff,
  import: take,
  export: give,
  restore,
};

async function list({ outlast, session, at, terminal }: Asked): Promise<ExitCode> {
  const { dim } = terminal.paint;
  let page = await outlast.files(session, given({ at }));
  const entries = [...page.entries];
  while (page.after !== null) {
    page = await outlast.files(session, { at: page.at, after: page.after });
    entries.push(...page.entries);
  }
  const rows = entries.map(({ path, kind, size, target, mode }) => [
    dim(mode === null ? 'link' : mode.toString(8)),
    dim(kind === 'file' ? bytes(size) : ''),
    clean(kind === 'folder' ? `${path}/` : kind === 'link' ? `${path} → ${target}` : path),
  ]);
  for (const line of table(rows)) terminal.say(line);
  terminal.say(dim(`${page.files} files, ${bytes(page.bytes)}, as of event ${page.at}`));
  const { workspace } = await outlast.inspect(session);
  if (workspace?.drift)
    terminal.say(terminal.paint.yellow(`changed by somebody else: ${clean(workspace.drift)}`));
  terminal.result({ ...page, entries, after: null });
  return EXIT.ok;
}

async function show({ outlast, session, what, at, terminal }: Asked): Promise<ExitCode> {
  const path = needed(what, 'show PATH');
  const parts: Uint8Array[] = [];
  let from: number | null = 0;
  let digest = '';
  while (from !== null) {
    const piece: Awaited<ReturnType<Client['file']>> = await outlast.file(session, path, {
      from,
      ...given({ at }),
    });
    parts.push(Buffer.from(piece.data, 'base64'));
    digest = piece.digest;
    from = piece.next;
  }
  const content = Buffer.concat(parts);
  if (content.includes(0))
    terminal.say(terminal.paint.dim(`${clean(path)}: ${content.length} bytes that are no text`));
  else terminal.say(clean(content.toString('utf8').replace(/\n$/, '')));
  terminal.result({ session, path, digest, size: content.length, data: content.toString('base64') });
  return EXIT.ok;
}

async function diff({ outlast, session, what, at, from, terminal }: Asked): Promise<ExitCode> {
  const found = await outlast.diffFiles(session, given({ from, to: at, path: what }));
  const { green, red, dim } = terminal.paint;
  for (const line of found.shown.join('\n').split('\n')) {
    const paint = line.startsWith('+') ? green : line.startsWith('-') ? red : (same: string) => same;
    terminal.say(paint(clean(line)));
  }
  if (found.shown.length === 0) terminal.say(dim('Nothing has changed.'));
  if (found.left > 0) terminal.say(dim(`${found.left} more paths differ; name one`));
  terminal.result(found);
  return EXIT.ok;
}

async function take({ outlast, session, what, terminal }: Asked): Promise<ExitCode> {
  const from = placeOf(needed(what, 'import FOLDER-or-GIT-URL'));
  const placed = await outlast.importFiles(session, from);
  terminal.say(`${placed.files} files, ${bytes(placed.bytes)}, come on top of what is there.`);
  for (const { path, why } of placed.left)
    terminal.say(terminal.paint.yellow(`left out: ${clean(path)}: ${why}`));
  terminal.result(placed);
  return EXIT.ok;
}

async function give({ outlast, session, what, at, terminal }: Asked): Promise<ExitCode> {
  const to = placeOf(needed(what, 'export FOLDER-or-GIT-URL'));
  const exported = await outlast.exportFiles(session, to, given({ at }));
  terminal.say(`${exported.files} files are at ${clean(exported.at)}.`);
  for (const { path, why } of exported.lost)
    terminal.say(terminal.paint.red(`lost: ${clean(path)}: ${clean(why)}`));
  terminal.result(exported);
  return exported.lost.length === 0 ? EXIT.ok : EXIT.failed;
}

async function restore({ outlast, session, at, terminal }: Asked): Promise<ExitCode> {
  if (at === undefined)
    throw new UsageError('restore takes --at EVENT.', `${COMMAND} files SESSION restore --at EVENT`);
  const placed = await outlast.restoreFiles(session, at);
  terminal.say(
    `${placed.files} files come back as they stood at event ${at}; what is there is kept as a commit.`,
  );
  terminal.result(placed);
  return EXIT.ok;
}

function needed(what: string | undefined, form: string): string {
  if (what !== undefined) return what;
  throw new UsageError('Something is missing.', `${COMMAND} files SESSION ${form}`);
}
