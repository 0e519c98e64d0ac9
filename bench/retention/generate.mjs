// Owns: a made-up history of an agent: turns of a person's request, a call, its result and a response, over months. What it
// will be asked about stands somewhere among near duplicates: other clients with the same contacts, ids that differ in a
// digit, settings that were changed.
//
// G1  The same seed, half and length give the same history, character by character.
// G2  What is asked about is said as often in a long history as in a short one. What is like it grows with the length: other
//     clients with the same contacts, and other things about the very clients that are asked about.
// G3  Nothing else says what is asked for: the evidence is all there is.

import { random } from '../kit/random.mjs';
import { CITIES, capital, coined, EVENTS, FIRST, HALVES, SETTINGS, TOPICS } from './wording.mjs';

const DAY_MS = 24 * 3_600_000;
const BEGIN = Date.UTC(2031, 0, 1, 8);
const TURNS_A_DAY = 4;
const CHARS_A_TOKEN = 4;

/**
 * `turns`: each `{ at, message, call, row, response }`; `asked`: what a question needs to know, with the turns and the
 * members of them that are its evidence. About `tokens` tokens, and `perKind` questions of each kind.
 */
export function history({ seed, half, tokens, perKind }) {
  const r = random(seed);
  const wording = HALVES[half];
  const world = { ...worldOf(r, tokens), cast: Array.from({ length: CAST * perKind }, () => about(r)) };
  const turns = [];
  let chars = 0;
  while (chars < tokens * CHARS_A_TOKEN) {
    const turn = filler(r, world, wording, turns.length);
    chars += sizeOf(turn);
    turns.push(turn);
  }
  return { turns, asked: planted(r, world, wording, turns, perKind) };
}

const sizeOf = ({ message, call, row, response }) =>
  message.length + JSON.stringify(call).length + JSON.stringify(row).length + response.length;

/** Names grow with the length: a long history knows more clients, not the same ones more often. */
function worldOf(r, tokens) {
  const many = Math.round(30 + Math.sqrt(tokens) / 4);
  const unique = (make) => [...new Set(Array.from({ length: many }, make))];
  return {
    companies: unique(() => `${coined(r)} ${r.pick(['AG', 'Ltd', 'GmbH', 'Inc'])}`),
    people: unique(() => `${r.pick(FIRST)} ${coined(r)}`),
    services: unique(() => `${coined(r).toLowerCase()}-${r.pick(['api', 'worker', 'web', 'db'])}`),
    halls: unique(() => `${coined(r, 3)} ${r.pick(['hall', 'house', 'court'])}`),
  };
}

/** Those of kinds that are about somebody: value, fact, update, hop. */
const CAST = 4;
/** How often a remark is about somebody who is asked about. */
const KNOWN = 0.4;

function filler(r, world, wording, number) {
  const one = someone(r, world, true);
  const rows = Array.from({ length: r.between(2, 6) }, () => row(r, world, wording));
  return {
    at: BEGIN + Math.floor((number * DAY_MS) / TURNS_A_DAY) + r.below(3_600_000),
    message: r.chance(0.15) ? told(r, world, wording) : r.pick(REQUESTS)(one),
    call: {
      source: `const found = await client.${r.pick(VERBS)}({ of: ${JSON.stringify(one.company)}, page: ${r.below(40)} });`,
    },
    row: { rows, next: r.chance(0.3) ? r.digits(8) : null },
    response: Array.from({ length: r.between(1, 4) }, () => sentence(r, world, wording)).join(' '),
  };
}

const VERBS = ['invoices', 'accounts', 'visits', 'deployments', 'tickets'];
const REQUESTS = [
  ({ company }) => `Go through the invoices of ${company} and tell me what is open.`,
  ({ service }) => `Have a look at ${service}, it was slow this morning.`,
  ({ city, event }) => `How far are we with the ${event} in ${city}?`,
  ({ person, company }) => `Did ${person} of ${company} answer?`,
  ({ company, topic }) => `Sum up what we have on ${topic} at ${company}.`,
  ({ service }) => `Compare the errors of ${service} with last week.`,
  ({ id, company }) => `Is ${id} of ${company} still open?`,
];

/** Somebody of the world; with `isOpen` it may be one who is asked about. */
function someone(r, world, isOpen) {
  if (isOpen && r.chance(KNOWN)) return r.pick(world.cast);
  const [company, person, service, hall] = [world.companies, world.people, world.services, world.halls].map(
    r.pick,
  );
  const about = { company, person, service, hall, topic: r.pick(TOPICS), city: r.pick(CITIES) };
  return { ...about, event: r.pick(EVENTS), setting: r.pick(SETTINGS), id: invoice(r) };
}

/** Like what is asked about, and of others (G3); or about the same, and something else. */
function sentence(r, world, wording) {
  if (r.chance(0.12)) return r.pick(wording.facts).say(someone(r, world, false));
  return r.pick(REMARKS)(someone(r, world, true), r);
}

const REMARKS = [
  ({ company }, r) =>
    `${r.between(2, 40)} invoices of ${company} are open, the oldest since ${r.between(3, 90)} days.`,
  ({ service }, r) => `${service} answered in ${r.between(20, 900)} ms at the median.`,
  ({ person, company }) => `${person} wrote on behalf of ${company} and asks for a call.`,
  ({ city, event }) => `For the ${event} in ${city} two offers have come in.`,
  ({ service, setting }) => `I looked at the ${setting} of ${service} and left it as it is.`,
  ({ topic, company }) => `Nothing new on ${topic} at ${company}.`,
  () => 'All checks passed, and nothing else has changed.',
];

const invoice = (r) => `INV-${r.between(2029, 2034)}-${r.digits(4)}`;
const hash = (r) => Array.from({ length: 10 }, () => r.pick([...'0123456789abcdef'])).join('');

