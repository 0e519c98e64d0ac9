/**
 * 4. Checkpoint validity: every checkpoint that is listed can be opened, and work goes on from there.
 *
 * The session has been killed in an effect and has recovered before its checkpoints are listed. Each is opened, comes to
 * rest, and is told to do one thing more. Violated: one cannot be opened, does not come to an answer, or hands the model a
 * conversation that a provider would refuse (a call without its result). A runtime may go on from a checkpoint by itself and
 * do again what came after it, when that is how it means it: how often is told, and is no violation.
 */

import type { Clause } from '../clause.ts';
import { recovered } from '../clause.ts';
import type { Told } from '../port.ts';
import { World } from '../world.ts';

export const checkpoints: Clause = {
  name: 'checkpoint validity',
  title: 'every listed checkpoint can be opened and continued',
  async judge(lives) {
    const world = new World();
    const folder = await lives.folder();
    world.hook('mid', 'hold-after');
    const life = await lives.open(folder, world);
    const session = await life.start('do[one] keyed mid; say One is done');
    await world.at('mid');
    await life.kill();
    const next = await recovered({ lives, world, folder }, [session]);
    await next.send(session, 'do[two] keyed end; say Two is done', 'second');
    await next.rest(session);

    const listed = await next.checkpoints(session);
    const violations: string[] = [];
    for (const [i, checkpoint] of listed.entries()) {
      const which = `checkpoint ${i + 1} of ${listed.length}`;
      try {
        const fork = await next.fork(session, checkpoint);
        await next.rest(fork);
        await next.send(fork, `do[more${i}] keyed more${i}; say More is done`, `more-${i}`);
        await next.rest(fork);
        const words = await next.conversation(fork);
        if (words.at(-1) !== 'answer: More is done') violations.push(`${which} came to no answer`);
        if (world.times(`more${i}`) !== 1)
          violations.push(`${which}: one effect, done ${world.times(`more${i}`)} times`);
      } catch (error) {
        if (error instanceof Error && error.name === 'NotOffered') throw error;
        violations.push(`${which} cannot be used: ${error instanceof Error ? error.message : error}`);
      }
    }
    if (listed.length < 2) violations.push(`only ${listed.length} checkpoints are listed`);
    if (world.told.some(isBroken)) violations.push('the model was handed a call without its result');
    const again = world.times('mid') + world.times('end') - 2;
    return {
      violations,
      evidence: [
        `${listed.length} checkpoints opened and continued; effects of the original done again on the way: ${again}`,
      ],
    };
  },
};

/** As a provider judges: what the model has called for is answered before anybody else speaks. */
function isBroken(conversation: readonly Told[]): boolean {
  let owed = 0;
  for (const told of conversation) {
    if (told.role === 'result') owed--;
    else if (owed !== 0) return true;
    else owed = told.role === 'assistant' ? told.calls.length : 0;
  }
  return owed !== 0;
}
