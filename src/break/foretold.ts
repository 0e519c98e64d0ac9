/** The predictions as a table for people: how many of the boundaries go wrong, by strategy and service. */

import { ABLATIONS, BOUNDARIES, SERVICES, STRATEGIES, type Variant } from './terms.ts';
import { predict } from './theory.ts';

/** Markdown. Each field counts the boundaries with a crash: `6 d` are six with duplicates, `l` lost, `u` untrue, `q` questions. */
export function foretold(variant: Variant): string {
  const head = ['strategy', ...SERVICES.map(({ name }) => name)];
  const rows = [...STRATEGIES, ...ABLATIONS].map(({ name: strategy }) => [
    `\`${strategy}\``,
    ...SERVICES.map(({ name: service }) => {
      const all = BOUNDARIES.map(({ name: boundary }) => predict({ boundary, service, strategy, variant }));
      const count = (mark: string, n: number): readonly string[] => (n > 0 ? [`${n} ${mark}`] : []);
      const parts = [
        ...count('d', all.filter((one) => one.duplicates).length),
        ...count('l', all.filter((one) => one.lost).length),
        ...count('u', all.filter((one) => one.untrue).length),
        ...count(
          'q',
          all.reduce((sum, one) => sum + one.questions, 0),
        ),
      ];
      return parts.join(', ') || '–';
    }),
  ]);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
