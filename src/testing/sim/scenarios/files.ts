/** Files of a session: written once, whatever dies; and what people do to them meanwhile. */

import { FILE_TOOLS } from '../../../tools/files/tools.ts';
import { calls, read, report, say } from '../reply.ts';
import type { Scenario } from '../scenario.ts';

const write = (path: string, content: string) => ['write_file', { path, content }] as const;
const edit = (path: string, old: string, now: string) =>
  ['edit_file', { path, old_string: old, new_string: now }] as const;
const look = (path: string) => ['read_file', { path }] as const;

type Asked = ReturnType<typeof write> | ReturnType<typeof edit> | ReturnType<typeof look>;

/** For each message the steps, each with its calls; then it is told what became of them. */
const steps =
  (...work: readonly (readonly (readonly Asked[])[])[]): Scenario['reply'] =>
  (request) => {
    const { instructions, results } = read(request);
    let done = 0;
    for (const asked of work[instructions.length - 1] ?? []) {
      if (results.length === done) return calls(...asked);
      done += asked.length;
    }
    return say(report(results));
  };

export const FILES: readonly Scenario[] = [
  {
    // An edit that is done twice shows: it makes more of the same.
    name: 'files that are written',
    tools: FILE_TOOLS,
    acts: [{ do: 'start', text: 'write, and change it' }],
    wanted: {},
    files: { a: '644 one one', 'in/b': '644 two' },
    says: 'edit_file: done',
    reply: steps([[write('a', 'one'), write('in/b', 'two')], [edit('a', 'one', 'one one')]]),
  },
  {
    name: 'a person edits while it waits',
    tools: FILE_TOOLS,
    acts: [
      { do: 'start', text: 'write it' },
      { do: 'edit', path: 'a', text: 'theirs' },
      { do: 'edit', path: 'run', text: '#!/bin/sh', mode: 0o755 },
      { do: 'send', text: 'and now go on with what is there' },
    ],
    wanted: {},
    files: { a: '644 theirs and mine', run: '755 #!/bin/sh' },
    says: 'read_file: done\nedit_file: done',
    reply: steps([[write('a', 'mine')]], [[look('a')], [edit('a', 'theirs', 'theirs and mine')]]),
  },
  {
    name: 'a folder that is lost with its machine',
    tools: FILE_TOOLS,
    acts: [
      { do: 'start', text: 'write it' },
      { do: 'edit', path: 'run', text: '#!/bin/sh', mode: 0o755 },
      { do: 'send', text: 'look' },
      { do: 'lose' },
      { do: 'send', text: 'change it' },
    ],
    wanted: {},
    files: { a: '644 yours', run: '755 #!/bin/sh' },
    says: 'edit_file: done',
    reply: steps([[write('a', 'mine')]], [[look('run')]], [[edit('a', 'mine', 'yours')]]),
  },
];
