/**
 * One life of a worker in the bench: the real runtime on ports that can end. A dead life does nothing any more and is
 * told nothing: its calls never return and its connections are cut, as after SIGKILL. A frozen one stands still and goes on
 * later, not knowing.
 */

import { setMaxListeners } from 'node:events';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Model, ModelReply } from '../models/port.ts';
import type { Commit, Store } from '../store/port.ts';
import type { Tool } from '../tools/port.ts';

/** Where a life ends, or what else happens there. Called at the place; what it does has happened when it resolves. */
export interface Trap {
  readonly before?: (commit: Commit, store: Store) => Promise<void> | void;
  readonly after?: (commit: Commit) => Promise<void> | void;
  /** A tool has been run, or asked, and has answered: the answer is in memory. */
  readonly answered?: (how: 'run' | 'find' | 'audit') => Promise<void> | void;
  readonly replied?: (reply: ModelReply) => Promise<void> | void;
}

const never = <T>(): Promise<T> => new Promise<T>(() => {});

export class Life {
  /** Resolves when it is over. */
  readonly ended: Promise<void>;
  isDead = false;
  /** Port calls under way; a life that was thawed is quiet when there are none. */
  busy = 0;
  calls = 0;
  tokens = 0;
  private readonly gone = new AbortController();
  private readonly trap: Trap;
  private end: () => void = () => {};
  private thawed: Promise<void> | null = null;
  private release: () => void = () => {};

  constructor(trap: Trap = {}) {
    this.trap = trap;
    // Everything that waits listens for the end: that is no leak.
    setMaxListeners(0, this.gone.signal);
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  die(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.gone.abort();
    this.end();
  }

  freeze(): void {
    this.thawed = new Promise((resolve) => {
      this.release = resolve;
    });
  }

  thaw(): void {
    this.thawed = null;
    this.release();
  }

  readonly clock: Clock = {
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic(),
    sleep: async (ms, signal) => {
      if (this.isDead) return never();
      const over = new AbortController();
      const stop = (): void => over.abort();
      signal?.addEventListener('abort', stop, { once: true });
      if (signal?.aborted) stop();
      this.gone.signal.addEventListener('abort', stop, { once: true });
      await systemClock.sleep(ms, over.signal);
      signal?.removeEventListener('abort', stop);
      this.gone.signal.removeEventListener('abort', stop);
      if (this.thawed) await this.thawed;
      if (this.isDead) return never();
    },
  };

  private async cross<T>(call: () => Promise<T>, after?: (value: T) => Promise<void> | void): Promise<T> {
    await this.stand();
    this.busy++;
    try {
      const value = await call();
      await this.stand();
      await after?.(value);
      await this.stand();
      return value;
    } catch (error) {
      await this.stand();
      throw error;
    } finally {
      this.busy--;
    }
  }

  private async stand(): Promise<void> {
    if (this.thawed) await this.thawed;
    if (this.isDead) {
      this.busy = 0;
      await never();
    }
  }

  store(real: Store): Store {
    const { trap } = this;
    return new Proxy(real, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== 'function') return member;
        if (key === 'close') return async () => {};
        const call = (...args: unknown[]): Promise<unknown> => member.apply(target, args);
        if (key !== 'commit') return (...args: unknown[]) => this.cross(() => call(...args));
        return (commit: Commit) =>
          this.cross(
            async () => {
              await trap.before?.(commit, real);
              await this.stand();
              return real.commit(commit);
            },
            async (result) => {
              if (result.status === 'committed') await trap.after?.(commit);
            },
          );
      },
    });
  }

  model(real: Model): Model {
    return {
      name: real.name,
      scripted: real.scripted,
      generate: (request, options) =>
        this.cross(
          async () => {
            this.calls++;
            return real.generate(request, options);
          },
          async (reply) => {
            this.tokens += reply.usage.inputTokens + reply.usage.outputTokens;
            await this.trap.replied?.(reply);
          },
        ),
    };
  }

  tool(real: Tool): Tool {
    const { trap } = this;
    const { find, audit } = real;
    const cut = <C extends { readonly signal: AbortSignal }>(context: C): C => ({
      ...context,
      signal: AbortSignal.any([context.signal, this.gone.signal]),
    });
    return {
      ...real,
      run: (args, context) =>
        this.cross(
          () => real.run(args, cut(context)),
          () => trap.answered?.('run'),
        ),
      ...(find && {
        find: (args, context) =>
          this.cross(
            () => find(args, cut(context)),
            () => trap.answered?.('find'),
          ),
      }),
      ...(audit && {
        audit: (args, context) =>
          this.cross(
            () => audit(args, cut(context)),
            () => trap.answered?.('audit'),
          ),
      }),
    };
  }
}
