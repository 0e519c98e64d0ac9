// The inbox: everything that awaits a person, over all sessions, each with what is known and what each answer brings.

import { call, path, wordsOf } from './api.js';
import { linkTo } from './children.js';
import { ago, el } from './dom.js';

/** Shows what awaits a person, as often as that changes; `changed` is called when something was answered here. */
export function inboxView(changed) {
  const said = el('p', { class: 'said-back bad', role: 'status' });
  const answer = async (item, given, text) => {
    try {
      await answered(item, given, text);
      await changed();
    } catch (error) {
      said.replaceChildren(wordsOf(error));
    }
  };
  const nothing = el('p', { class: 'hint' }, 'Nothing awaits you.');
  const root = el('section', { class: 'inbox' }, el('h1', {}, 'Inbox'), said, nothing);
  let cards = new Map();

  /** A card that is there already is not moved: somebody may be writing in it. */
  function show(items) {
    const marks = items.map(({ session, id }) => `${session} ${id}`);
    const before = cards;
    cards = new Map(items.map((item, i) => [marks[i], before.get(marks[i]) ?? card(item, answer)]));
    for (const [mark, gone] of before) if (!cards.has(mark)) gone.remove();
    nothing.hidden = items.length > 0;
    let place = nothing.nextSibling;
    for (const node of cards.values()) {
      if (node === place) place = place.nextSibling;
      else root.insertBefore(node, place);
    }
  }
  return { root, show };
}

function answered({ session, id, digest }, answer, text) {
  if (id === 'resume') return call(`${path(session)}/resume`, {});
  const exact = digest === null ? {} : { digest };
  return call(`${path(session)}/decisions`, { decision: id, answer, text, ...exact });
}

function card(item, answer) {
  const { session, title, parent, id, about, question, why, evidence, since, expiresAt } = item;
  const { answers, choices, action } = item;
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
      parent && el('span', { class: 'how' }, ' · child of ', linkTo(parent.id, parent.title)),
    ),
    ...(action === null ? [el('p', { class: 'said' }, question)] : exactly(item.effect, action)),
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

/** The exact action, as it would be read. */
function exactly(effect, { tool, target, args }) {
  return [
    el('p', { class: 'said' }, `Send ${effect}? ${tool} to ${target}`),
    el('pre', { class: 'output action' }, readable(args).join('\n')),
  ];
}

/** Text as it is meant to be read, and JSON inside of text opened. */
function readable(value) {
  const opened = typeof value === 'string' ? parsed(value) : value;
  if (Array.isArray(opened))
    return opened.flatMap((one) => readable(one).map((line, i) => (i === 0 ? '- ' : '  ') + line));
  if (opened === null || typeof opened !== 'object') return String(opened).split('\n');
  return Object.entries(opened).flatMap(([key, member]) => {
    const lines = readable(member);
    const isPlain = lines.length === 1 && (member === null || typeof member !== 'object');
    return isPlain ? [`${key}: ${lines[0]}`] : [`${key}:`, ...lines.map((line) => `  ${line}`)];
  });
}

function parsed(text) {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
