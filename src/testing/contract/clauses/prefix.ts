/**
 * 1. Prefix continuation: what was durable before a crash is, byte for byte and in its order, the beginning of what stands
 * after it.
 *
 * Three sessions are killed together: one while the model is asked for the first time, one in its second effect, and one
 * at rest. Violated: an entry of the transcript as it was read before the kill is missing, changed or elsewhere after
 * recovery; a message whose acceptance was acknowledged is not there; or a session does not go on to its answer.
 */

import { type Clause, isPrefix, recovered } from '../clause.ts';
import { World } from '../world.ts';

export const prefix: Clause = {
  name: 'prefix continuation',
  title: 'what was acknowledged before the crash is, byte for byte, a prefix of what stands after it',
  async judge(lives) {
    const world = new World();
    const folder = await lives.folder();
    world.hook('first.0', 'hold-before');
    world.hook('b2', 'hold-before');
    const life = await lives.open(folder, world);
    const scenarios = [
      ['in its first model call', await life.start('do[first] keyed a1; say First is done')],
      ['in its second effect', await life.start('do[second] keyed b1; keyed b2; say Second is done')],
      ['at rest', await life.start('do[third] keyed c1; say Third is done')],
    ] as const;
    await Promise.all([world.at('first.0'), world.at('b2'), life.rest(scenarios[2][1])]);
    const before = await Promise.all(scenarios.map(([, session]) => life.transcript(session)));
    await life.kill();

    const sessions = scenarios.map(([, session]) => session);
    const next = await recovered({ lives, world, folder }, sessions);
    const violations: string[] = [];
    const evidence: string[] = [];
    for (const [i, [where, session]] of scenarios.entries()) {
      const was = before[i] ?? [];
      const is = await next.transcript(session);
      const words = await next.conversation(session);
      evidence.push(`killed ${where}: ${was.length} entries before, ${is.length} after`);
      if (!isPrefix(was, is)) violations.push(`killed ${where}: what stood before is not a prefix`);
      if (words.filter((line) => line.startsWith('person: do[')).length !== 1)
        violations.push(`killed ${where}: the acknowledged message does not stand there once`);
      if (!words.at(-1)?.startsWith('answer: ')) violations.push(`killed ${where}: it came to no answer`);
    }
    return { violations, evidence };
  },
};
