/**
 * The edge that every sample service shares: plan, hold, book, answer.
 *
 * Owns the order of these steps and the meaning of an Idempotency-Key. A route is pure: it looks at a call and
 * returns either a reply, or a deed, the fact to be booked with the reply that follows from its row.
 *
 * E1. A deed is booked exactly when its request passes; the reply is made from the row.
 * E2. A key that was answered before gets the first row's reply again; the repeat is booked and marked `repeated`.
 *     The same key with other facts is refused.
 * E3. Every refusal is booked as `refused`, so that the books show each call that was made.
 */
import { systemEntropy } from '../lib/entropy.ts';
import { type Books, type FactsOf, openBooks, type Row, type ServiceName } from './books.ts';
import { createHooks, hookKey } from './hooks.ts';
import { type Call, listen, ok, type Reply, refuse } from './http.ts';

export interface Deed<F extends { readonly kind: string }> {
  readonly fact: F;
  readonly key?: string | undefined;
  reply(row: Row<F>): Reply;
}

export type Route<F extends { readonly kind: string }> = (call: Call) => Deed<F> | Reply;

export interface ServiceOptions {
  readonly dataDir: string;
  readonly port?: number;
}

export interface Service {
  readonly name: ServiceName;
  readonly url: string;
  /** New at each start; `/healthz` answers it, so that a stranger on the same port is not mistaken for this one. */
  readonly instance: string;
  /** False when this service has been replaced or its data folder is gone: then it should end. */
  wanted(): boolean;
  stop(): Promise<void>;
}

export async function startService<S extends ServiceName>(
  name: S,
  { dataDir, port = 0 }: ServiceOptions,
  routes: (books: Books<FactsOf[S]>) => Route<FactsOf[S]>,
): Promise<Service> {
  const instance = systemEntropy.token(26);
  const hooks = createHooks(hookKey(dataDir));
  // Listening comes first: who fails to get the port must not have taken the books from who has it (B4).
  const server = await listen((call, closed) => serve(call, closed), port);
  const books = openBooks(dataDir, name);
  const route = routes(books);
  return { name, url: server.url, instance, wanted: books.held, stop };

  async function serve(call: Call, closed: AbortSignal): Promise<Reply | undefined> {
    if (call.path === '/healthz') return ok({ service: name, instance, pid: process.pid });
    return hooks.control(call, closed) ?? answer(call, closed);
  }

  async function answer(call: Call, closed: AbortSignal): Promise<Reply | undefined> {
    const planned = route(call);
    if (!('fact' in planned)) return booked(planned, call);
    if (!(await hooks.pass('before', planned.fact, closed))) return undefined;
    const reply = booked(perform(planned, books), call);
    await hooks.pass('after', planned.fact, closed);
    return reply;
  }

  /** E3. */
  function booked(reply: Reply, call: Call): Reply {
    if (reply.status < 400) return reply;
    const { code } = (reply.body as { error: { code: string } }).error;
    books.append({ kind: 'refused', method: call.method, path: call.path, code } as FactsOf[S]);
    return reply;
  }

  async function stop(): Promise<void> {
    hooks.release();
    await server.close();
    books.close();
  }
}

/** E1, E2. */
function perform<F extends { readonly kind: string }>({ fact, key, reply }: Deed<F>, books: Books<F>): Reply {
  if (key === undefined) return reply(books.append(fact));
  const first = books.rows.find((row) => row.kind === fact.kind && row.key === key && !row.repeated);
  if (first === undefined) return reply(books.append(fact, { key }));
  if (!holds(first, fact)) return refuse(409, 'key.conflict', 'This key was used for another request');
  books.append(fact, { key, repeated: true });
  return reply(first);
}

function holds<F extends object>(row: Row<F>, fact: F): boolean {
  const fields = row as Readonly<Record<string, unknown>>;
  return Object.entries(fact).every(([name, value]) => fields[name] === value);
}
