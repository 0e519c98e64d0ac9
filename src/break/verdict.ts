/** What is not as it must be in the results of a bench. None: the exit code is 0. */

import type { Results } from './report.ts';

/**
 * V1  Outlast is right in every cell, rests in every run, and asks no more than it must. A second time does not mend that.
 * V2  Every cell of every strategy is as predicted, wrong where theory says so: or the bench sees too little, or theory
 *     too much. With tools of one's own (`isOwn`) there is no theory of the other strategies.
 */
export function complaintsOf(results: Results, isOwn: boolean): readonly string[] {
  return [...ofOutlast(results), ...(isOwn ? [] : ofTheory(results))];
}

/** V1. */
function ofOutlast({ strategies, cells, killed }: Results): readonly string[] {
  const complaints: string[] = [];
  for (const { strategy, service, boundary, variant, wrong, stuck, questions, questionsMinimum } of cells) {
    if (strategy !== 'outlast' || (wrong === 0 && stuck === 0 && questions === questionsMinimum)) continue;
    complaints.push(
      `outlast at ${service}, ${boundary}, ${variant}: ${wrong} wrong, ${stuck} stuck, ${questions} asked of ${questionsMinimum}`,
    );
  }
  if (strategies.outlast?.runs === 0) complaints.push('no run of outlast counts');
  const sigkill = killed.strategies.outlast;
  if (sigkill && (sigkill.wrong + sigkill.stuck > 0 || sigkill.questions !== sigkill.questionsMinimum))
    complaints.push('outlast, killed with SIGKILL');
  return complaints;
}

/** V2. */
const ofTheory = ({ predictions, killed }: Results): readonly string[] => [
  ...predictions.missed.map((name) => `${name}: not as predicted, twice`),
  ...killed.missed.map((name) => `${name}: not as predicted, twice, with SIGKILL`),
];
