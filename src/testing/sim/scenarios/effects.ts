/** What stands outside: services of each kind, slow ones, and answers that get lost. */

import { LEASE_MS } from '../machine.ts';
import { doing } from '../reply.ts';
import type { Scenario } from '../scenario.ts';

export const EFFECTS: readonly Scenario[] = [
  {
    name: 'effects side by side',
    isSmall: true,
    acts: [{ do: 'start', text: 'pay rent, mail Ada, look' }],
    wanted: { 'pay: rent': 1, 'mail: Ada': 1 },
    says: 'pay: done',
    reply: doing(['pay', { what: 'rent' }], ['mail', { what: 'Ada' }], ['look', { what: 'x' }]),
  },
  {
    name: 'a blind effect',
    isSmall: true,
    acts: [{ do: 'start', text: 'post it' }],
    wanted: { 'post: it': 1 },
    says: 'post: done',
    reply: doing(['post', { what: 'it' }]),
  },
  {
    name: 'nobody to ask',
    modes: ['crash', 'freeze', 'contend', 'outage'],
    acts: [{ do: 'start', text: 'post it', leavesOpen: true }, { do: 'wait', ms: 20_000 }, { do: 'rest' }],
    wanted: { 'post: it': 1 },
    says: 'post: done',
    reply: doing(['post', { what: 'it' }]),
  },
  {
    name: 'a blind effect, and its answer gets lost',
    modes: ['crash', 'freeze', 'contend', 'overtake', 'outage'],
    acts: [{ do: 'start', text: 'post it' }],
    prepare(world) {
      world.loseAnswers.set('post', 1);
    },
    wanted: { 'post: it': 1 },
    says: 'post: done',
    reply: doing(['post', { what: 'it' }]),
  },
  {
    name: 'slow services',
    // Who freezes in the act of sending, and goes on beside its successor, is as slow again: later than `lateMs`.
    modes: ['crash'],
    acts: [{ do: 'start', text: 'mail, book, look' }],
    // What was sent by a machine that dies at once arrives after its lease has ended, within `lateMs`.
    prepare(world) {
      for (const service of ['mail', 'book']) world.slow.set(service, LEASE_MS + 1_500);
    },
    wanted: { 'mail: b': 1, 'book: c': 1 },
    says: 'mail: done',
    reply: doing(['mail', { what: 'b' }], ['book', { what: 'c' }], ['look', { what: 'x' }]),
  },
  {
    name: 'an extra that can be undone',
    isSmall: true,
    acts: [{ do: 'start', text: 'book a seat' }],
    prepare(world) {
      world.loseAnswers.set('book', 1);
    },
    wanted: { 'book: seat': 1 },
    says: 'book: done',
    reply: doing(['book', { what: 'seat' }]),
  },
  {
    name: 'answers that get lost',
    acts: [{ do: 'start', text: 'pay, mail, post' }],
    prepare(world) {
      for (const service of ['pay', 'mail', 'post']) world.loseAnswers.set(service, 1);
    },
    wanted: { 'pay: a': 1, 'mail: b': 1, 'post: c': 1 },
    says: 'post: done',
    reply: doing(['pay', { what: 'a' }], ['mail', { what: 'b' }], ['post', { what: 'c' }]),
  },
];
