/** The end of a session: by its owner's policy, after a notice; or because somebody ordered it. */

import type { ModelRequest } from '../../../core/message.ts';
import type { ModelReply } from '../../../models/port.ts';
import { FILE_TOOLS } from '../../../tools/files/tools.ts';
import type { Mode } from '../modes.ts';
import { calls, read, report, say } from '../reply.ts';
import type { Scenario } from '../scenario.ts';

const HOUR = 3_600_000;
/** Its notice comes after six hours, and stands for two: an hour that the clock jumps ends neither. */
const RETENTION = 8 * HOUR;
const SWEEP = 30 * 60_000;

/** Those after which it still ends at the same time, or which are told apart. */
const UNHURRIED: readonly Mode[] = [
  'crash',
  'again',
  'freeze',
  'contend',
  'send',
  'forward',
  'back',
  'outage',
  'down',
];

/** A file and a payment; then it answers. */
function work(request: ModelRequest): ModelReply {
  const { instructions, results } = read(request);
  const first = calls(['write_file', { path: 'a', content: 'kept' }], ['pay', { what: 'rent' }]);
  return instructions.length === 1 && results.length === 0 ? first : say(report(results));
}

export const ENDS: readonly Scenario[] = [
  {
    name: 'deleted after its notice',
    tools: FILE_TOOLS,
    modes: UNHURRIED,
    limits: { retentionMs: RETENTION },
    sweepMs: SWEEP,
    acts: [
      { do: 'start', text: 'pay and write' },
      { do: 'wait', ms: 4 * HOUR },
      { do: 'wait', ms: 4 * HOUR },
      { do: 'wait', ms: 3 * HOUR },
    ],
    wanted: { 'pay: rent': 1 },
    reply: work,
  },
  {
    name: 'kept by a word in its grace time',
    tools: FILE_TOOLS,
    modes: UNHURRIED,
    // Whoever dies again and again while the person waits has them come too late.
    except: ['again'],
    limits: { retentionMs: RETENTION },
    sweepMs: SWEEP,
    acts: [
      { do: 'start', text: 'pay and write' },
      { do: 'wait', ms: 5 * HOUR },
      { do: 'wait', ms: 1.75 * HOUR },
      { do: 'send', text: 'are you there?' },
      { do: 'wait', ms: 3 * HOUR },
    ],
    wanted: { 'pay: rent': 1 },
    files: { a: '644 kept' },
    reply: work,
  },
  {
    name: 'stopped, and deleted by order',
    isSmall: true,
    tools: FILE_TOOLS,
    modes: UNHURRIED,
    acts: [{ do: 'start', text: 'pay and write' }, { do: 'stop' }, { do: 'delete' }],
    wanted: { 'pay: rent': 1 },
    reply: work,
  },
];