const values = (r, world) => ({
  id: invoice(r),
  hash: hash(r),
  company: r.pick(world.companies),
  service: r.pick(world.services),
  account: `${r.digits(4)}-${r.digits(2)}`,
  amount: `${r.between(1, 9)},${r.digits(3)}.${r.digits(2)}`,
  host: `${coined(r).toLowerCase()}${r.below(30)}.internal`,
});

/** What a person says of others, in the words in which they will say what is asked about (G3). */
function told(r, world, wording) {
  const other = { ...someone(r, world, false), phone: phone(r), value: `${r.digits(2)}:${r.digits(2)}` };
  const { first, changed } = r.pick(wording.updates);
  return r.pick([first, changed, r.pick(wording.hops).second, r.pick(wording.facts).say])(other);
}

const phone = (r) => `+41 ${r.digits(2)} ${r.digits(3)} ${r.digits(2)} ${r.digits(2)}`;

/** Now and then an id that differs in one digit from one that is asked about. */
function row(r, world, wording) {
  const near = r.pick(world.cast).id;
  const other = r.chance(0.2)
    ? near.slice(0, -1) + ((Number(near.at(-1)) + r.between(1, 9)) % 10)
    : invoice(r);
  return r.pick(wording.values).row({ ...values(r, world), id: other });
}

/** Who and what a question is about. */
const about = (r) => ({
  ...{
    id: invoice(r),
    hash: hash(r),
    account: `${r.digits(4)}-${r.digits(2)}`,
    host: `${coined(r).toLowerCase()}.internal`,
  },
  amount: `${r.between(1, 9)},${r.digits(3)}.${r.digits(2)}`,
  company: `${coined(r, 3)} ${r.pick(['AG', 'Ltd'])}`,
  person: `${r.pick(FIRST)} ${coined(r, 3)}`,
  service: `${coined(r, 3).toLowerCase()}-${r.pick(['api', 'db'])}`,
  hall: `${coined(r, 3)} hall`,
  city: r.pick(CITIES),
  event: `${coined(r).toLowerCase()} ${r.pick(EVENTS)}`,
  topic: r.pick(TOPICS),
  setting: r.pick(SETTINGS),
  phone: phone(r),
});

/** Puts what will be asked about into the turns, each into its own. */
function planted(r, world, wording, turns, perKind) {
  const free = turns.map((_, at) => at);
  const take = () => free.splice(r.below(free.length), 1)[0];
  const inOrder = (count) => Array.from({ length: count }, take).sort((a, b) => a - b);
  const say = (at, member, text) => {
    turns[at][member] = text;
    return { turn: at, member };
  };
  const cast = [...world.cast];
  const filled = (text, of) => text.replace(/\{(\w+)\}/g, (_, name) => of[name]);
  const each = (make) => Array.from({ length: perKind }, (_, number) => make(cast.pop(), number));

  const value = (of) => {
    const { row: made, ask } = r.pick(wording.values);
    const [first, at] = inOrder(2);
    say(first, 'message', `Look at ${of.id} and ${of.hash} when you have time.`);
    turns[at].row = { rows: [row(r, world, wording), made(of), row(r, world, wording)], next: null };
    return { kind: 'value', words: ask(of), evidence: [{ turn: at, member: 'row' }] };
  };
  const fact = (of, number) => {
    if (number % 2 === 1) {
      const { say: asks, answer, ask } = r.pick(wording.talks);
      const at = take();
      say(at, 'message', asks(of));
      return { kind: 'fact', words: ask(of), evidence: [say(at, 'response', answer(of))] };
    }
    const { say: says, ask } = r.pick(wording.facts);
    return {
      kind: 'fact',
      words: ask(of),
      evidence: [say(take(), r.pick(['message', 'response']), says(of))],
    };
  };
  const update = (of) => {
    const { first, changed, ask } = r.pick(wording.updates);
    const [a, b, c] = inOrder(3);
    const versions = ['22:00', '06:30', '14:15'].map((time, at) => ({
      ...of,
      value: `${time}/${at + r.below(90)}`,
    }));
    say(a, 'message', first(versions[0]));
    say(b, 'message', changed(versions[1]));
    return { kind: 'update', words: ask(of), evidence: [say(c, 'message', changed(versions[2]))] };
  };
  const hop = (of) => {
    const { first, second, ask } = r.pick(wording.hops);
    const [a, b] = [take(), take()];
    return {
      kind: 'hop',
      words: ask(of),
      evidence: [say(a, 'response', first(of)), say(b, 'message', second(of))],
    };
  };
  const standing = (kind, list) =>
    list.slice(0, perKind).map(([rule, task]) => ({
      kind,
      words: filled(task, r.pick(world.cast)),
      evidence: [say(take(), 'message', rule)],
    }));
  const day = () => {
    const from = Math.floor(r.below(Math.max(1, turns.length - TURNS_A_DAY)) / TURNS_A_DAY) * TURNS_A_DAY;
    const date = new Date(turns[from].at);
    const name = `${date.getUTCDate()} ${capital(MONTHS[date.getUTCMonth()])} ${date.getUTCFullYear()}`;
    const same = turns.flatMap(({ at }, turn) =>
      sameDay(at, turns[from].at) ? [{ turn, member: 'message' }] : [],
    );
    return { kind: 'day', words: r.pick(wording.days)({ day: name }), evidence: same };
  };

  return [
    ...each(value),
    ...each(fact),
    ...each(update),
    ...each(hop),
    ...standing('rule', wording.rules),
    ...standing('preference', wording.wishes),
    ...Array.from({ length: perKind }, day),
  ];
}

const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
);
const sameDay = (a, b) => Math.floor(a / DAY_MS) === Math.floor(b / DAY_MS);
