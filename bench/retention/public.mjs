// locomo, locomoBm25, beam, beamBm25: the same findability on two public sets, for whoever has them on disk. Formats as in
// README.md; null when they are not given.

import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { byKind, find, mean } from './find.mjs';
import { session } from './session.mjs';

export const names = ['locomo', 'locomoBm25', 'beam', 'beamBm25'];

const HOUR_MS = 3_600_000;

export async function measure({ locomo, beam }) {
  const sets = { locomo: locomo ? locomoIn(locomo) : [], beam: beam ? beamIn(beam) : [] };
  const figures = {};
  const details = {};
  for (const [name, conversations] of Object.entries(sets)) {
    const rows = [];
    for (const { events, questions } of conversations) {
      const on = await session(events);
      rows.push(...(await find(on, events, questions)));
      await on.end();
    }
    figures[name] = mean(rows, 'ours');
    figures[`${name}Bm25`] = mean(rows, 'plain');
    if (rows.length > 0) details[name] = { questions: rows.length, byKind: byKind(rows) };
  }
  return { figures, details };
}

const CATEGORIES = { 1: 'multi-hop', 2: 'temporal', 3: 'open-domain', 4: 'single-hop', 5: 'adversarial' };

/** `locomo10.json`: conversations of two people, each turn with an id that questions name as their evidence. */
export function locomoIn(file) {
  return JSON.parse(readFileSync(file, 'utf8')).map(({ conversation, qa }) => {
    const events = [];
    const places = new Map();
    for (let number = 1; conversation[`session_${number}`]; number++) {
      const at = spoken(conversation[`session_${number}_date_time`]) ?? events.at(-1)?.at ?? 0;
      for (const { speaker, dia_id: id, text, blip_caption: caption } of conversation[`session_${number}`]) {
        events.push(said(events, at, `${speaker}: ${text}${caption ? ` [shows ${caption}]` : ''}`));
        places.set(id, events.length);
      }
    }
    const questions = qa.flatMap(({ question, evidence = [], category }) => {
      const ids = evidence.flatMap((one) => String(one).match(/D\d+:\d+/g) ?? []);
      return asked(CATEGORIES[category] ?? 'other', question, ids, places);
    });
    // Of an adversarial question the evidence speaks of somebody else.
    return { events, questions: questions.filter(({ kind }) => kind !== 'adversarial') };
  });
}

/** `1:56 pm on 8 May, 2023` */
function spoken(text = '') {
  const [, hour, minute, half, day, month, year] =
    /(\d+):(\d+) (am|pm) on (\d+) (\w+),? (\d{4})/.exec(text) ?? [];
  if (year === undefined) return undefined;
  return (
    Date.parse(`${day} ${month} ${year} UTC`) +
    ((Number(hour) % 12) + (half === 'pm' ? 12 : 0)) * HOUR_MS +
    Number(minute) * 60_000
  );
}

/** A folder with any number of `chat.json` in it, each beside `probing_questions/probing_questions.json`. */
export function beamIn(folder) {
  const chats = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((path) => basename(path) === 'chat.json')
    .sort();
  return chats.map((path) => {
    const chat = JSON.parse(readFileSync(join(folder, path), 'utf8'));
    const beside = join(folder, dirname(path), 'probing_questions', 'probing_questions.json');
    const events = [];
    const places = new Map();
    let at = 0;
    for (const { role, id, content, time_anchor: anchor } of messagesIn(chat)) {
      at = Math.max(at, Date.parse(`${anchor} UTC`) || 0);
      events.push(said(events, at, content, role));
      // An id that stands twice tells nothing.
      places.set(id, places.has(id) ? null : events.length);
    }
    const questions = Object.entries(JSON.parse(readFileSync(beside, 'utf8'))).flatMap(([kind, list]) =>
      list.flatMap(({ question, source_chat_ids: ids }) => asked(kind, question, numbersIn(ids), places)),
    );
    return { events, questions };
  });
}

/** Messages in their order, wherever batches, plans and turns keep them. */
function messagesIn(node) {
  if (Array.isArray(node)) return node.flatMap(messagesIn);
  if (typeof node !== 'object' || node === null) return [];
  return typeof node.content === 'string' && node.role ? [node] : Object.values(node).flatMap(messagesIn);
}

function numbersIn(node) {
  if (typeof node === 'number') return [node];
  return typeof node === 'object' && node !== null ? Object.values(node).flatMap(numbersIn) : [];
}

/** One without evidence, or with some that is not there, asks for nothing that could be found. */
function asked(kind, words, ids, places) {
  const evidence = [...new Set(ids)].flatMap((id) => places.get(id) ?? []);
  return evidence.length === 0 ? [] : [{ kind, words, evidence }];
}

function said(events, at, text, role = 'user') {
  const stamp = { seq: events.length + 1, at: Math.max(at, events.at(-1)?.at ?? 0) };
  if (role === 'user') {
    const message = { message: `m${stamp.seq}`, key: null, text, images: [], when: 'next', rule: '' };
    return { kind: 'message.accepted', ...message, ...stamp };
  }
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
  const parts = [{ type: 'text', text }];
  return {
    kind: 'model.completed',
    turn: 1,
    step: 1,
    model: 'public',
    parts,
    finish: 'stop',
    usage,
    cost: null,
    ms: 0,
    ...stamp,
  };
}
