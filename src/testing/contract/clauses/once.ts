/**
 * 5. Consume once: a message or a decision that is delivered twice is consumed once, also with a crash in between.
 *
 * A message is sent again under its key once while it is worked on and once after a kill. An answer to a person's
 * question is given again right after it was taken, and after a kill, when the next question stands open. Violated: the
 * message stands twice or its work is done twice; the answer is used twice, or for the other question.
 * A second delivery may be refused in so many words: that is no violation.
 */

import { type Clause, count, recovered } from '../clause.ts';
import { World } from '../world.ts';

const MESSAGE = 'do[again] blind once; say Again is done';

export const once: Clause = {
  name: 'consume once',
  title: 'a message or a decision that is delivered twice, or with a crash right after, is consumed once',
  async judge(lives) {
    const world = new World();
    const folder = await lives.folder();
    const life = await lives.open(folder, world);
    const talk = await life.start('do[hello] say Hello');
    const asks = await life.start('do[asks] ask First?; blind paid; ask Second?; say Both are answered');
    await Promise.all([life.rest(talk), life.rest(asks)]);

    const [first] = await life.questions(asks);
    if (!first) return { violations: ['no question reached the person'], evidence: [] };
    await life.decide(asks, first.id, 'yes to the first');
    await refusable(life.decide(asks, first.id, 'yes to the first'));
    await life.rest(asks);
    world.hook('again.1', 'hold-before');
    await life.send(talk, MESSAGE, 'key-1');
    await world.at('again.1');
    await refusable(life.send(talk, MESSAGE, 'key-1'));
    await life.kill();

    const next = await recovered({ lives, world, folder }, [talk, asks]);
    await refusable(next.send(talk, MESSAGE, 'key-1'));
    await refusable(next.decide(asks, first.id, 'yes to the first'));
    await next.rest(talk);
    await next.rest(asks);

    const violations: string[] = [];
    const words = await next.conversation(talk);
    const stands = count(words, `person: ${MESSAGE}`);
    const answers = count(words, 'answer: Again is done');
    if (stands !== 1) violations.push(`the message stands ${stands} times`);
    if (answers !== 1) violations.push(`the message was answered ${answers} times`);
    if (world.times('once') !== 1)
      violations.push(`the work of the message was done ${world.times('once')} times`);
    if (world.times('paid') !== 1)
      violations.push(`the work of the decision was done ${world.times('paid')} times`);
    const open = (await next.questions(asks)).map(({ text }) => text);
    if (!(open.length === 1 && open[0]?.includes('Second?')))
      violations.push(`open should be the second question alone, and is: ${open.join(', ') || 'none'}`);
    const evidence = [
      `message: delivered 3 times, stands ${stands} times, answered ${answers} times, its effect done ${world.times('once')} times`,
      `decision: delivered 3 times, its effect done ${world.times('paid')} times, open afterwards: ${open.join(', ') || 'none'}`,
    ];
    return { violations, evidence };
  },
};

/** A second delivery may be refused. That the runtime cannot take it at all is another matter. */
async function refusable(delivery: Promise<void>): Promise<void> {
  await delivery.catch((error: Error) => {
    if (error.name === 'NotOffered') throw error;
  });
}
