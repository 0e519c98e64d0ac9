/** `outlast decide`: what a person says to an open question, an approval say. The first answer stands. */

import type { DecisionAnswer } from '../../core/event.ts';
import { given } from '../../lib/given.ts';
import { EXIT, UsageError } from '../exit.ts';
import { coloured } from '../layout.ts';
import { COMMAND } from '../name.ts';
import { reach } from '../reach.ts';
import { text, type Verb } from '../verb.ts';
import { whichSession } from '../which.ts';

const ANSWERS: readonly string[] = [
  'approve',
  'reject',
  'done',
  'not-done',
  'answer',
] satisfies DecisionAnswer[];

export const run: Verb = async ({
  args: [which = '', decision = '', answer = '', ...words],
  options,
  terminal,
}) => {
  const remark = words.join(' ');
  if (!ANSWERS.includes(answer))
    throw new UsageError(`"${answer}" decides nothing.`, `use one of ${ANSWERS.join(', ')}`);
  if (answer === 'answer' && remark === '') {
    throw new UsageError('An answer needs its text.', `${COMMAND} decide ${which} ${decision} answer "…"`);
  }
  const outlast = reach(options);
  const session = await whichSession(outlast, which);
  const decided = await outlast.decide(session, decision, answer as DecisionAnswer, {
    text: remark,
    ...given({ digest: text(options.digest) }),
  });
  const { phase } = decided;
  terminal.say(`${decision}: ${answer}. ${session} ${coloured(phase, terminal.paint)}`);
  terminal.result({ ...decided, decision, answer });
  return EXIT.ok;
};
