/**
 * The client of every verb but `serve`. The server is at `--url`, else OUTLAST_URL, else where the server of the data
 * folder noted that it is. Asked anew for each request, so that a server which came back elsewhere is found.
 */

import { type Client, client } from '../client/client.ts';
import { OutlastError } from '../core/error.ts';
import { given } from '../lib/given.ts';
import { dataDirOf, readServerNote } from './server-note.ts';
import type { Options } from './verb.ts';

export function reach(options: Options): Client {
  const url = () => urlOf(options);
  url(); // Without an address there is nothing to wait for: say so now.
  return client({ url, ...given({ token: tokenOf(options) }) });
}

function urlOf({ url, data }: Options): string {
  const named = url ?? (process.env.OUTLAST_URL || undefined);
  if (named !== undefined) return named;
  const dataDir = dataDirOf(data);
  const note = readServerNote(dataDir);
  if (note) return note.url;
  throw new OutlastError('server.unreachable', `No Outlast server runs on ${dataDir}.`, {
    next: 'start it: npm start (or name another: --url, OUTLAST_URL, --data)',
  });
}

/** The person who has the tokens of the server in the environment may use the first of them. */
function tokenOf({ token }: Options): string | undefined {
  const { OUTLAST_TOKEN, OUTLAST_TOKENS } = process.env;
  const first = OUTLAST_TOKENS?.split(',')[0]
    ?.trim()
    .replace(/^[^:]*:/, '');
  return token ?? (OUTLAST_TOKEN || first || undefined);
}
