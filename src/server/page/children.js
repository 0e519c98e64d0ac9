// Children of a session, in words and links.

import { el } from './dom.js';

const ENDS = {
  surfaced: 'answered',
  failed: 'failed',
  interrupted: 'was interrupted',
  stopped: 'was stopped',
  quarantined: 'was taken out of the way, and waits for a person',
  budget: 'was cut off by its budget',
};

export const endWords = ({ end }) => ENDS[end] ?? end;

/** What tells a question of a child from others. */
export const keyOf = ({ session, decision }) => `${session} ${decision}`;

export const linkTo = (session, title) => el('a', { href: `#/${session}`, title: session }, title ?? session);

/** Of a turn in which children were cut off. */
export const partialOf = ({ partial = [] }) =>
  partial.length === 0
    ? ''
    : el('footer', { class: 'partial' }, `partial: cut off before an answer: ${partial.join(', ')}`);

export const givesUp = ({ until, what }) =>
  ` gives up at ${new Date(until).toLocaleString()}, unless something is said to it: ${what}`;
