// One session: its transcript live, what stands beside it, and everything that a person can do to it.

import { call, follow, newKey, path, wordsOf } from './api.js';
import { aside } from './aside.js';
import { byId, el } from './dom.js';
import { recallField } from './recall.js';
import { reportButton } from './report.js';
import { transcript } from './transcript.js';

/** Events that are drawn at first; older ones on demand. */
const RECENT = 600;
const LOOK_AGAIN_MS = 250;

/** Draws the session into `#main` until `signal` aborts; `state` is told how the connection is. */
export async function showSession(id, signal, state, changed) {
  const seen = await call(path(id));
  if (signal.aborted) return;
  const from = Math.max(0, seen.head - RECENT);
  const view = build(id, seen);
  byId('main').replaceChildren(view.root);
  if (from > 0) view.offerEarlier(from);
  view.refresh(seen);

  let willLook = false;
  const look = async () => {
    if (willLook) return;
    willLook = true;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    willLook = false;
    const now = await call(path(id)).catch(() => null);
    if (now && !signal.aborted) view.refresh(now);
    changed();
  };
  for await (const event of follow(id, from, signal, state)) {
    view.tell(event);
    if (event.kind !== 'whisper') look();
  }
}

function build(id, seen) {
  const said = el('p', { class: 'said-back', role: 'status' });
  const say = (text, isBad = false) => {
    said.className = isBad ? 'said-back bad' : 'said-back';
    said.replaceChildren(text);
  };
  const act = async (work) => {
    try {
      say(await work());
    } catch (error) {
      say(wordsOf(error), true);
    }
  };
  const {
    root: lines,
    tell,
    keepOpen,
  } = transcript(
    (decision, answer, text, child = id) =>
      act(async () => {
        await call(`${path(child)}/decisions`, { decision, answer, text });
        return `${decision}: ${answer.replace('-', ' ')}`;
      }),
    reader(id),
  );
  const scroller = el('div', { class: 'scroller', tabindex: '0' }, lines);
  const buttons = actions((verb) =>
    act(async () => {
      const answer = await call(`${path(id)}/${verb}`, {});
      if (verb !== 'fork') return outcome(verb, answer);
      location.hash = `/${answer.session}`;
      return answer.rule;
    }),
  );
  const drawAside = aside();
  const beside = el('aside', { class: 'beside', 'aria-label': 'State of the session' });
  const title = el('h1', {}, seen.title);
  const toggle = el('button', { type: 'button', 'data-toggle': 'beside', 'aria-pressed': 'false' }, 'state');
  const root = el(
    'div',
    { class: 'session' },
    el(
      'div',
      { class: 'heading' },
      el('div', {}, title, el('code', { class: 'session-id' }, id)),
      buttons.root,
    ),
    scroller,
    composer(id, act, said),
    beside,
  );

  buttons.root.prepend(recallField(id, act), ...reportButton(id, act), toggle);
  toggle.addEventListener('click', () => {
    toggle.setAttribute('aria-pressed', String(root.classList.toggle('shows-beside')));
  });

  return {
    root,
    tell(event) {
      const isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 120;
      tell(event);
      if (isAtEnd) scroller.scrollTop = scroller.scrollHeight;
    },
    refresh(now) {
      root.dataset.phase = now.phase;
      buttons.enable(now);
      beside.replaceChildren(...drawAside(now));
      keepOpen(now);
    },
    offerEarlier(head) {
      const button = el('button', { type: 'button', class: 'earlier' }, `Show the ${head} events before`);
      button.addEventListener('click', () => showEarlier(id, head, lines, button));
      lines.before(button);
    },
  };
}

const reader = (id) => (file, at, from) =>
  call(`${path(id)}/file?path=${encodeURIComponent(file)}&at=${at}&from=${from}`);

/** The older part of the log as a transcript of its own, above the one that goes on. */
async function showEarlier(id, head, lines, button) {
  button.disabled = true;
  const earlier = transcript(() => {}, reader(id));
  for (let after = 0; after < head; ) {
    const page = await call(`${path(id)}/events?after=${after}&limit=1000`);
    for (const event of page.events) if (event.seq <= head) earlier.tell(event);
    after = page.after;
    if (page.events.length === 0) break;
  }
  button.remove();
  lines.before(earlier.root);
}

function actions(run) {
  const button = (verb) =>
    el('button', { type: 'button', 'data-verb': verb, on: { click: () => run(verb) } }, verb);
  const all = Object.fromEntries(
    ['pause', 'resume', 'interrupt', 'fork', 'stop', 'reopen'].map((verb) => [verb, button(verb)]),
  );
  return {
    root: el('div', { class: 'actions' }, ...Object.values(all)),
    enable({ phase, turn }) {
      const isOver = ['stopped', 'stopping', 'deleting', 'deleted'].includes(phase);
      all.pause.hidden = isOver || phase === 'paused';
      all.resume.hidden = phase !== 'paused';
      all.interrupt.hidden = isOver || turn === null;
      all.stop.hidden = isOver;
      all.reopen.hidden = phase !== 'stopped';
    },
  };
}

function outcome(verb, { phase, status }) {
  return `${verb}: ${(status ?? phase).replace('_', ' ')}`;
}

function composer(id, act, said) {
  const text = el('textarea', {
    rows: '2',
    name: 'message',
    placeholder: 'Say something to it',
    'aria-label': 'Message',
  });
  const when = el(
    'select',
    { name: 'when', 'aria-label': 'When it is read' },
    el('option', { value: 'next' }, 'next: before its next step'),
    el('option', { value: 'later' }, 'later: after the response'),
    el('option', { value: 'now' }, 'now: cut in'),
  );
  let key = newKey();
  const send = () =>
    act(async () => {
      const message = text.value;
      if (message.trim() === '') return '';
      // The key is renewed only once the receipt is here: sending again after a lost answer is the same message.
      const receipt = await call(`${path(id)}/messages`, { message, when: when.value }, key);
      key = newKey();
      text.value = '';
      return `${receipt.message}: ${receipt.rule}`;
    });
  text.addEventListener('input', () => {
    key = newKey();
  });
  text.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  });
  const form = el(
    'form',
    { class: 'composer' },
    text,
    el(
      'div',
      { class: 'row' },
      when,
      el('span', { class: 'grow' }),
      said,
      el('button', { class: 'primary' }, 'Send'),
    ),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send();
  });
  return form;
}
