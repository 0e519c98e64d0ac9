/** `ask`: a question about the work. It reads the fold and appends nothing: transcript, course and cost stay as they are. */

import { askRequest } from '../context/ask.ts';
import { OutlastError } from '../core/error.ts';
import { lineageOf } from '../core/fork/state.ts';
import type { SessionId } from '../core/ids.ts';
import type { Usage } from '../core/message.ts';
import type { State } from '../core/state.ts';
import { textOf } from '../core/turn.ts';
import { ModelError } from '../models/port.ts';
import { meteredAside } from './budget/meter.ts';
import { openFile, withFiles } from './files.ts';
import type { Ports } from './ports.ts';
import { surroundingsOf } from './tools/offer.ts';

export interface Asked {
  readonly answer: string;
  /** Whose words these are. */
  readonly model: string;
  /** The last event that the answer knows of. */
  readonly asOf: number;
  /** What the question cost; it is not the task's. */
  readonly usage: Usage;
}

const QUESTION_MAX = 20_000;

export async function ask(
  session: SessionId,
  s: State,
  question: string,
  ports: Ports,
  outer?: AbortSignal,
): Promise<Asked> {
  const { model, clock } = ports;
  if (question.trim() === '' || question.length > QUESTION_MAX) {
    throw new OutlastError('message.invalid', `A question has 1 to ${QUESTION_MAX} characters.`, {
      next: 'ask in other words',
    });
  }
  const view = askRequest(s, question, surroundingsOf(s, ports));
  const where = { session, lineage: lineageOf(s, session) };
  const request = await withFiles(view, (file) => openFile(where, file, ports));
  const limit = new AbortController();
  const over = new AbortController();
  const late = clock.sleep(s.contract.limits.modelTimeoutMs, over.signal).then(() => limit.abort());
  const signal = outer ? AbortSignal.any([outer, limit.signal]) : limit.signal;
  try {
    const { parts, usage } = await meteredAside(s, session, request, ports, (maxOutputTokens) =>
      model.generate(request, { signal, ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }) }),
    );
    const answer = textOf(parts.filter((part) => part.type === 'text'));
    if (answer === '')
      throw new ModelError('incomplete', 'The model answered without a word.', { retry: true });
    return { answer, model: model.name, asOf: s.head, usage };
  } catch (error) {
    if (error instanceof OutlastError) throw error;
    const why = error instanceof ModelError ? error.message : 'The model could not be asked.';
    throw new OutlastError('model.failed', why, {
      next: 'ask again; the task itself is as it was',
      cause: error,
    });
  } finally {
    over.abort();
    await late;
  }
}
