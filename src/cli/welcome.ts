/** What `outlast serve` says once it serves: where, with what, and what to try. */

import type { About } from '../compose.ts';
import { COMMAND } from './name.ts';
import type { Paint } from './terminal.ts';

export interface Welcome {
  readonly url: string;
  readonly about: About;
  readonly samples: {
    readonly billing: { readonly url: string };
    readonly mailing: { readonly url: string };
  };
}

const KEYS = 'OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY or OUTLAST_BASE_URL';

export function welcome({ url, about, samples }: Welcome, paint: Paint): readonly string[] {
  const { dim, bold, cyan, yellow } = paint;
  const command = (words: string) => `  ${cyan(`${COMMAND} ${words}`)}`;
  const model = about.model.scripted
    ? `${yellow('scripted planner, no model')}${dim(`: set ${KEYS} for a real one`)}`
    : about.model.name;
  return [
    `${bold('Outlast')} listens on ${bold(url)} ${dim('(open it in a browser to watch)')}`,
    `  ${dim('data   ')} ${about.dataDir ?? 'in memory'} ${dim(`(${about.store})`)}`,
    `  ${dim('model  ')} ${model}`,
    `  ${dim('sandbox')} ${about.processes}`,
    ...(about.parking === null ? [] : [`  ${dim('parking')} ${about.parking}`]),
    `  ${dim('samples')} billing ${samples.billing.url}, mailing ${samples.mailing.url}`,
    '',
    'Try next, in another terminal:',
    command(`start --persist "Report on February's invoices"`),
    command('send last "Now do the same for March"'),
    command('stop last'),
    command('chat') + dim('  one conversation, and the work runs beside it'),
    '',
    dim('Ctrl-C ends it cleanly; kill -9 loses nothing either.'),
  ];
}
