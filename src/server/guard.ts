/**
 * What a browser on this machine must not be made to do. A page of a stranger can send requests to a loopback port,
 * and a name of a stranger can point to it.
 *
 * G1  Without tokens, a request must be addressed to this machine by a loopback name, and must not come from a page
 *     of another origin.
 * G2  A POST is JSON by its content type: what a form, or a script without permission, can send is refused.
 * G3  A request that a task sends is refused, whatever was granted to it and whatever it carries: who is steered does not
 *     steer, least of all decide about itself. The runtime marks each of its requests, and no task can take that off.
 * With tokens neither host nor origin matter: no browser adds a bearer token by itself.
 */

import { HttpRefusal } from '../protocol/error.ts';

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host.includes(':') && !host.startsWith('[') ? `[${host}]` : host.toLowerCase());
}

/** G1. */
export function guardOrigin(request: Request): void {
  const host = request.headers.get('host') ?? new URL(request.url).host;
  if (!isLoopback(host.replace(/:\d+$/, ''))) {
    throw new HttpRefusal(
      403,
      'owner.unauthorized',
      'This server has no tokens and so answers only to loopback names.',
      'ask for http://127.0.0.1 or localhost, or set OUTLAST_TOKENS',
    );
  }
  const origin = request.headers.get('origin');
  if (origin !== null && !isOf(origin, host)) {
    throw new HttpRefusal(
      403,
      'owner.unauthorized',
      'A page of another origin may not use this server.',
      'use the page of this server, or set OUTLAST_TOKENS and send a token',
    );
  }
}

/** What `tools/fetch` puts on every request, and no caller of it can leave out. */
const MARK = 'x-outlast-epoch';

/** G3. */
export function guardTasks(request: Request): void {
  if (!request.headers.has(MARK)) return;
  throw new HttpRefusal(
    403,
    'owner.unauthorized',
    'This request comes from a task. Tasks do not use the API of Outlast.',
    'let the person do it, and grant no Outlast server to tasks',
  );
}

/** G2. */
export function guardContentType(request: Request): void {
  const type = request.headers.get('content-type') ?? '';
  if (/^application\/json\s*(;|$)/i.test(type)) return;
  throw new HttpRefusal(
    415,
    'request.invalid',
    'A POST carries JSON and says so.',
    'add the header "Content-Type: application/json"; the body may be {}',
  );
}

function isOf(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}
