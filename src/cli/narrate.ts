/**
 * Events as lines for people: what was said, what is being done, what became of it. One event, a few lines, in order.
 * Progress is dim and begins with `·`; a response stands plainly and begins with nothing.
 */

import { budgetInWords, exhaustionInWords } from '../core/budget/budget.ts';
import type { Event, EventOf, ForeignEvent } from '../core/event.ts';
import { nameOf } from '../core/file.ts';
import { causeInWords, estateInWords } from '../core/retention/gone.ts';
import { clip, oneLine, ordinal } from '../lib/text.ts';
import { answersTo } from './answers.ts';
import { claimLines, partialLines } from './claims.ts';
import { COMMAND } from './name.ts';
import { childNarrator } from './narrate-children.ts';
import { clean, type Paint } from './terminal.ts';

export interface Narrator {
  tell(event: Event | ForeignEvent): readonly string[];
}

interface Known {
  readonly target: string;
  readonly isRead: boolean;
}

const CODE_LINES = 5;
/** The whole action stands in the inbox. */
const QUESTION_CHARS = 600;
const OUTPUT_LINES = 8;

export function narrator(session: string, paint: Paint, width = 100): Narrator {
  const { dim, bold, red, green, yellow, cyan } = paint;
  const effects = new Map<string, Known>();
  const children = childNarrator(paint, width);
  const short = (text: string) => oneLine(clean(text), Math.max(40, width - 8));
  const note = (text: string) => [dim(`· ${short(text)}`)];
  const block = (text: string, most: number) => {
    const lines = clean(text).replace(/\s+$/, '').split('\n');
    const shown = lines.slice(0, most).map((line) => dim(`  │ ${oneLineKeepingIndent(line, width - 6)}`));
    return lines.length > most ? [...shown, dim(`  │ … ${lines.length - most} more lines`)] : shown;
  };
  const of = (effect: string) => {
    const known = effects.get(effect);
    return known ? `${effect} ${short(known.target)}` : effect;
  };

  function settled(e: EventOf<'effect.settled'>): readonly string[] {
    const { outcome } = e;
    if (outcome.status === 'unknown')
      return [yellow(`? ${of(e.effect)}: outcome unknown: ${short(outcome.reason)}`)];
    if (outcome.status === 'failed') return [red(`✗ ${of(e.effect)}: ${short(outcome.message)}`)];
    return [effects.get(e.effect)?.isRead ? dim(`  ✓ ${of(e.effect)}`) : green(`✓ ${of(e.effect)}`)];
  }

  function committed(e: EventOf<'cell.committed'>): readonly string[] {
    const output = e.output.trim() === '' ? [] : block(e.output, OUTPUT_LINES);
    const ends = e.ended.flatMap(({ cell, end }) =>
      end.status === 'failed' ? [red(`✗ ${cell}: ${short(end.error)}`)] : [],
    );
    return [...output, ...ends];
  }

  function requested(e: EventOf<'decision.requested'>): readonly string[] {
    return [
      yellow(`? ${bold(e.decision)} ${clip(clean(e.question), QUESTION_CHARS)}`),
      ...(e.about === 'approval' ? [dim(`    ${clean(e.why)}${until(e.expiresAt)}`)] : []),
      ...answersTo(e).map((answer) => `    ${COMMAND} decide ${session} ${e.decision} ${answer}`),
    ];
  }

  return {
    tell(event) {
      switch (event.kind) {
        case 'message.accepted':
          return [
            cyan(`› ${clean(event.text)}`),
            ...event.images.map((image) => dim(`  [${nameOf(image)}]`)),
          ];
        case 'turn.started':
          return note(`turn ${event.turn}`);
        case 'progress.noted':
          return [dim(`· ${clean(event.text)}`)];
        case 'cell.started':
          return [dim(`· code ${event.cell}`), ...block(event.source, CODE_LINES)];
        case 'cell.committed':
          return committed(event);
        case 'cell.aborted':
          return [...block(event.output, OUTPUT_LINES), red(`✗ ${event.cell}: ${short(event.message)}`)];
        case 'effect.intended': {
          const { target, capability } = event;
          effects.set(event.effect, { target, isRead: capability.kind === 'read' });
          return capability.kind === 'read'
            ? []
            : [`→ ${event.effect} ${short(target)} ${dim(`(${capability.kind})`)}`];
        }
        case 'effect.refused':
          return [red(`✗ ${of(event.effect)}: ${short(event.message)}`)];
        case 'effect.settled':
          return settled(event);
        case 'effect.reconciled':
          return [cyan(`≈ ${of(event.effect)}: ${event.finding.status}, ${short(event.note)}`)];
        case 'decision.requested':
          return requested(event);
        case 'decision.made':
          return [
            `! ${event.decision}: ${event.answer}${event.text === '' ? '' : `, ${short(event.text)}`} ${dim(`(${event.by})`)}`,
          ];
        case 'decision.expired':
          return [yellow(`! ${event.decision}: nobody answered in time`)];
        case 'response.surfaced':
          return [
            '',
            clean(event.text),
            ...(event.complete ? [] : [yellow('  (cut off at the output limit)')]),
            ...partialLines(event.partial ?? [], paint),
            ...claimLines(event.claims, paint, width),
            '',
          ];
        case 'model.failed':
          return note(`the model call failed: ${event.message}${event.retry ? ' It is tried again.' : ''}`);
        case 'call.refused':
          return note(`refused: ${event.message}`);
        case 'turn.failed':
          return [
            red(`✗ turn ${event.turn} failed: ${clean(event.reason)}`),
            ...partialLines(event.partial ?? [], paint),
            ...claimLines(event.claims, paint, width),
          ];
        case 'turn.interrupted':
          return [yellow(`! turn ${event.turn} was interrupted by ${event.by}`)];
        case 'session.queued':
          return [yellow(`■ waits for a slot: ${ordinal(event.place)} in the queue`)];
        case 'session.admitted':
          return note('it has a slot and goes on');
        case 'budget.exhausted':
          return [yellow(`■ ${exhaustionInWords(event)}`)];
        case 'budget.set':
          return note(
            `budget: ${budgetInWords(event.session)}; each turn: ${budgetInWords(event.turn)} (${event.by})`,
          );
        case 'context.compacted':
          return note(
            `context: ${event.items} older entries became ${event.lines.length} lines` +
              `${event.by === 'runtime' ? ' by the runtime' : ''}; ` +
              `${event.tokensBefore} tokens are ${event.tokensAfter} now, and the log keeps everything`,
          );
        case 'compaction.failed':
          return note(`context: the summary could not be used (${event.message}); the view is as it was`);
        case 'heap.restored':
          return event.rung === 'attached' || event.note === ''
            ? []
            : note(`sandbox restored (${event.rung}): ${event.note}`);
        case 'workspace.opened':
          return event.note === '' ? [] : note(`files ${event.rung}: ${event.note}`);
        case 'workspace.set':
          return note(`files ${event.why} from ${event.from} (${event.by})`);
        case 'lease.acquired':
          return event.clean || event.epoch === 1
            ? []
            : note(`the worker before was lost; taken over, epoch ${event.epoch}`);
        case 'session.paused':
        case 'session.resumed':
        case 'session.stopping':
        case 'session.reopened':
          return [bold(`■ ${event.kind.slice('session.'.length)}`) + dim(` (${event.by})`)];
        case 'session.stopped':
          return [
            bold('■ stopped') +
              (event.unknown.length > 0 ? `; outcome unknown: ${event.unknown.join(', ')}` : ''),
          ];
        case 'session.archived':
          return note('archived; the next message wakes it with all it has');
        case 'session.parked':
          return [dim('■ parked: the next message wakes it with all it has')];
        case 'kernel.noticed': {
          const names = event.unsaved.map(({ name }) => name).join(', ');
          const when = new Date(event.until).toISOString();
          if (names === '') return note('no Python object is to be given up any more');
          return [
            yellow(`■ Python objects are given up at ${when}, unless something comes in: ${short(names)}`),
          ];
        }
        case 'retention.noticed': {
          const when = new Date(event.until).toISOString();
          return [yellow(`■ it is deleted at ${when}, unless something comes in`)];
        }
        case 'retention.deferred':
          return note(`it is not deleted yet: ${short(event.why)}`);
        case 'retention.over':
          return [bold('■ deleting') + dim(': its notice is over')];
        case 'session.deleting':
          return [bold('■ deleting') + dim(` (${event.by})`)];
        case 'session.deleted':
          return [
            bold('■ deleted') + dim(` ${causeInWords(event.cause)}; it had ${estateInWords(event.had)}`),
          ];
        case 'kernel.noted':
          return event.lost.map(({ name, why }) => yellow(`■ lost of Python: ${short(`${name}: ${why}`)}`));
        case 'child.spawned':
          return children.spawned(event);
        case 'child.instructed':
          return children.instructed(event);
        case 'child.reported':
          return children.reported(event);
        case 'session.forked':
          return [
            bold(`■ fork of ${event.from} at ${event.head}`) +
              dim(` (${event.by}): what was in flight stays with the original`),
          ];
        case 'session.quarantined':
          return [red(`■ quarantined: ${clean(event.reason)}`)];
        case 'foreign':
          return note(`event ${event.seq}: ${event.original}, which a newer version wrote`);
        default:
          return [];
      }
    },
  };
}

const until = (instant: number | null): string =>
  instant === null ? '' : `; it can be decided until ${new Date(instant).toISOString()}`;

function oneLineKeepingIndent(line: string, max: number): string {
  const indent = /^\s*/.exec(line)?.[0].replaceAll('\t', '  ') ?? '';
  return indent + oneLine(line, Math.max(20, max - indent.length));
}
