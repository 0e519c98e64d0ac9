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

export const partialWords = (titles) => `partial: cut off before an answer: ${titles.join(', ')}`;
