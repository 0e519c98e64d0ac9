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
function quoted(text: string): string {
  const word = `'${clean(text).replaceAll("'", "'\\''")}'`;
  // Nor may it be an option of ours: `--url=…` would hand the token to whoever it names.
  return text.startsWith('-') ? `-- ${word}` : word;
}
