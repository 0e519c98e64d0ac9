/**
 * Hints that something came in. A bell may lose them: whoever waits also looks by itself now and then, and the
 * sweeper covers every lost wake.
 */

import type { SessionId } from '../core/ids.ts';

export interface Bell {
  /** The log of `session` has grown to `head`. */
  ring(session: SessionId, head: number): void;
  /** Text that a model is writing; for people who watch, never durable. */
  whisper(session: SessionId, delta: string): void;
  on(session: SessionId, listener: Listener): () => void;
}

export interface Listener {
  /** Whoever has folded up to `head` has nothing to look at: as a rule the log has grown by its own commit. */
  rang(head: number): void;
  whispered?(delta: string): void;
}

export function localBell(): Bell {
  const listeners = new Map<SessionId, Set<Listener>>();
  return {
    ring(session, head) {
      for (const listener of [...(listeners.get(session) ?? [])]) listener.rang(head);
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
