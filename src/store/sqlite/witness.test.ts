// Owns: what the witness does when the file system fails it; what it witnesses is tested where the store opens.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { nodeFiles } from '../files.ts';
import { sampleId } from '../sample.ts';
import { openWitness } from './witness.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'outlast-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const mark = (seq: number) => ({ session: sampleId(1), seq, sum: '0123456789abcdef' });

it.each(['rename', 'syncFolder'] as const)(
  'W1 a reset that fails at %s costs no later line, and no handle',
  (step) => {
    const path = join(dir, 'witness');
    let open = 0;
    const witness = openWitness(
      {
        ...nodeFiles,
        open(...args) {
          const file = nodeFiles.open(...args);
          open += 1;
          return {
            ...file,
            close() {
              open -= 1;
              file.close();
            },
          };
        },
        [step]() {
          throw new Error('the disk fails');
        },
      },
      path,
    );
    witness.note([mark(1)]);
    expect(() => witness.reset([])).toThrow('the disk fails');
    witness.note([mark(2)]);
    witness.close();
    expect(open).toBe(0);
    expect(openWitness(nodeFiles, path).marks()).toEqual([mark(2)]);
  },
);
