/**
 * 2. Effects: at most once; exactly once where the service makes it possible.
 *
 * For each service (`keyed`, `queryable`, `blind`) a process is killed before the request is applied, after it was
 * applied and before its answer, and after its answer while the model is asked again. Violated: the books show any
 * effect twice; an effect of a keyed or queryable service is not there once everything rests; one of the blind service is
 * in doubt and nobody is asked, or was answered and is not there.
 */

import { type Clause, recovered, SERVICES } from '../clause.ts';
import type { Service } from '../port.ts';
import { World } from '../world.ts';

const POINTS = ['before', 'applied', 'answered'] as const;

export const effects: Clause = {
  name: 'effects',
  title: 'every effect at most once, and exactly once where the capability allows',
  async judge(lives) {
    const world = new World();
    const folder = await lives.folder();
    const life = await lives.open(folder, world);
    const cases: { service: Service; point: (typeof POINTS)[number]; what: string; session: string }[] = [];
    for (const service of SERVICES) {
      for (const point of POINTS) {
        const what = `${service}${point}`;
        const hook = point === 'answered' ? `${what}.1` : what;
        world.hook(hook, point === 'before' ? 'hold-before' : 'hold-after');
        const session = await life.start(`do[${what}] ${service} ${what}; say It is settled`);
        cases.push({ service, point, what, session });
        await world.at(hook);
      }
    }
    await life.kill();

    const sessions = cases.map(({ session }) => session);
    const next = await recovered({ lives, world, folder }, sessions);
    const violations: string[] = [];
    const evidence: string[] = [];
    for (const { service, point, what, session } of cases) {
      const times = world.times(what);
      const asked = (await next.questions(session)).length;
      evidence.push(`${service}, killed ${point}: ${times} in the books, ${asked} questions`);
      if (times > 1) violations.push(`${service}, killed ${point}: done ${times} times`);
      const mayAsk = service === 'blind' && point !== 'answered';
      if (times === 0 && !(mayAsk && asked > 0)) violations.push(`${service}, killed ${point}: lost`);
      if (asked > 0 && !mayAsk)
        violations.push(`${service}, killed ${point}: a person is asked without need`);
      if (mayAsk && asked === 0 && point === 'applied' && times === 1 && !(await isOpen(next, session)))
        violations.push(`${service}, killed ${point}: nobody is asked about what nobody knows`);
    }
    return { violations, evidence };
  },
};

/** Whether the session still says that it does not know. */
async function isOpen(
  life: { statements(session: string): Promise<readonly { effects: readonly { status: string }[] }[]> },
  session: string,
): Promise<boolean> {
  const said = await life.statements(session);
  return said.some(({ effects: beside }) => beside.some(({ status }) => status === 'unknown'));
}
