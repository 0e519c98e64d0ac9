/**
 * 3. Fork determinism: two forks of one checkpoint, told the same, end alike; the original does not notice.
 *
 * Violated: the two forks' conversations differ; the original's durable transcript is not byte for byte what it was; an
 * effect from before the checkpoint is done again; or the forks' own effects are not done once for each of them.
 */

import { type Clause, difference } from '../clause.ts';
import { World } from '../world.ts';

export const forks: Clause = {
  name: 'fork determinism',
  title: 'two forks of one checkpoint with the same model end alike; the original is untouched',
  async judge(lives) {
    const world = new World();
    const life = await lives.open(await lives.folder(), world);
    const session = await life.start('do[one] keyed before; say One is done');
    await life.rest(session);
    const at = (await life.checkpoints(session)).at(-1) ?? '';
    await life.send(session, 'do[two] keyed after; say Two is done', 'second');
    await life.rest(session);
    const original = await life.transcript(session);

    const ends: (readonly string[])[] = [];
    for (const key of ['fork-a', 'fork-b']) {
      const fork = await life.fork(session, at);
      await life.send(fork, 'do[three] keyed forked; say Three is done', key);
      await life.rest(fork);
      ends.push(await life.conversation(fork));
    }
    const [a = [], b = []] = ends;
    const violations: string[] = [];
    const differs = difference(a, b);
    if (differs) violations.push(`the forks differ at ${differs}`);
    if (!a.includes('answer: Three is done')) violations.push('a fork came to no answer');
    if (a.some((line) => line.includes('[two]')))
      violations.push('a fork has what came after its checkpoint');
    if (!a.includes('answer: One is done')) violations.push('a fork lacks what stood before its checkpoint');
    const changed = difference(original, await life.transcript(session));
    if (changed) violations.push(`the original is not what it was, at ${changed.slice(0, 200)}`);
    for (const [what, wanted] of [
      ['before', 1],
      ['after', 1],
      ['forked', 2],
    ] as const) {
      if (world.times(what) !== wanted) violations.push(`"${what}" was done ${world.times(what)} times`);
    }
    return {
      violations,
      evidence: [`${a.length} lines in each fork, the original kept its ${original.length} entries`],
    };
  },
};
