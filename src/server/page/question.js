// A question to a person, as a card with the buttons that answer it.

import { el } from './dom.js';

/** `answer(option, text)` is called when a person answers. */
export function questionCard({ decision, question, options, choices, why, expiresAt }, answer) {
  const isQuestion = options.includes('answer');
  const text = el('input', {
    type: 'text',
    placeholder: isQuestion ? 'your answer' : 'in your words (may be left empty)',
    'aria-label': 'Words',
  });
  const button = (label, option, words) =>
    el(
      'button',
      { type: 'button', 'data-answer': option, on: { click: () => answer(option, words()) } },
      label,
    );
  // Where only these answers will do, they are the buttons.
  const buttons =
    choices.length > 0
      ? choices.map((choice) => button(choice, 'answer', () => choice))
      : [text, ...options.map((option) => button(option.replace('-', ' '), option, () => text.value))];
  const answers = el('div', { class: 'answers' }, ...buttons);
  const card = el(
    'section',
    { class: 'question', 'data-decision': decision },
    el('p', {}, el('span', { class: 'id' }, decision), ` ${question}`),
    asking(why, expiresAt),
    answers,
  );
  return { card, answers };
}

function asking(why, expiresAt) {
  const until = expiresAt === null ? '' : `open until ${new Date(expiresAt).toLocaleString()}`;
  const text = [why, until].filter((part) => part !== '').join('; ');
  return text === '' ? null : el('p', { class: 'why' }, text);
}
