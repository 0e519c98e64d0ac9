/** Which session is meant: a whole id, the beginning of one, or `last` for the newest that is nobody's child. */

import type { Client } from '../client/client.ts';
import { OutlastError } from '../core/error.ts';
import { UsageError } from './exit.ts';
import { COMMAND } from './name.ts';
import { pages } from './pages.ts';

const WHOLE = /^ses_[0-9a-z]{20,32}$/;
const SHORTEST = 3;
const PAGE = 20;

export async function whichSession(outlast: Client, text: string): Promise<string> {
  if (WHOLE.test(text)) return text;
  if (text === 'last') return newest(outlast);
  const start = text.startsWith('ses_') ? text : `ses_${text}`;
  if (start.length < 'ses_'.length + SHORTEST) {
    throw new UsageError(
      `"${text}" is too short for the beginning of an id.`,
      `see the ids: ${COMMAND} list`,
    );
  }
  const found = await beginningWith(outlast, start);
  if (found.length > 1) {
    throw new UsageError(`"${text}" could be ${found.slice(0, 4).join(' or ')}.`, 'write more of the id');
  }
  const [only] = found;
  if (only === undefined) {
    throw new OutlastError('session.unknown', `You have no session "${text}".`, {
      next: `see them: ${COMMAND} list`,
    });
  }
  return only;
}

async function newest(outlast: Client): Promise<string> {
  for await (const { sessions } of pages((query) => outlast.list(query), PAGE)) {
    const row = sessions.find(({ parent, phase }) => parent === undefined && phase !== 'deleted');
    if (row) return row.id;
  }
  throw new OutlastError('session.unknown', 'You have no session yet.', {
    next: `start one: ${COMMAND} start "…"`,
  });
}

async function beginningWith(outlast: Client, start: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { sessions } of pages((query) => outlast.list(query))) {
    found.push(...sessions.map(({ id }) => id).filter((id) => id.startsWith(start)));
  }
  return found;
}
