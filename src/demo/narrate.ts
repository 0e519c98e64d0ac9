/** What one sees while the demo runs: each line as it happens, with the time since the start. */

import type { Event, ForeignEvent } from '../core/event.ts';
import { oneLine } from '../lib/text.ts';

export interface Narrator {
  /** What the demo does to the system. */
  act(text: string): void;
  /** What the session does. */
  event(event: Event | ForeignEvent): void;
  /** What was found out. */
  fact(text: string): void;
  answer(text: string): void;
}

export function narrator(write: (line: string) => void, color: boolean): Narrator {
  const started = performance.now();
  const paint = (code: number, text: string): string => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const line = (mark: string, text: string): void => {
    const seconds = ((performance.now() - started) / 1_000).toFixed(1).padStart(5);
    write(`${paint(2, seconds)}  ${mark} ${text}`);
  };
  return {
    act: (text) => line(paint(33, '▶'), paint(1, text)),
    fact: (text) => line(paint(32, '✓'), text),
    answer(text) {
      for (const part of text.split('\n')) line(paint(36, '│'), part);
    },
    event(event) {
      const text = describe(event);
      if (text !== null) line(paint(2, '·'), paint(2, text));
    },
  };
}

/** One line for what a watcher wants to see; null for the rest. */
function describe(event: Event | ForeignEvent): string | null {
  switch (event.kind) {
    case 'lease.acquired':
      return event.clean ? null : `epoch ${event.epoch}: a new worker found the session as its log says`;
    case 'message.read':
      return `turn ${event.turn}, step ${event.step} reads ${event.messages.join(', ')}`;
    case 'progress.noted':
      return oneLine(event.text, 110);
    case 'cell.started':
      return `${event.cell} runs ${event.source.split('\n').length} lines of code`;
    case 'effect.dispatched':
      return `${event.effect} sent, attempt ${event.attempt}`;
    case 'effect.reconciled':
      return `${event.effect} reconciled as ${event.finding.status}: ${event.note}`;
    case 'cell.aborted':
      return `${event.cell} aborted: ${event.reason} ${event.message}`;
    case 'heap.restored':
      return event.rung === 'fresh' ? null : `live objects are back: ${event.rung}`;
    case 'context.compacted':
      return `the view is compacted: ${event.items} of its oldest entries gave way to ${event.lines.length} lines (${event.by})`;
    case 'workspace.opened':
      return event.rung === 'attached' ? null : `files: ${event.rung}. ${event.note}`;
    case 'child.spawned':
      return `child ${event.child} stands: ${oneLine(event.title, 80)}`;
    case 'child.reported':
      return event.result && `child ${event.child}: ${event.result.end}: ${oneLine(event.result.text, 80)}`;
    case 'decision.requested':
      return `question ${event.decision}: ${oneLine(event.question, 100)}`;
    case 'decision.expired':
      return `question ${event.decision} expired`;
    case 'turn.failed':
      return `turn ${event.turn} failed: ${event.reason}`;
    default:
      return null;
  }
}
