/**
 * 7. Unknown is not failure: where an effect was applied and its answer was lost, nobody is told that it failed.
 *
 * The connection breaks after each service has applied a request, in a process that lives on; and a process is killed
 * there. While it is open, the person asks how things stand. Violated: a result that the model gets, or anything that
 * goes out to the person, calls the effect failed; or the process that lives on does it again over it. (What happens twice
 * after a kill is the matter of the second clause, and is not held against a runtime twice.)
 */

import { type Clause, recovered, SERVICES, toldOf } from '../clause.ts';
import { World } from '../world.ts';

export const unknown: Clause = {
  name: 'unknown is not failure',
  title: 'applied, and the answer lost: neither the model nor the person is told that it failed',
  async judge(lives) {
    const world = new World();
    const folder = await lives.folder();
    const life = await lives.open(folder, world);
    const cases: { what: string; how: string; session: string }[] = [];
    for (const service of SERVICES) {
      const what = `${service}torn`;
      world.hook(what, 'lose-answer');
      const session = await life.start(`do[${what}] ${service} ${what}; say That was it`);
      cases.push({ what, how: `${service}, connection torn`, session });
    }
    for (const { session } of cases) await life.rest(session);
    for (const service of SERVICES) {
      const what = `${service}killed`;
      world.hook(what, 'hold-after');
      const session = await life.start(`do[${what}] ${service} ${what}; say That was it`);
      cases.push({ what, how: `${service}, killed`, session });
      await world.at(what);
    }
    await life.kill();

    const sessions = cases.map(({ session }) => session);
    const next = await recovered({ lives, world, folder }, sessions);
    const violations: string[] = [];
    const evidence: string[] = [];
    for (const { what, how, session } of cases) {
      await next.send(session, 'do[how] say That is how it stands', `how-${what}`);
      await next.rest(session);
      const toModel = toldOf(world, what).map(({ status }) => status);
      const said = await next.statements(session);
      const toPerson = said.flatMap(({ effects }) =>
        effects.filter((e) => e.what === what).map((e) => e.status),
      );
      const questions = (await next.questions(session)).length;
      evidence.push(
        `${how}: model told ${listed(toModel)}; person told ${listed(toPerson)}, ${questions} questions; ` +
          `${world.times(what)} in the books`,
      );
      if (toModel.includes('failed')) violations.push(`${how}: the model is told that it failed`);
      if (toPerson.includes('failed')) violations.push(`${how}: the person is told that it failed`);
      if (how.endsWith('torn') && world.times(what) !== 1)
        violations.push(`${how}: done ${world.times(what)} times`);
    }
    return { violations, evidence };
  },
};

const listed = (statuses: readonly string[]): string => [...new Set(statuses)].join(', ') || 'nothing';
