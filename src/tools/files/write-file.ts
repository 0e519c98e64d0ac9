/** `write_file` and `edit_file`: a whole file, or one place in it. */

import { z } from 'zod';
import { textIn } from '../../lib/text.ts';
import { type Change, change } from './change.ts';
import { changingTool, Refused } from './file-tool.ts';
import { edited } from './match.ts';

const path = z.string().min(1).describe('From the folder of the workspace, e.g. src/main.ts.');

export const writeFile = changingTool({
  name: 'write_file',
  description:
    'Write a whole file of the workspace: a new one, or in place of the one that is there. Folders above it are made. To ' +
    'change a part of a file use edit_file.',
  input: z.strictObject({ path, content: z.string() }),
  run: (args, files, context) =>
    change(args.path, files, context, (before): Change => {
      const bytes = new TextEncoder().encode(args.content);
      const what = before === null ? 'Written' : 'Written in place of what was there';
      return { bytes, said: `${what}: ${args.path}, ${bytes.length} bytes.` };
    }),
});

export const editFile = changingTool({
  name: 'edit_file',
  description:
    'Replace a piece of a text file of the workspace. old_string is as it stands in the file, and stands there once, unless ' +
    'replace_all. Where it does not stand exactly so, one that differs only in white space is taken, if there is but one.',
  input: z.strictObject({
    path,
    old_string: z.string(),
    new_string: z.string(),
    replace_all: z.boolean().optional(),
  }),
  run: (args, files, context) =>
    change(args.path, files, context, (before): Change => {
      const { old_string: old, new_string: replacement, replace_all: isAll = false } = args;
      if (before === null) {
        if (old !== '') throw new Refused('file.none', `There is no file "${args.path}".`);
        const bytes = new TextEncoder().encode(replacement);
        return { bytes, said: `Written: ${args.path}, ${bytes.length} bytes.` };
      }
      if (old === '')
        throw new Refused('edit.empty', 'old_string is empty, and the file is there. Use write_file.');
      if (old === replacement) throw new Refused('edit.same', 'old_string and new_string are the same.');
      const text = textIn(before);
      if (text === null) throw new Refused('file.binary', `"${args.path}" is no text.`);
      const found = edited(text, old, replacement, isAll);
      if ('refused' in found) throw new Refused(found.refused.code, found.refused.message);
      return { bytes: new TextEncoder().encode(found.text), said: `Edited: ${args.path}, ${found.how}.` };
    }),
});
