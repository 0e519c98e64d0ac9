// The page: the list of sessions, the form that starts one, and which session is shown. Parts are in files beside.

import { call, keepToken, onUnauthorized, wordsOf } from './api.js';
import { ago, byId, el, phaseBadge } from './dom.js';
import { inboxView } from './inbox.js';
import { showSession } from './session.js';

const LIST_MS = 3000;
const LINE = { live: 'live', away: 'the server is away; waiting for it', none: '' };
let showing = null;
/** The inbox while it is open. */
let view = null;

onUnauthorized(askForToken);
addEventListener('hashchange', route);
addEventListener('visibilitychange', () => document.visibilityState === 'visible' && list());
route();
whoServes();
setInterval(() => document.visibilityState === 'visible' && list(), LIST_MS);

/** `#/` is the start form, `#/inbox` what awaits a person, `#/ses_…` a session. */
async function route() {
  showing?.abort();
  showing = new AbortController();
  const { signal } = showing;
  const id = location.hash.replace(/^#\/?/, '');
  list();
  document.body.dataset.view = id === '' || id === 'inbox' ? 'start' : 'session';
  view = null;
  if (id === 'inbox') return inbox();
  if (id === '') {
    byId('main').replaceChildren(startForm());
    return;
  }
  try {
    await showSession(id, signal, line, list);
  } catch (error) {
    if (signal.aborted) return;
    if (error.code === 'cursor.stale') return route();
    byId('main').replaceChildren(
      el('div', { class: 'empty' }, el('h1', {}, error.message), el('p', {}, error.next ?? 'Try again.')),
    );
  }
}

async function list() {
  const page = await call('/v1/sessions?limit=100').catch(() => null);
  line(page === null ? 'away' : 'live');
  if (page === null) return;
  const current = location.hash.replace(/^#\/?/, '');
  byId('new').toggleAttribute('aria-current', current === '');
  byId('list').replaceChildren(...below(page.sessions).map((row) => item(row, row.id === current)));
  await inbox();
}

/** The number beside its name, and its view when that is open. */
async function inbox() {
  const page = await call('/v1/inbox?limit=500').catch(() => null);
  if (page === null) return;
  const { items } = page;
  const isOpen = location.hash.replace(/^#\/?/, '') === 'inbox';
  byId('inbox').toggleAttribute('aria-current', isOpen);
  byId('inbox').replaceChildren(items.length === 0 ? 'Inbox' : `Inbox (${items.length})`);
  if (!isOpen) return;
  if (view === null) {
    view = inboxView(inbox);
    byId('main').replaceChildren(view.root);
  }
  view.show(items);
}

function item(row, isCurrent) {
  const asks = row.openDecisions > 0 ? `${row.openDecisions} open` : null;
  const kind = row.profile ?? (row.parent ? 'child' : row.forkedFrom ? 'fork' : null);
  const waits = row.place === undefined ? null : `waits for a slot: place ${row.place}`;
  const about = [waits, `turn ${row.turn}`, kind, asks, ago(row.updatedAt)]
    .filter((part) => part !== null)
    .join(' · ');
  const link = el(
    'a',
    { href: `#/${row.id}`, 'aria-current': isCurrent ? 'page' : null },
    el('span', { class: 'title' }, row.title),
    el('span', { class: 'about' }, phaseBadge(row.phase), el('span', {}, about)),
  );
  return el('li', { 'data-session': row.id, class: row.parent ? 'child' : null }, link);
}

/** Children below their parent, where that is listed as well. */
function below(rows) {
  const ids = new Set(rows.map(({ id }) => id));
  const placed = (row) => [row, ...rows.filter(({ parent }) => parent === row.id).flatMap(placed)];
  return rows.filter(({ parent }) => !ids.has(parent)).flatMap(placed);
}

function startForm() {
  const text = el('textarea', {
    rows: '4',
    name: 'objective',
    'aria-label': 'What to do',
    placeholder: "Report on February's invoices",
  });
  const persist = el('input', { type: 'checkbox', name: 'persist', checked: true });
  const said = el('p', { class: 'said-back bad', role: 'status' });
  const form = el(
    'form',
    { class: 'start' },
    el('h1', {}, 'What is to be done?'),
    text,
    el('label', {}, persist, ' Keep it open for what comes after'),
    el('div', { class: 'row' }, el('button', { class: 'primary' }, 'Start'), said),
    el(
      'p',
      { class: 'hint' },
      'A session goes on when this page is closed, and when its server is killed. It ends when you stop it.',
    ),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      const { session } = await call('/v1/sessions', { message: text.value, persist: persist.checked });
      location.hash = `#/${session}`;
    } catch (error) {
      said.replaceChildren(wordsOf(error));
    }
  });
  text.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) form.requestSubmit();
  });
  return form;
}

async function whoServes() {
  const { model } = await call('/healthz').catch(() => ({ model: null }));
  if (!model) return;
  const banner = byId('model');
  banner.hidden = false;
  banner.classList.toggle('scripted', model.scripted);
  banner.replaceChildren(model.scripted ? 'scripted planner, no model' : model.name);
  if (model.scripted)
    banner.title = 'Set a key of a provider, or OUTLAST_BASE_URL, and start the server again.';
}

function line(state) {
  const connection = byId('connection');
  connection.className = `connection ${state}`;
  connection.replaceChildren(LINE[state]);
}

let asked = null;

/** One dialog, however many calls wait for it. */
function askForToken() {
  asked ??= new Promise((resolve) => {
    const dialog = byId('token-dialog');
    dialog.addEventListener(
      'close',
      () => {
        keepToken(byId('token').value.trim());
        asked = null;
        whoServes();
        resolve();
      },
      { once: true },
    );
    dialog.showModal();
  });
  return asked;
}
