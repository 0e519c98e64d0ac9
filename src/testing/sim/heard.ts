/** What machines were told by services: the answers that reached one, in the order in which they came. */

import type { Tool } from '../../tools/port.ts';
import type { Life } from './life.ts';

/** An answer that a machine has; it may have died with it. */
export interface Heard {
  readonly by: Life;
  readonly reference: string;
  readonly attempt: number;
  readonly at: number;
}

/** Notes what a machine is told, for the judge. */
export function heeded(by: Life, tool: Tool, now: () => number, heard: Heard[]): Tool {
  const run: Tool['run'] = async (args, context) => {
    const answer = await tool.run(args, context);
    const { reference, attempt } = context;
    heard.push({ by, reference, attempt, at: now() });
    return answer;
  };
  return new Proxy(tool, { get: (target, key) => (key === 'run' ? run : Reflect.get(target, key)) });
}
