/** Of a `RunContext` for tests of tools that touch no files and have no children. */

import type { SessionId } from '../core/ids.ts';
import type { RunContext } from '../tools/port.ts';

export const noFiles: Pick<RunContext, 'session' | 'workspace' | 'kin'> = {
  session: 'ses_00000000000000000001' as SessionId,
  workspace() {
    throw new Error('this test has no files');
  },
  kin() {
    throw new Error('this test has no children');
  },
};
