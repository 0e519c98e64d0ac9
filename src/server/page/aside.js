// What stands beside the transcript: phase, ledger, live objects, files. Drawn from an inspection, whole, each time; what
// a person has opened there stays open.

import { call, path, wordsOf } from './api.js';
import { linkTo } from './children.js';
import { ago, el, phaseBadge, shortTarget, statusBadge } from './dom.js';

const ROWS = 200;

/** `draw(inspection)` gives what stands beside one session by now. */
export function aside() {
  const list = fileList();
  return (seen) => [
    overview(seen),
    ...children(seen),
    ledger(seen.ledger),
    live(seen.heap),
    ...python(seen.kernel),
    ...files(seen, list),
  ];
}

function overview(seen) {
  const { turn, lastTurn } = seen;
  const doing = turn ? `turn ${turn.number}, step ${turn.step}: ${turn.doing}` : null;
  const last = lastTurn ? `turn ${lastTurn.number} ${lastTurn.end}` : 'no turn yet';
  return el(
    'section',
    {},
    el('p', { class: 'overview' }, phaseBadge(seen.phase), el('span', {}, doing ?? last)),
    seen.reason ? el('p', { class: 'reason' }, seen.reason) : null,
    seen.wakesAt === null
      ? null
      : el('p', { class: 'facts' }, `goes on by itself at ${new Date(seen.wakesAt).toLocaleString()}`),
    seen.forkedFrom
      ? el(
          'p',
          { class: 'facts' },
          'fork of ',
          el('a', { href: `#/${seen.forkedFrom.session}` }, seen.forkedFrom.session),
          ` at event ${seen.forkedFrom.at}`,
        )
      : null,
    seen.parent ? el('p', { class: 'facts' }, 'child of ', linkTo(seen.parent)) : null,
    el('p', { class: 'facts spent' }, seen.budget.words),
    el(
      'p',
      { class: 'facts' },
      `${seen.head} events · epoch ${seen.epoch} · ${seen.persist ? 'kept open' : 'one-shot'} · started ${ago(seen.startedAt)}`,
    ),
  );
}

/** Of a session without any there is nothing to say. */
function children({ children: all }) {
  if (all.length === 0) return [];
  const rows = all.map(({ id, title, phase, since, last, questions, unknown, notices }) => {
    const open = [
      last ? `turn ${last.turn}: ${last.end}` : null,
      questions.length > 0 ? `${questions.length} open` : null,
      unknown.length > 0 ? `${unknown.length} unknown` : null,
      notices.length > 0 ? `gives up: ${notices.map(({ what }) => what).join('; ')}` : null,
      ago(since),
    ].filter((part) => part !== null);
    return el(
      'tr',
      { 'data-child': id },
      el('td', {}, linkTo(id, title), el('div', { class: 'how' }, open.join(' · '))),
      el('td', {}, phaseBadge(phase)),
    );
  });
  return [
    el(
      'section',
      {},
      el('h2', {}, 'Children', el('span', { class: 'count' }, all.length)),
      el('table', { class: 'children' }, el('tbody', {}, ...rows)),
    ),
  ];
}

function ledger(rows) {
  const shown = rows.slice(-ROWS);
  const hidden = rows.length - shown.length;
  return el(
    'section',
    {},
    el('h2', {}, 'Ledger', el('span', { class: 'count' }, rows.length)),
    rows.length === 0
      ? el('p', { class: 'none' }, 'Nothing has been sent.')
      : el(
          'table',
          { class: 'ledger' },
          el('thead', {}, row('th', ['Effect', 'Target', 'Status'])),
          el('tbody', {}, ...shown.map(ledgerRow)),
        ),
    hidden > 0 ? el('p', { class: 'none' }, `${hidden} earlier effects are not shown here.`) : null,
  );
}

function ledgerRow({ effect, status, tool, target, capability, attempts, evidence, error }) {
  const details = [
    // A GET is a read by its looks.
    capability === 'read' ? null : capability,
    attempts > 1 ? `sent ${attempts} times` : null,
    evidence ? `known by ${evidence}` : null,
    error,
  ].filter((detail) => detail !== null);
  const where = el(
    'td',
    { title: target },
    el('span', { class: 'tool' }, tool),
    el('span', { class: 'target' }, shortTarget(target)),
    el('span', { class: 'how' }, details.join(' · ')),
  );
  return el(
    'tr',
    { 'data-effect': effect },
    el('td', { class: 'id' }, effect),
    where,
    el('td', {}, statusBadge(status)),
  );
}

