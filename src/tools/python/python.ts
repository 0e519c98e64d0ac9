/**
 * `python`: a cell in the kernel of the session, with the guarantees of `shell`: its reference is the key, and it is never
 * run twice. Its objects live on between calls, and what is lost of them is said by name before any code runs.
 */

import { z } from 'zod';
import type { Capability, Finding } from '../../core/capability.ts';
import type { Json } from '../../lib/json.ts';
import type { CellReport, LostName, Processes, Report } from '../../sandbox/process/port.ts';
import { defineTool, failure } from '../own.ts';
import type { RunContext, Tool } from '../port.ts';
import { kept } from '../shell/kept.ts';
import { findingOf, opened } from '../shell/shell.ts';
import { inWords, toldOf } from '../shell/told.ts';

const DEFAULT_MS = 60_000;
const LONGEST_MS = 30 * 60_000;
/** For starting sandbox and kernel, and for one that does not heed an interrupt. */
const MORE_MS = 45_000;

const input = z.strictObject({
  code: z.string().min(1).max(1_000_000).describe('The cell.'),
  timeoutMs: z
    .int()
    .min(100)
    .max(LONGEST_MS)
    .default(DEFAULT_MS)
    .describe('It is interrupted after so long.'),
});

export function pythonTool(processes: Processes): Tool {
  const { network, python } = processes.abilities;
  const capability: Capability = network === 'denied' ? { kind: 'queryable', lateMs: 0 } : { kind: 'blind' };
  const tool = defineTool({
    name: 'python',
    description:
      `Run a cell of Python ${python} in the sandbox of this task, in /workspace. Variables stay between cells; top-level ` +
      'await works; the value of the last expression is shown, rows as a table. Figures of matplotlib are kept as PNG ' +
      'files under plots/.',
    input,
    capability,
    target: 'sandbox:python',
    async run({ code, timeoutMs }, context) {
      const box = await opened(processes, context);
      const cell = { reference: context.reference, cell: cellOf(context), code, timeoutMs };
      return answerOf(await kept(await box.cell(cell, context.signal), box, context));
    },
    async find(_, { session, epoch, reference, signal }): Promise<Finding> {
      const found = await processes.find(session, epoch, reference, signal);
      if (found.status !== 'known' || found.report.ending === 'lost' || !isCell(found.report)) {
        return findingOf(found);
      }
      const answer = answerOf(found.report);
      return 'message' in answer
        ? { status: 'failed', code: LOST, message: answer.message }
        : { status: 'done', result: answer };
    },
  });
  return {
    ...tool,
    ...{ changesFiles: true, heedsSignal: true, keepsObjects: true },
    limitMs: (args) => MORE_MS + (args as unknown as z.output<typeof input>).timeoutMs,
  };
}

/** A cell is known by the effect that ran it: that is what the log calls it. */
const cellOf = ({ reference }: RunContext): string => reference.slice(reference.lastIndexOf('.') + 1);

const LOST = 'python.lost';

const isCell = (report: Report): report is CellReport => 'result' in report && report.result !== null;

function answerOf(report: CellReport) {
  const { result, output, ending } = report;
  if (result === null) return failure(LOST, 'Nobody saw how the cell ended.');
  const { ran, value, table, error, plots, lost, restored } = result;
  if (!ran) {
    const kept = restored.length > 0 ? ` Back by value: ${restored.join(', ')}.` : '';
    return failure(LOST, `The cell was not run: objects it may count on are gone.\n${inList(lost)}${kept}`);
  }
  const { seconds, ended } = toldOf(report);
  const said = inWords(output);
  return {
    ...(value === undefined ? {} : { value }),
    ...(table === undefined ? {} : { table: table as unknown as Json }),
    ...(error === undefined ? {} : { error }),
    ...(said === '' ? {} : { output: said }),
    ...(plots.length > 0 ? { plots } : {}),
    ...(ending === 'exit' || ended === undefined ? {} : { ended }),
    ...(lost.length > 0 ? { lost: inList(lost) } : {}),
    ...(restored.length > 0 ? { broughtBack: restored } : {}),
    seconds: seconds ?? 0,
  };
}

/** What is gone and why, and the code that made it, each cell once. */
function inList(lost: readonly LostName[]): string {
  const names = lost.map(({ name, type, cell, why }) => `- ${name} (${type}, made by ${cell}): ${why}`);
  const cells = [...new Map(lost.map(({ cell, code }) => [cell, code]))];
  return [...names, ...cells.map(([cell, code]) => `${cell} was:\n${code}`)].join('\n');
}
