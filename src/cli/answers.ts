/** How an open decision can be answered, as words for the command line. */

import { clean } from './terminal.ts';

interface Open {
  readonly options: readonly string[];
  readonly choices: readonly string[];
}

/** `done`, `not-done` …; of a question its choices, or a place for the text. */
export function answersTo({ options, choices }: Open): readonly string[] {
  return options.flatMap((option) => {
    if (option !== 'answer') return [option];
    return choices.length > 0 ? choices.map((choice) => `answer ${quoted(choice)}`) : ['answer "…"'];
  });
}

/** The text comes from a model and is meant to be pasted into a shell: nothing in it may be more than text. */
const quoted = (text: string): string => `'${clean(text).replaceAll("'", "'\\''")}'`;
