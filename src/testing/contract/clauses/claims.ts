/**
 * 9. Claims follow receipts: what goes out to a person is accompanied by the effects as they stand, also when the prose
 * of the model is wrong.
 *
 * One effect is done, one is refused by its service, one is applied and its answer is lost; and the model says that all
 * three are done. Violated: an answer goes out with an effect missing beside it or with a status that the books
 * contradict: `done` means that it stands there, `failed` that it does not; `unknown` is right only for the lost answer.
 */

import type { Clause } from '../clause.ts';
import { World } from '../world.ts';

const LIE = 'All of it is done and paid';

export const claims: Clause = {
  name: 'claims follow receipts',
  title: 'what goes out to a person is accompanied by the effects as they stand, also when the prose lies',
  async judge(lives) {
    const world = new World();
    const life = await lives.open(await lives.folder(), world);
    const cases: { what: string; session: string }[] = [];
    for (const [what, hook] of [
      ['done', null],
      ['refused', 'refuse'],
      ['lost', 'lose-answer'],
    ] as const) {
      if (hook) world.hook(what, hook);
      const session = await life.start(`do[${what}] blind ${what}; say ${LIE}`);
      await life.rest(session);
      await life.send(session, `do[then] say ${LIE}`, `then-${what}`);
      await life.rest(session);
      cases.push({ what, session });
    }
    const violations: string[] = [];
    const evidence: string[] = [];
    for (const { what, session } of cases) {
      const said = await life.statements(session);
      const beside = said.flatMap(({ effects }) => effects.filter((effect) => effect.what === what));
      const statuses = [...new Set(beside.map(({ status }) => status))];
      const stands = world.times(what) > 0;
      evidence.push(
        `${what}: the model says "${LIE}", beside it stands ${statuses.join(', ') || 'nothing'}; ` +
          `${stands ? 'it is' : 'it is not'} in the books`,
      );
      if (said.length === 0) violations.push(`${what}: nothing went out`);
      if (statuses.length === 0) violations.push(`${what}: nothing stands beside the answer`);
      for (const status of statuses) {
        const isTrue =
          (status === 'done' && stands) ||
          (status === 'failed' && !stands) ||
          (status === 'unknown' && what === 'lost');
        if (!isTrue) violations.push(`${what}: the person reads "${status}"`);
      }
    }
    return { violations, evidence };
  },
};