function live({ live: objects, generation, restored }) {
  return el(
    'section',
    {},
    el('h2', {}, 'Live objects', el('span', { class: 'count' }, objects.length)),
    objects.length === 0
      ? el('p', { class: 'none' }, 'Nothing lives in the sandbox yet.')
      : el(
          'table',
          { class: 'live' },
          el('thead', {}, row('th', ['Name', 'Type', 'From'])),
          el('tbody', {}, ...objects.map(liveRow)),
        ),
    objects.length > 0 ? el('p', { class: 'facts' }, `generation ${generation}`) : null,
    restored?.note ? el('p', { class: 'facts' }, `restored (${restored.rung}): ${restored.note}`) : null,
  );
}

function liveRow({ name, type, size, cell }) {
  return el(
    'tr',
    {},
    el('td', { class: 'id' }, name),
    el('td', {}, size === null ? type : `${type} (${size})`),
    el('td', { class: 'id' }, cell),
  );
}

/** Of a session that never had any there is nothing to say. */
function python(kernel) {
  if (kernel === null) return [];
  const { live: objects, generation, notice } = kernel;
  const rows = objects.map(({ effect, ...one }) => liveRow({ ...one, cell: effect }));
  return [
    el(
      'section',
      {},
      el('h2', {}, 'Python objects', el('span', { class: 'count' }, objects.length)),
      objects.length === 0 ? null : el('table', { class: 'live' }, el('tbody', {}, ...rows)),
      el('p', { class: 'facts' }, `generation ${generation}`),
      notice === null
        ? null
        : el(
            'p',
            { class: 'reason notice' },
            `Given up at ${new Date(notice.until).toLocaleString()} by the owner's policy, unless something comes in: ` +
              `${notice.unsaved.map(({ name }) => name).join(', ')}`,
          ),
    ),
  ];
}

/** Of a session that never had a file there is nothing to say. */
function files({ id, workspace }, list) {
  if (workspace === null) return [];
  const { files: count, drift, restored, commits, left, lost } = workspace;
  return [
    el(
      'section',
      {},
      el('h2', {}, 'Files', el('span', { class: 'count' }, count)),
      drift === null ? null : el('p', { class: 'reason' }, `Changed by somebody else: ${drift}`),
      ...commits
        .toReversed()
        .map(({ seq, why, effect, changes }) =>
          el('p', { class: 'facts' }, `${seq} · ${effect ?? why}: ${changes || 'nothing'}`),
        ),
      restored?.note ? el('p', { class: 'facts' }, `${restored.rung}: ${restored.note}`) : null,
      ...[...lost, ...left].map((one) => el('p', { class: 'facts' }, `${one.path}: ${one.why}`)),
      ...list(id, commits.at(-1)?.seq),
    ),
  ];
}

/** All files, when somebody wants to see them: from then on they are listed, anew after each commit. */
function fileList() {
  const rows = el('div', { class: 'files' });
  let listed = null;
  let isOpen = false;
  return (id, commit) => {
    const draw = () => {
      if (!isOpen || listed === commit) return;
      listed = commit;
      list(id, rows).catch((error) => {
        listed = null;
        rows.replaceChildren(wordsOf(error));
      });
    };
    const button = el(
      'button',
      { type: 'button', class: 'quiet', 'aria-expanded': String(isOpen) },
      isOpen ? 'Hide them' : 'List them',
    );
    button.addEventListener('click', () => {
      isOpen = !isOpen;
      rows.hidden = !isOpen;
      button.setAttribute('aria-expanded', String(isOpen));
      button.replaceChildren(isOpen ? 'Hide them' : 'List them');
      draw();
    });
    draw();
    return [button, rows];
  };
}

async function list(id, rows) {
  const { entries, after } = await call(`${path(id)}/files`);
  const drawn = entries.map(({ path: name, kind, size }) =>
    el(
      'tr',
      {},
      el('td', { class: 'id' }, kind === 'folder' ? `${name}/` : name),
      el('td', {}, kind === 'file' ? `${size} B` : kind),
    ),
  );
  const more =
    after === null ? null : el('p', { class: 'none' }, 'There are more: outlast files has them all.');
  rows.replaceChildren(el('table', { class: 'live' }, el('tbody', {}, ...drawn)), ...(more ? [more] : []));
}

function row(tag, cells) {
  return el('tr', {}, ...cells.map((cell) => el(tag, {}, cell)));
}
