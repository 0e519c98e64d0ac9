/** The power goes: what the enumerated cuts (`npm run torn`) found, and what their workload does not reach. */

import { expect, it } from 'vitest';
import { contentAfter } from '../../testing/disk/cuts.ts';
import { type Content, type Disk, memoryDisk } from '../../testing/disk/disk.ts';
import { startLife } from '../../testing/disk/store.ts';
import { append, sampleId, sampleSummary } from '../sample.ts';

const a = sampleId(1);

/** Only what was flushed. */
function flushed(disk: Disk): Content {
  const last = { names: -1, bytes: new Map<number, number>() };
  for (const [index, op] of disk.ops.entries()) {
    if (op.kind === 'syncNames') last.names = index;
    if (op.kind === 'sync') last.bytes.set(op.file, index);
  }
  const lost = [...disk.ops.entries()].filter(
    ([index, op]) => index > ('file' in op ? (last.bytes.get(op.file) ?? -1) : last.names),
  );
  const fates = new Map(lost.map(([index]) => [index, { kind: 'missing' }] as const));
  return contentAfter(disk, { at: disk.ops.length, fates, shape: 'none' });
}

it('W3 a loss that somebody accepted is not told again after a power cut', async () => {
  const before = memoryDisk();
  const killed = await startLife(before);
  await append(killed.store, a);
  await append(killed.store, a);
  killed.kill();
  const whole = contentAfter(before, { at: before.ops.length, fates: new Map(), shape: 'all' });
  const log = whole.get('outlast.db-wal') as Uint8Array;

  const disk = memoryDisk(new Map([...whole, ['outlast.db-wal', log.subarray(0, -1)]]));
  const life = await startLife(disk);
  expect(life.store.findings().sessions).toMatchObject([{ session: a, readableTo: 1, acknowledged: 2 }]);
  await life.store.salvage(a, sampleSummary());
  life.kill();

  const again = await startLife(memoryDisk(flushed(disk)));
  expect(again.store.findings()).toEqual({ structure: null, sessions: [] });
  expect(await append(again.store, a)).toEqual({ status: 'committed' });
  again.kill();
});
