/**
 * The outside of the contract: services with books that only the judge reads, and hooks that stop a request at a place.
 *
 * W1  What stands in the books has happened, and what does not has not. No runtime sees them.
 * W2  A hook is used up by the first request that meets it. `hold` keeps the request there until it is let go: who waits
 *     for it may be killed or frozen meanwhile.
 */

import type { Answer, Outside, Reply, Service, Told } from './port.ts';
import { follow } from './script.ts';

export interface Entry {
  readonly service: Service;
  readonly key: string;
  readonly what: string;
}

type Hook =
  /** Stops before it is applied; one that is never let go has never arrived. */
  | 'hold-before'
  /** Is applied and not answered until it is let go. */
  | 'hold-after'
  /** Is applied, and its answer is lost: the connection breaks. */
  | 'lose-answer'
  /** Is refused in so many words, and not applied. */
  | 'refuse';

export class World implements Outside {
  readonly books: Entry[];
  /** Everything that the model was told, in the order in which it was asked. */
  readonly told: (readonly Told[])[] = [];
  private readonly hooks = new Map<string, Hook>();
  private readonly reached = new Map<string, Meeting>();

  constructor(books: readonly Entry[] = []) {
    this.books = [...books];
  }

  /** `what` of a request, or `name.n` for the model after n moves of the instruction `name`. */
  hook(what: string, hook: Hook): void {
    this.hooks.set(what, hook);
  }

  /** Resolves once a request stands at its hook. */
  async at(what: string): Promise<void> {
    await this.meeting(what).met;
  }

  letGo(what: string): void {
    this.meeting(what).go();
  }

  times(what: string): number {
    return this.books.filter((entry) => entry.what === what).length;
  }

  /** Another outside in which the same has happened. */
  clone(): World {
    return new World(this.books);
  }

  async think(conversation: readonly Told[]): Promise<Reply> {
    this.told.push(conversation);
    const { name, at, reply } = follow(conversation);
    if (this.take(`${name}.${at}`)) await this.stop(`${name}.${at}`);
    return reply;
  }

  async call(service: Service, what: string, key: string): Promise<Answer> {
    const hook = this.take(what);
    if (hook === 'hold-before') await this.stop(what);
    if (hook === 'refuse') return { status: 'refused', reason: `${what} is not possible` };
    const isKnown = service === 'keyed' && this.books.some((e) => e.service === service && e.key === key);
    if (!isKnown) this.books.push({ service, key, what });
    if (hook === 'hold-after') await this.stop(what);
    if (hook === 'lose-answer') throw new Error('the connection was closed before an answer came');
    return { status: 'done', receipt: `receipt for ${what}` };
  }

  async find(service: Service, key: string): Promise<Answer | null> {
    const found = this.books.find((entry) => entry.service === service && entry.key === key);
    return found ? { status: 'done', receipt: `receipt for ${found.what}` } : null;
  }

  private take(what: string): Hook | undefined {
    const hook = this.hooks.get(what);
    this.hooks.delete(what);
    return hook;
  }

  private async stop(what: string): Promise<void> {
    const meeting = this.meeting(what);
    meeting.meet();
    await meeting.gone;
  }

  private meeting(what: string): Meeting {
    const known = this.reached.get(what) ?? newMeeting();
    this.reached.set(what, known);
    return known;
  }
}

interface Meeting {
  readonly met: Promise<void>;
  readonly gone: Promise<void>;
  meet(): void;
  go(): void;
}

function newMeeting(): Meeting {
  let meet = (): void => {};
  let go = (): void => {};
  const met = new Promise<void>((resolve) => {
    meet = resolve;
  });
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  return { met, gone, meet, go };
}
