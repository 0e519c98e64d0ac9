// What the log of a session says, found by words: a field, and beside it a dialog with the passages as they stand there.

import { call, path } from './api.js';
import { el } from './dom.js';

/** The field; `act` runs what is asked for and tells what became of it. */
export function recallField(id, act) {
  const words = el('input', {
    type: 'search',
    name: 'words',
    placeholder: 'Recall',
    'aria-label': 'Recall words',
  });
  const found = el('dialog', { class: 'recalled', 'aria-label': 'What was recalled' });
  const form = el('form', { class: 'recall', role: 'search' }, words, found);
  const show = (title, nodes) => {
    const close = el('button', { type: 'button', on: { click: () => found.close() } }, 'Close');
    found.replaceChildren(el('h2', {}, title), ...nodes, close);
    if (!found.open) found.showModal();
  };
  const original = (seq) =>
    act(async () => {
      const { passages } = await call(`${path(id)}/recall?id=${seq}`);
      show(
        `#${seq}`,
        passages.map((one) => el('pre', {}, one.text)),
      );
      return '';
    });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const asked = words.value.trim();
    if (asked === '') return;
    act(async () => {
      const { passages } = await call(`${path(id)}/recall?words=${encodeURIComponent(asked)}`);
      const nothing = el('p', { class: 'hint' }, 'Nothing in its log has these words.');
      show(
        asked,
        passages.length === 0 ? [nothing] : [el('ol', {}, ...passages.map((one) => passage(one, original)))],
      );
      return '';
    });
  });
  return form;
}

function passage({ id, seq, kind, at, standing, text }, original) {
  const cite = el('button', { type: 'button', class: 'cite', on: { click: () => original(seq) } }, id);
  const when = el('time', { datetime: new Date(at).toISOString() }, new Date(at).toLocaleString());
  const about = el(
    'p',
    { class: 'about' },
    cite,
    ` ${kind}, `,
    when,
    standing === null ? '' : ` · ${standing}`,
  );
  return el('li', { 'data-id': id }, about, el('pre', {}, text));
}
