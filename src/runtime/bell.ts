/**
 * Hints that something came in. A bell may lose them: whoever waits also looks by itself now and then, and the
 * sweeper covers every lost wake.
 */

import type { SessionId } from '../core/ids.ts';

export interface Bell {
  /** The log of `session` has grown. */
  ring(session: SessionId): void;
  /** Text that a model is writing; for people who watch, never durable. */
  whisper(session: SessionId, delta: string): void;
  on(session: SessionId, listener: Listener): () => void;
}

export interface Listener {
  rang(): void;
  whispered?(delta: string): void;
}

export function localBell(): Bell {
  const listeners = new Map<SessionId, Set<Listener>>();
  return {
    ring(session) {
      for (const listener of [...(listeners.get(session) ?? [])]) listener.rang();
    },
    whisper(session, delta) {
      for (const listener of [...(listeners.get(session) ?? [])]) listener.whispered?.(delta);
    },
    on(session, listener) {
      const own = listeners.get(session) ?? new Set();
      listeners.set(session, own.add(listener));
      return () => {
        own.delete(listener);
        if (own.size === 0) listeners.delete(session);
      };
    },
  };
}
