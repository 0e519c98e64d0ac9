// stepsPerSecond1, stepsPerSecond100: durable steps a second, by one session alone and by a hundred at once.
//
// Whole turns, from `start` or `send` to rest: the message in and the response count into the time, not into the steps.

import { pace } from '../kit/pace.mjs';
import { median, rounded, spread } from '../kit/spread.mjs';
import { stage } from '../kit/stage.mjs';

export const names = ['stepsPerSecond1', 'stepsPerSecond100'];

const STEPS = 20;
const MANY = 100;

export async function measure({ quick = false } = {}) {
  const rounds = quick ? 2 : 5;
  const one = [];
  const many = [];
  for (let round = 0; round < rounds; round++) {
    one.push(await alone(quick ? 5 : 20));
    many.push(await together());
  }
  return {
    figures: { stepsPerSecond1: rounded(median(one)), stepsPerSecond100: rounded(median(many)) },
    details: { one: spread(one), hundred: spread(many) },
  };
}

async function alone(turns) {
  const steps = pace();
  const on = await stage(steps);
  const session = await on.start(steps.objective('one'));
  await turn(on, steps, 'one', session);
  const startedAt = performance.now();
  for (let count = 0; count < turns; count++) {
    await on.outlast.send(session, 'and once more');
    await turn(on, steps, 'one', session);
  }
  const perSecond = (turns * STEPS * 1_000) / (performance.now() - startedAt);
  await on.end();
  return perSecond;
}

async function together() {
  const steps = pace();
  const on = await stage(steps);
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: MANY }, async (_, index) => {
      const name = `number ${index}`;
      const session = await on.start(steps.objective(name));
      await turn(on, steps, name, session);
    }),
  );
  const perSecond = (MANY * STEPS * 1_000) / (performance.now() - startedAt);
  await on.end();
  return perSecond;
}

async function turn(on, steps, name, session) {
  await steps.run(name, STEPS);
  await steps.finish(name);
  await on.outlast.rest(session);
}
