// The inbox: everything that awaits a person, over all sessions, each with what is known and what each answer brings.

import { call, path } from './api.js';
import { ago, el } from './dom.js';

/** Shows what awaits a person; `changed` is called when something was answered here. */
export function inboxView(items, changed) {
  const said = el('p', { class: 'said-back bad', role: 'status' });
  const answer = async (item, given, text) => {
    try {
      await answered(item, given, text);
      await changed();
    } catch (error) {
      said.replaceChildren(error.next ? `${error.message} → ${error.next}` : error.message);
    }
  };
  return el(
    'section',
    { class: 'inbox' },
    el('h1', {}, 'Inbox'),
    said,
    items.length === 0 ? el('p', { class: 'hint' }, 'Nothing awaits you.') : null,
    ...items.map((item) => card(item, answer)),
  );
}

/** What is shown of an inbox; as long as it is the same, nothing has to be drawn anew. */
export const markOf = (items) => items.map(({ session, id }) => `${session} ${id}`).join(',');

function answered({ session, id, digest }, answer, text) {
  if (id === 'resume') return call(`${path(session)}/resume`, {});
  const exact = digest === null ? {} : { digest };
  return call(`${path(session)}/decisions`, { decision: id, answer, text, ...exact });
}

function card(item, answer) {
  const { session, title, id, about, question, why, evidence, since, expiresAt, answers, choices } = item;
  const words = el('input', {
    type: 'text',
    placeholder: about === 'question' ? 'your answer' : 'in your words (may be left empty)',
    'aria-label': `Words for ${id}`,
  });
  const button = ({ answer: given, brings }) =>
    el(
      'button',
      {
        type: 'button',
        title: brings,
        'data-answer': given,
        on: { click: () => answer(item, given, words.value) },
      },
      given.replace('-', ' '),
    );
  const offered = choices.map((choice) =>
    el('button', { type: 'button', on: { click: () => answer(item, 'answer', choice) } }, choice),
  );
  const until = expiresAt === null ? '' : ` · until ${new Date(expiresAt).toLocaleString()}`;
  return el(
    'article',
    { class: 'question', 'data-session': session, 'data-decision': id },
    el(
      'header',
      {},
      el('a', { href: `#/${session}` }, title),
      el('span', { class: 'how' }, ` ${about} · ${ago(since)}${until}`),
    ),
    el('p', { class: 'said' }, question),
    why === '' ? null : el('p', { class: 'how' }, `Why: ${why}`),
    evidence.length === 0 ? null : el('p', { class: 'how' }, `Known: ${evidence.join('; ')}`),
    el(
      'div',
      { class: 'answers' },
      ...(offered.length > 0 ? offered : [id === 'resume' ? null : words, ...answers.map(button)]),
    ),
    el('p', { class: 'how' }, answers.map(({ answer: given, brings }) => `${given}: ${brings}`).join(' · ')),
  );
}
