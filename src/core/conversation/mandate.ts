/**
 * What lets a conversation decide for a person: words that they have said, about this very question. A model reads text of
 * tasks, and text of a task may say anything; so nothing that a model claims is a mandate, and what is one is checked here
 * against the log. Pure.
 *
 * M1  The words stand in a message of the person that this turn has read, letter by letter but for case and blanks.
 * M2  They name the decision; or no other question was open that the person had been told of, and this one was told them
 *     before they spoke: a response with its id in it stands in the log before the message.
 * M3  To send something, or to say that it was done, takes more where the words do not name it: the whole message is a
 *     plain yes or a plain no, and says the same as the answer.
 * M4  It is looked at twice: when the call is planned, and again before it reaches whoever asks. What is done then is
 *     what the ledger holds of that call, whatever the tool makes of it.
 */

import { isRecord } from '../../lib/json.ts';
import type { ChildQuestion } from '../family/event.ts';
import type { MessageId } from '../ids.ts';
import type { Effect, State } from '../state.ts';

export interface Mandate {
  readonly message: MessageId;
  readonly words: string;
  /** Of an approval: the action that was shown. */
  readonly digest: string | null;
}

interface Wish {
  readonly task: string;
  readonly decision: string;
  readonly answer: string;
  readonly words: string;
}

type Refused = { readonly refused: { readonly code: string; readonly message: string } };

export function mandate(s: State, wish: Wish): Mandate | Refused {
  return mandateIn(s, wish, s.turn?.number);
}

/** M4. */
export function mandateOf(
  s: State,
  effect: Effect | undefined,
  { task, decision, answer }: Omit<Wish, 'words'>,
): Mandate | Refused {
  const given = effect?.family === 'decides' && isRecord(effect.args) ? effect.args : {};
  const planned = given as unknown as Wish & { readonly mandate?: Mandate };
  const isSame = planned.task === task && planned.decision === decision && planned.answer === answer;
  if (!isSame || planned.mandate === undefined)
    return refuse('decide.mandate', 'This call has no mandate of the person for that.');
  const { message, words } = planned.mandate;
  const read = s.transcript.find((item) => item.kind === 'message' && item.message.id === message);
  return mandateIn(s, { task, decision, answer, words }, read?.kind === 'message' ? read.turn : undefined);
}

/** `turn`: that in which the words were read. */
function mandateIn(s: State, wish: Wish, turn: number | undefined): Mandate | Refused {
  const open = s.family.children.flatMap(({ standing }) => standing?.questions ?? []);
  const asked = open.find(({ session, decision }) => session === wish.task && decision === wish.decision);
  if (!asked)
    return refuse('decision.unknown', `No task waits for ${wish.decision} of ${wish.task} any more, or yet.`);
  const words = plain(wish.words);
  const said = heardIn(s, turn).findLast(({ text }) => words !== '' && plain(text).includes(words));
  if (!said)
    return refuse(
      'decide.words',
      'Only what the person has said in this turn decides. Quote their words, or ask them.',
    );
  const { digest = null } = asked;
  const given = { message: said.id, words: wish.words, digest };
  if (isNamed(s, asked, words, open)) return given;
  const shown = open.filter((one) => isShownBefore(s, one, said.seq));
  if (shown.length !== 1 || shown[0] !== asked)
    return refuse(
      'decide.which',
      `Nobody can tell that they mean ${asked.decision}. Tell the person what is asked, with its id, and let them name it.`,
    );
  if (asked.about !== 'question' && !agrees(plain(said.text), wish.answer))
    return refuse(
      'decide.plain',
      `That is no plain yes or no. Let the person say it: "${wish.answer} ${asked.decision}".`,
    );
  return given;
}

/** What the person said that this turn has read. */
const heardIn = ({ transcript }: State, turn: number | undefined) =>
  transcript.flatMap((item) =>
    item.kind === 'message' && item.message.from === 'person' && item.turn === turn ? [item.message] : [],
  );

/** By its id; where another one has the same, with its task's id or title as well. */
function isNamed(s: State, asked: ChildQuestion, words: string, open: readonly ChildQuestion[]): boolean {
  const has = (name: string): boolean => ` ${words} `.includes(` ${plain(name)} `);
  if (!has(asked.decision)) return false;
  const isAlone = open.filter(({ decision }) => decision === asked.decision).length === 1;
  const title = s.family.children.find(({ id }) => id === asked.session)?.title;
  return isAlone || has(asked.session) || (title !== undefined && has(title));
}

export const questionKey = ({ session, decision }: Pick<ChildQuestion, 'session' | 'decision'>): string =>
  `${session}.${decision}`;

function isShownBefore({ conversation }: State, question: ChildQuestion, seq: number): boolean {
  const shown = conversation.shown[questionKey(question)];
  return shown !== undefined && shown < seq;
}

/** Letters and digits of any script, one blank between words. */
const plain = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}_'-]+/gu, ' ')
    .trim();

const YES = new Set(
  `yes|yes please|y|yep|yeah|ok|okay|sure|approve|approved|approve it|do it|go ahead|yes go ahead|yes do it|send it|please do|it was done|done
  |ja|ja bitte|mach das|genehmigt|oui|d'accord|sí|si|de acuerdo`
    .split('|')
    .map((word) => word.trim()),
);
const NO = new Set(
  `no|no thanks|n|nope|reject|rejected|reject it|don't|do not|don't do it|do not do it|don't send it|not done|it was not done
  |nein|nicht|ablehnen|non|refuse|no gracias`
    .split('|')
    .map((word) => word.trim()),
);

function agrees(message: string, answer: string): boolean {
  if (answer === 'approve' || answer === 'done') return YES.has(message);
  return NO.has(message);
}

const refuse = (code: string, message: string): Refused => ({ refused: { code, message } });
