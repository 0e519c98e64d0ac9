/**
 * 6. Recovery determinism: two copies of one folder, recovered apart from each other, come to the same.
 *
 * Copied after a kill in the middle of effects of each service, with the outside copied too. Violated: conversations,
 * open questions or what the books have gained differ.
 */

import { type Clause, difference, recovered, SERVICES } from '../clause.ts';
import { World } from '../world.ts';

export const recovery: Clause = {
  name: 'recovery determinism',
  title: 'recovering two copies of one folder gives the same',
  async judge(lives) {
    const world = new World();
    const folder = await lives.folder();
    const life = await lives.open(folder, world);
    const sessions: string[] = [];
    for (const service of SERVICES) {
      world.hook(`${service}2`, 'hold-after');
      sessions.push(
        await life.start(`do[${service}] ${service} ${service}1; ${service} ${service}2; say It is done`),
      );
      await world.at(`${service}2`);
    }
    await life.kill();

    const copies: { folder: string; world: World }[] = [];
    for (let i = 0; i < 2; i++) copies.push({ folder: await lives.copy(folder), world: world.clone() });
    const ends: string[][] = [];
    for (const copy of copies) {
      const next = await recovered({ lives, ...copy }, sessions);
      const lines: string[] = [];
      for (const session of sessions) {
        lines.push(...(await next.conversation(session)));
        lines.push(...(await next.questions(session)).map(({ text }) => `open: ${text}`));
      }
      const gained = copy.world.books.map(({ what }) => what).sort();
      ends.push([...lines, `books: ${gained.join(' ')}`]);
      await next.kill();
    }
    const [a = [], b = []] = ends;
    const differs = difference(a, b);
    const isIdle = a.filter((line) => line.startsWith('answer: ') || line.startsWith('open: ')).length < 3;
    const violations = [
      ...(differs ? [`the copies differ at ${differs}`] : []),
      ...(isIdle ? ['a recovered session neither answered nor asked'] : []),
    ];
    return { violations, evidence: [`${a.length} lines in each copy; ${a.at(-1)}`] };
  },
};
