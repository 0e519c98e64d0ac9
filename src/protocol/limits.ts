/** The limits of a session as they cross HTTP. */

import { z } from 'zod';

const count = z.int().min(0);
const positive = z.int().min(1);

export const limits = z
  .strictObject({
    stepsPerTurn: positive.max(10_000),
    modelAttempts: positive.max(20),
    effectTimeoutMs: positive.max(3_600_000),
    readAttempts: positive.max(20),
    cellMs: positive.max(600_000),
    heapMb: positive.max(2_048),
    outputChars: positive.max(1_000_000),
    crashes: positive.max(100),
    windowTokens: positive.max(100_000_000).describe('The most that the model takes in one request.'),
    contextTokens: count
      .max(100_000_000)
      .describe("Size of the model's view above which its past is compacted; 0: where that costs least."),
    requestBytes: positive.max(1_000_000_000),
    childDepth: count.max(10).describe("Generations of children below a session that is nobody's child."),
    childrenTotal: count.max(10_000).describe('Sessions below the top one, over all its life.'),
    childrenAtOnce: positive
      .max(1_000)
      .describe('Children of one session that are at work at the same time.'),
    kernelNoticeMs: count
      .max(366 * 86_400_000)
      .describe(
        'How long after a notice a kernel with objects that cannot be kept is given up when its session rests; 0: never.',
      ),
    retentionMs: count
      .max(3_650 * 86_400_000)
      .describe(
        'How long it is kept after nobody came back to it; a notice stands for the last part of that. 0: for ever.',
      ),
  })
  .partial();
