/** All scenarios of the crash loop. */

import type { Scenario } from './scenario.ts';
import { ARCHIVES } from './scenarios/archives.ts';
import { BUDGETS } from './scenarios/budgets.ts';
import { CHILDREN } from './scenarios/children.ts';
import { CONTEXTS } from './scenarios/contexts.ts';
import { EFFECTS } from './scenarios/effects.ts';
import { ENDS } from './scenarios/ends.ts';
import { FILES } from './scenarios/files.ts';
import { HEAPS } from './scenarios/heaps.ts';
import { PAST } from './scenarios/past.ts';
import { PEOPLE } from './scenarios/people.ts';
import { TALKS } from './scenarios/talks.ts';

export const SCENARIOS: readonly Scenario[] = [
  ...EFFECTS,
  ...PEOPLE,
  ...HEAPS,
  ...ARCHIVES,
  ...FILES,
  ...BUDGETS,
  ...CONTEXTS,
  ...PAST,
  ...CHILDREN,
  ...TALKS,
  ...ENDS,
];
