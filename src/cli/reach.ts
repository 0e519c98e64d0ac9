/**
 * Where the server is, for every verb but `serve`: `--url`, else OUTLAST_URL, else what the server of this folder
 * noted about itself. Asked anew for each request, so that a server which came back elsewhere is found.
 */

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Client, client } from '../client/client.ts';
import { OutlastError } from '../core/error.ts';
import { isRecord } from '../lib/json.ts';

export interface Where {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly data?: string | undefined;
}

export function reach(where: Where): Client {
  const url = () => urlOf(where);
  url(); // Without an address there is nothing to wait for: say so now.
  const token = tokenOf(where);
  return client({ url, ...(token === undefined ? {} : { token }) });
}

export function dataDirOf({ data }: Pick<Where, 'data'>): string {
  return resolve(data ?? (process.env.OUTLAST_DATA || '.outlast'));
}

export interface ServerNote {
  readonly url: string;
  readonly pid: number;
  readonly startedAt: string;
}

export const serverFile = (dataDir: string): string => join(dataDir, 'server.json');

/** What the server of a data folder noted about itself; null when none did. */
export function readServerNote(dataDir: string): ServerNote | null {
  try {
    const note: unknown = JSON.parse(readFileSync(serverFile(dataDir), 'utf8'));
    return isRecord(note) && typeof note.url === 'string' ? (note as unknown as ServerNote) : null;
  } catch {
    return null;
  }
}

function urlOf(where: Where): string {
  const given = where.url ?? (process.env.OUTLAST_URL || undefined);
  if (given !== undefined) return given;
  const dataDir = dataDirOf(where);
  const note = readServerNote(dataDir);
  if (note) return note.url;
  throw new OutlastError('server.unreachable', `No Outlast server runs on ${dataDir}.`, {
    next: 'start it: npm start (or name another: --url, OUTLAST_URL, --data)',
  });
}

/** The person who has the tokens of the server in the environment may use the first of them. */
function tokenOf(where: Where): string | undefined {
  const { OUTLAST_TOKEN, OUTLAST_TOKENS } = process.env;
  const first = OUTLAST_TOKENS?.split(',')[0]
    ?.trim()
    .replace(/^[^:]*:/, '');
  return where.token ?? (OUTLAST_TOKEN || first || undefined);
}
