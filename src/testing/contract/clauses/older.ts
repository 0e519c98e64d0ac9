/**
 * 8. An older worker changes nothing: a worker that is stopped in the middle of its work, and goes on after another one has
 * taken over, adds nothing to what stands.
 *
 * The first worker is frozen while a keyed and a blind request are out; a second one opens the same folder, recovers and
 * comes to rest; the first is thawed, gets its answers and has time to go on. Violated: the durable transcript is not byte
 * for byte what the second one left, unless what follows begins with a late answer that is entered as evidence, on which the
 * second one may act; an effect is done twice; or the session is answered twice.
 *
 * A runtime may also refuse the second worker for as long as the first may be alive (`Refused`). Then nothing may change by
 * the attempt, the first has to go on, and the clause is judged besides on `together`, when the subject has it.
 */

import { systemClock } from '../../../lib/clock.ts';
import { type Clause, count, isPrefix, type Judgement } from '../clause.ts';
import type { Life, Lives } from '../lives.ts';
import { Refused } from '../port.ts';
import { World } from '../world.ts';

/** For the first worker to do what it must not. */
const AFTERWARDS_MS = 1_000;

export const older: Clause = {
  name: 'an older worker changes nothing',
  title: 'a stale worker that goes on after a takeover appends nothing',
  async judge(lives) {
    const world = new World();
    const folder = await lives.folder();
    world.hook('k1', 'hold-after');
    world.hook('b1', 'hold-after');
    const first = await lives.open(folder, world);
    const sessions = [
      await first.start('do[keyed] keyed k1; keyed k2; say It is done'),
      await first.start('do[blind] blind b1; blind b2; say It is done'),
    ];
    await Promise.all([world.at('k1'), world.at('b1')]);
    first.freeze();
    try {
      const second = await lives.open(folder, world);
      return await takenOver({ lives, world, first, second, sessions });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return await excluded(world, first, sessions, error.message);
    } finally {
      first.thaw();
    }
  },
};

interface Takeover {
  readonly lives: Lives;
  readonly world: World;
  readonly first: Life;
  readonly second: Life;
  readonly sessions: readonly string[];
}

async function takenOver({ world, first, second, sessions }: Takeover): Promise<Judgement> {
  await second.recover();
  for (const session of sessions) await second.rest(session);
  const before = await Promise.all(sessions.map((session) => second.transcript(session)));
  for (const what of ['k1', 'b1']) world.letGo(what);
  first.thaw();
  await systemClock.sleep(AFTERWARDS_MS);
  for (const session of sessions) await second.rest(session);

  const violations: string[] = [];
  const evidence: string[] = [];
  for (const [i, session] of sessions.entries()) {
    const was = before[i] ?? [];
    const is = await second.transcript(session);
    const words = await second.conversation(session);
    const next = is[was.length];
    evidence.push(`session ${i + 1}: ${was.length} entries at the takeover's rest, ${is.length} afterwards`);
    if (!isPrefix(was, is)) violations.push(`session ${i + 1}: the older worker changed what stood`);
    else if (next !== undefined && !isEvidence(next))
      violations.push(
        `session ${i + 1}: the older worker added ${is.length - was.length} entries, first ${next.slice(0, 300)}`,
      );
    if (count(words, 'answer: It is done') > 1) violations.push(`session ${i + 1}: answered twice`);
  }
  for (const what of ['k1', 'k2', 'b1', 'b2']) {
    evidence.push(`${what}: ${world.times(what)} in the books`);
    if (world.times(what) > 1) violations.push(`"${what}" was done ${world.times(what)} times`);
  }
  return { violations, evidence };
}

/** A late answer that is kept as what it is, and decides nothing by itself: the holder acts on it. */
const isEvidence = (entry: string): boolean => entry.startsWith('evidence');

async function excluded(
  world: World,
  first: Life,
  sessions: readonly string[],
  why: string,
): Promise<Judgement> {
  for (const what of ['k1', 'b1']) world.letGo(what);
  first.thaw();
  const violations: string[] = [];
  for (const session of sessions) {
    await first.rest(session);
    const words = await first.conversation(session);
    if (words.at(-1) !== 'answer: It is done') violations.push('the first worker did not go on');
  }
  for (const what of ['k1', 'k2', 'b1', 'b2'])
    if (world.times(what) !== 1) violations.push(`"${what}" was done ${world.times(what)} times`);
  return { violations, evidence: [`a second process was refused while the first may live: ${why}`] };
}
