// Events become the transcript: messages, progress, cells with code and output, effects, questions, responses.
// An event adds something at the end, or changes what an earlier one added; nothing is drawn anew.

import { endWords, givesUp, keyOf, linkTo, partialOf } from './children.js';
import { el, headline, shortTarget, statusBadge } from './dom.js';
import { questionCard } from './question.js';
import { shownPlots, shownResult } from './result.js';

/** What is not over, in the words of its badge. */
const UNDER_WAY = ['intended', 'dispatched', 'unknown', 'unclear', 'running'];

/**
 * `decide(decision, answer, text, child?)` is called when a person answers a question; `readFile(path, at, from)` gives a piece of a
 * file of the session as it stood at an event.
 */
export function transcript(decide, readFile) {
  const root = el('div', { class: 'transcript', 'aria-live': 'polite' });
  const messages = new Map();
  const cells = new Map();
  const effects = new Map();
  const questions = new Map();
  /** Of children: their titles, whose report each open question came with, and of what notice was given. */
  const titles = new Map();
  const asks = new Map();
  const noticed = new Map();
  let whisper = null;
  /** Plots whose files stand in the commit behind the settlement, if they changed with it. */
  let plotsDue = null;
  /** Whether a model is writing: what is whispered late belongs to a reply that stands here already. */
  let isWriting = false;

  const add = (node) => {
    root.append(node);
    if (whisper) root.append(whisper);
    return node;
  };
  const note = (text, kind = '') => add(el('p', { class: `note ${kind}` }, text));
  const hush = () => {
    isWriting = false;
    whisper?.remove();
    whisper = null;
  };

  function whispered({ text }) {
    if (!isWriting) return;
    whisper ??= root.appendChild(el('p', { class: 'whisper' }));
    whisper.append(text);
  }

  function accepted(e) {
    const state = el('span', { class: 'receipt' }, e.rule);
    add(
      el(
        'article',
        { class: 'message' },
        el('p', { class: 'said' }, e.text),
        el('footer', {}, `${e.message} · `, state, e.when === 'next' ? '' : ` · ${e.when}`, imagesOf(e)),
      ),
    );
    messages.set(e.message, state);
  }

  function imagesOf({ images }) {
    if (images.length === 0) return '';
    return images.length === 1 ? ' · 1 image' : ` · ${images.length} images`;
  }

  function read(e) {
    for (const id of e.messages) messages.get(id)?.replaceChildren(`read in turn ${e.turn}, step ${e.step}`);
  }

  function cellStarted(e) {
    const state = el('span', { class: 'badge status-dispatched' }, 'running');
    const output = el('pre', { class: 'output', hidden: true });
    const list = el('ul', { class: 'effects' });
    const summary = el(
      'summary',
      {},
      el('span', { class: 'id' }, e.cell),
      el('span', { class: 'headline' }, headline(e.source)),
      state,
    );
    const code = el('details', {}, summary, el('pre', { class: 'code' }, e.source));
    cells.set(e.cell, { state, output, list });
    add(el('section', { class: 'cell' }, code, list, output));
  }

  function cellCommitted(e) {
    const cell = cells.get(e.cell);
    if (cell) print(cell, e.output);
    for (const { cell: id, end } of e.ended) {
      const ended = cells.get(id);
      if (!ended) continue;
      show(ended, end.status);
      if (end.status === 'failed') print(ended, `${end.error}\n`);
    }
  }

  function cellAborted(e) {
    const cell = cells.get(e.cell);
    if (!cell) return;
    show(cell, 'failed');
    print(cell, `${e.output}${e.message}\n`);
  }

  /** A badge that was drawn is drawn as another status. */
  function show(part, status) {
    const badge = statusBadge(status);
    part.state.replaceWith(badge);
    part.state = badge;
  }

  function print({ output }, text) {
    if (text === '') return;
    output.hidden = false;
    output.append(text);
  }

  function intended(e) {
    const state = statusBadge('intended');
    const how = el('span', { class: 'how' });
    const item = el(
      'li',
      { class: `effect ${e.capability.kind}`, title: e.target },
      el('span', { class: 'id' }, e.effect),
      el('span', { class: 'tool' }, e.tool),
      el('span', { class: 'target' }, shortTarget(e.target)),
      el('span', { class: 'capability' }, e.capability.kind),
      state,
      how,
    );
    const list = e.origin.by === 'cell' ? cells.get(e.origin.cell)?.list : null;
    const ran = !list && e.tool === 'python' ? pythonCell(e, item) : null;
    effects.set(e.effect, { state, how, ran });
    if (list) list.append(item);
    else if (!ran) add(el('ul', { class: 'effects alone' }, item));
  }

  /** A cell of Python is one effect: its code, its line of the ledger, and room for what it gives. */
  function pythonCell(e, item) {
    const code = String(e.args.code ?? '');
    const ran = el('div', { class: 'given' });
    const summary = el('summary', {}, el('span', { class: 'headline' }, headline(code)));
    const details = el('details', {}, summary, el('pre', { class: 'code' }, code));
    add(el('section', { class: 'cell' }, details, el('ul', { class: 'effects' }, item), ran));
    return ran;
  }

  function gave(id, seq, result) {
    const { ran } = effects.get(id) ?? {};
    if (!ran || result === null || typeof result !== 'object') return;
    ran.replaceChildren(...shownResult(result));
    if (result.plots?.length > 0) plotsDue = { id, seq, ran, plots: result.plots };
  }

  /** With the event behind a settlement it is known at which one its files stand. */
  function showPlots(e) {
    if (plotsDue === null || e.seq === plotsDue.seq) return;
    const { id, seq, ran, plots } = plotsDue;
    plotsDue = null;
    const isCommit = e.kind === 'workspace.committed' && e.effect === id;
    ran.append(...shownPlots(plots, isCommit ? e.seq : seq, readFile));
  }

  function turned(id, status, how = '') {
    const effect = effects.get(id);
    if (!effect) return;
    show(effect, status);
    if (how !== '') effect.how.replaceChildren(how);
  }

  function requested(e) {
    ask(e.decision, e, e.seq, (option, text) => decide(e.decision, option, text));
  }

  /** A card with the buttons that answer it, under a key that tells it from others. */
  function ask(key, asked, seq, answer) {
    const { card, answers } = questionCard(asked, answer);
    questions.set(key, { card, answers, seq });
    add(card);
  }

  /** It can be answered no more: the buttons go, and what was asked stays. */
  function closed(id, why) {
    const question = questions.get(id);
    if (!question || question.card.classList.contains('closed')) return;
    question.card.classList.add('closed');
    question.answers.replaceChildren(why);
  }

  /** What an inspection that knew of them does not show as open is open no more. */
  function keepOpen({ decisions, children, head }) {
    const ofChildren = children.flatMap((child) => child.questions.map(keyOf));
    const open = new Set([...decisions.map(({ id }) => id), ...ofChildren]);
    for (const [id, { seq }] of questions)
      if (seq <= head && !open.has(id)) closed(id, 'needs no answer any more');
  }

  function made(e) {
    const question = questions.get(e.decision);
    if (!question) return note(`${e.decision}: ${e.answer}, by ${e.by}`);
    question.card.classList.add('closed');
    const words = e.text === '' ? '' : `: ${e.text}`;
    question.answers.replaceChildren(el('strong', {}, e.answer.replace('-', ' ')), `${words} — ${e.by}`);
  }

  /** What was open where a fork begins is the original's, and cannot be answered here. */
  function leaveOpen() {
    for (const part of [...effects.values(), ...cells.values()]) {
      if (UNDER_WAY.includes(part.state.textContent)) show(part, 'left');
    }
    for (const { card, answers } of questions.values()) {
      if (card.classList.contains('closed')) continue;
      card.classList.add('closed');
      answers.replaceChildren('left with the original');
    }
  }

  function surfaced(e) {
    hush();
    const cut = e.complete ? '' : el('footer', {}, 'cut off at the output limit');
    const text = el('p', { class: 'said' }, e.text);
    add(el('article', { class: 'response' }, text, cut, partialOf(e), claimed(e.claims)));
  }

  function spawned({ child, title }) {
    titles.set(child, title);
    note('Child ').append(linkTo(child, title));
  }

  /** What it asks is answered in its own session, with the same buttons. */
  function reported({ child, result, standing, seq }) {
    if (result) {
      const line = note('Child ', result.end === 'surfaced' || result.ordered ? '' : 'warn');
      line.append(linkTo(child, titles.get(child)), ` ${endWords(result)}`);
      if (!result.ordered) add(el('blockquote', { class: 'of-child' }, result.text));
    }
    for (const [one, words] of newNotices(child, standing))
      note('Child ', 'warn').append(linkTo(one.session, titles.get(one.session)), words);
    const open = new Set(standing.questions.map(keyOf));
    for (const asked of standing.questions) {
      const key = keyOf(asked);
      const { session, decision } = asked;
      if (questions.has(key)) continue;
      ask(key, { ...asked, why: `asked by child ${session}`, expiresAt: null }, seq, (option, text) =>
        decide(decision, option, text, session),
      );
      asks.set(key, child);
    }
    for (const [key, of] of asks) if (of === child && !open.has(key)) closed(key, 'needs no answer any more');
  }

  /** What a child is to lose, and what is gone after all, that was not told before. */
  function newNotices(child, { notices = [], gone = [] }) {
    const all = [
      ...notices.map((one) => [`${one.session} ${one.about} ${one.since}`, one, givesUp(one)]),
      ...gone.map((one) => [`gone ${one.session} ${one.about} ${one.since}`, one, ` has lost ${one.what}`]),
    ];
    const before = noticed.get(child) ?? new Set();
    noticed.set(child, new Set(all.map(([key]) => key)));
    return all.filter(([key]) => !before.has(key)).map(([, one, words]) => [one, words]);
  }

  /** What stands outside by the ledger, whatever the words above say. */
  function claimed(claims) {
    if (claims.length === 0) return '';
    const rows = claims.map(({ effect, target, status, receipt, session }) =>
      el(
        'li',
        { title: session ? `${target}, by child ${session}` : target },
        el('span', { class: 'id' }, session ? `child ${effect}` : effect),
        el('span', { class: 'target' }, shortTarget(target)),
        statusBadge(status),
        receipt === null ? '' : el('span', { class: 'how' }, receipt),
      ),
    );
    return el('ul', { class: 'claims', 'aria-label': 'What stands outside, by the ledger' }, ...rows);
  }

  const tell = {
    whisper: whispered,
    'session.started': (e) => note(`${e.model} · ${e.persist ? 'kept open' : 'one-shot'}`),
    'message.accepted': accepted,
    'message.read': read,
    'turn.started': (e) => add(el('h3', { class: 'turn' }, `Turn ${e.turn}`)),
    'step.started': () => {
      isWriting = true;
    },
    'model.completed': hush,
    'model.failed': (e) => {
      hush();
      isWriting = e.retry;
      note(`The model call failed: ${e.message}${e.retry ? ' It is tried again.' : ''}`, 'warn');
    },
    'call.refused': (e) => note(`Refused: ${e.message}`, 'warn'),
    'progress.noted': (e) => note(e.text, 'progress'),
    'cell.started': cellStarted,
    'cell.committed': cellCommitted,
    'cell.aborted': cellAborted,
    'effect.intended': intended,
    'effect.dispatched': (e) => turned(e.effect, 'dispatched', e.attempt > 1 ? `attempt ${e.attempt}` : ''),
    'effect.settled': ({ effect, outcome, seq }) => {
      turned(effect, outcome.status, outcome.status === 'done' ? '' : (outcome.message ?? outcome.reason));
      gave(effect, seq, outcome.result ?? null);
    },
    'effect.reconciled': (e) => {
      turned(e.effect, e.finding.status, `known by ${e.evidence}: ${e.note}`);
      gave(e.effect, e.seq, e.finding.result ?? null);
    },
    'effect.refused': (e) => turned(e.effect, 'withdrawn', e.message),
    'child.spawned': spawned,
    'child.instructed': ({ child }) => note('Child ').append(linkTo(child, titles.get(child)), ' goes on'),
    'child.reported': reported,
    'decision.requested': requested,
    'decision.made': made,
    'decision.expired': (e) => closed(e.decision, 'expired: nobody answered in time'),
    'response.surfaced': surfaced,
    'turn.failed': (e) => {
      hush();
      const line = note(`Turn ${e.turn} failed: ${e.reason}`, 'bad');
      line.append(partialOf(e), claimed(e.claims));
    },
    'turn.interrupted': (e) => {
      hush();
      note(`Turn ${e.turn} was interrupted by ${e.by}.`, 'warn');
    },
    'heap.restored': (e) => e.note !== '' && note(`Sandbox restored (${e.rung}): ${e.note}`),
    'workspace.opened': (e) =>
      e.note !== '' && note(`Files ${e.rung}: ${e.note}`, e.rung === 'restored' ? '' : 'warn'),
    'workspace.committed': (e) =>
      e.why === 'drift' &&
      note(
        `Files were changed by somebody else: ${e.changed.paths.map((one) => one.path).join(', ')}.`,
        'warn',
      ),
    'workspace.set': (e) => note(`Files ${e.why} from ${e.from}, by ${e.by}.`),
    'lease.acquired': (e) =>
      !e.clean && e.epoch > 1 && note(`The worker before was lost. Taken over, epoch ${e.epoch}.`, 'warn'),
    'session.paused': (e) => note(`Paused by ${e.by}.`, 'warn'),
    'session.resumed': (e) => note(`Resumed by ${e.by}.`),
    'session.stopping': (e) => note(`Stop asked for by ${e.by}.`),
    'session.stopped': (e) =>
      note(`Stopped.${e.unknown.length > 0 ? ` Outcome unknown: ${e.unknown.join(', ')}.` : ''}`, 'end'),
    'session.reopened': (e) => note(`Reopened by ${e.by}.`),
    'session.queued': (e) => note(`All slots are taken: it waits for one, at place ${e.place}.`, 'warn'),
    'session.admitted': () => note('It has a slot and goes on.'),
    'session.parked': () => note('Parked. The next message wakes it with all it has.'),
    'kernel.noticed': (e) =>
      e.unsaved.length > 0 &&
      note(
        `Python objects are given up at ${new Date(e.until).toLocaleString()}, unless something comes in: ` +
          `${e.unsaved.map(({ name }) => name).join(', ')}.`,
        'warn',
      ),
    'retention.noticed': (e) =>
      note(`It is deleted at ${new Date(e.until).toLocaleString()}, unless something comes in.`, 'warn'),
    'retention.deferred': (e) => note(`Not deleted yet: ${e.why}.`),
    'retention.over': () => note('Its notice is over: it is being deleted.', 'end'),
    'session.deleting': (e) => note(`Deletion ordered by ${e.by}.`, 'end'),
    'session.deleted': (e) =>
      note(
        `Deleted ${e.cause.by === 'order' ? `by order of ${e.cause.who}` : "by its owner's policy, after a notice"}. ` +
          `It had ${e.had.events} events, ${e.had.turns} turns, ${e.had.snapshots} snapshots of files, ${e.had.bytes} bytes.`,
        'end',
      ),
    'kernel.noted': (e) => {
      for (const { name, why } of e.lost) note(`Lost of Python: ${name}: ${why}`, 'warn');
    },
    'session.archived': () => note('Archived. The next message wakes it with all it has.'),
    'session.forked': (e) => {
      hush();
      leaveOpen();
      note(`A fork of ${e.from} at event ${e.head}, made by ${e.by}. What was in flight stays there.`, 'end');
    },
    'budget.exhausted': (e) => note(`It rests on the ${e.scope}'s budget.`, 'bad'),
    'budget.set': (e) => note(`The budget was changed by ${e.by}.`),
    'session.quarantined': (e) => note(`Quarantined: ${e.reason}`, 'bad'),
    foreign: (e) => note(`Event ${e.seq}: ${e.original}, which a newer version wrote.`, 'warn'),
  };

  return {
    root,
    tell(event) {
      if (event.kind !== 'whisper') showPlots(event);
      tell[event.kind]?.(event);
    },
    keepOpen,
    note,
  };
}
