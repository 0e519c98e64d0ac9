// The recovery report of a session: a button, and behind it a dialog with what became of each kind of state.

import { call, path } from './api.js';
import { el } from './dom.js';

/** The button; `act` runs what is asked for and tells what became of it. */
export function reportButton(id, act) {
  const dialog = el('dialog', { class: 'recalled reported', 'aria-label': 'Recovery report' });
  const show = () =>
    act(async () => {
      const { losses, last, lines } = await call(`${path(id)}/report`);
      const since =
        last === null
          ? 'Nothing was ever lost. This is what there is:'
          : `${losses === 1 ? 'Lost once' : `Lost ${losses} times`}, taken over ${new Date(last.at).toLocaleString()}.`;
      dialog.replaceChildren(
        el('h2', {}, 'Recovery report'),
        el('p', { class: 'hint' }, since),
        el('ul', {}, ...lines.map(line)),
        el('button', { type: 'button', on: { click: () => dialog.close() } }, 'Close'),
      );
      if (!dialog.open) dialog.showModal();
      return '';
    });
  const button = el('button', { type: 'button', 'data-report': '', on: { click: show } }, 'report');
  return [button, dialog];
}

function line({ kind, fate, what, evidence }) {
  return el(
    'li',
    { 'data-kind': kind, 'data-fate': fate },
    el('span', { class: 'fate' }, fate),
    ` ${kind}: ${what}`,
    el('span', { class: 'about' }, `: ${evidence}`),
  );
}
