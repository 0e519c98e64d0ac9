/**
 * Output that is too long for its result becomes a file of the workspace: it is kept with the other files, whatever becomes
 * of the sandbox, and the tools for files page through it.
 */

import { OutlastError } from '../../core/error.ts';
import type { ProcessBox, Report } from '../../sandbox/process/port.ts';
import type { RunContext } from '../port.ts';

/** In no listing of git: it ignores itself. */
const FOLDER = '.outputs';
/** Of longer output the beginning and the end, as much together. */
const MOST_BYTES = 8 * 2 ** 20;

/**
 * The report, with its output in a file where it does not fit. What a command in the background says is its own file
 * (`/outputs/j1`) while it runs, for the shell.
 */
export async function kept<Some extends Report>(
  report: Some,
  box: ProcessBox,
  { reference, workspace }: RunContext,
): Promise<Some> {
  const { output, job, status } = report;
  if (output.omitted === 0 || status === 'running') return report;
  const file = `${FOLDER}/${reference.slice(reference.lastIndexOf('.') + 1)}.txt`;
  try {
    const all = (await box.look(job, MOST_BYTES))?.output;
    if (!all) return report;
    const left = all.omitted === 0 ? '' : `\n… ${all.omitted} bytes left out …\n`;
    const bytes = new TextEncoder().encode(`${all.head}${left}${all.tail}`);
    await workspace().write(`${FOLDER}/.gitignore`, IGNORE);
    await workspace().write(file, bytes);
    return { ...report, output: { ...output, file } };
  } catch (error) {
    if (error instanceof OutlastError && /^(files|path)\./.test(error.code)) return report;
    throw error;
  }
}

const IGNORE = new TextEncoder().encode('*\n');
