import { describe, expect, it } from 'vitest';
import { checkLog } from '../../projections/invariant/invariant.ts';
import { residency, summarize } from '../../projections/summary.ts';
import { type Sequence, sequence } from '../../testing/facts.ts';
import type { HeapImage } from '../heap/event.ts';
import { next } from '../next.ts';
import { phase } from '../phase.ts';
import { archiveAfterMs, keptOf, parkAfterMs, TUNABLES } from './policy.ts';

const image = (form: HeapImage['form'], bytes: number, digest = `${form} ${bytes}`): HeapImage => ({
  form,
  bytes,
  digest,
  blob: digest as never,
  engine: 'e',
});

/** A session at rest whose cells left these images. */
function rested(...images: readonly HeapImage[]): Sequence {
  const asked = sequence().started().acquired(1).message('Load').turn();
  const ran = images.reduce((s, made, i) => {
    const cell = `c${i + 1}` as never;
    const call = `k${i}` as never;
    return s
      .event({ kind: 'cell.started', cell, call, source: '', code: '' })
      .event({ kind: 'heap.restored', epoch: 1, rung: 'attached', note: '', lost: [], image: null })
      .event({
        kind: 'cell.committed',
        cell,
        moved: { by: 'run' },
        image: made,
        output: '',
        ended: [{ cell, end: { status: 'done', value: '' } }],
        live: { set: [], gone: [] },
        fuel: 0,
      });
  }, asked);
  return ran.reply('Loaded.').surfaced('Loaded.');
}

const calls = ({ state }: Sequence, after = 0) => next(state, state.activeAt + after).calls;
const KB = 1024;

describe('U1 a new base at rest', () => {
  it('is taken when the deltas are more than half of the base, and not for a small heap', () => {
    expect(calls(rested(image('base', 90 * KB), image('delta', 40 * KB)))).toEqual([]);
    expect(calls(rested(image('base', 90 * KB), image('delta', 46 * KB)))).toEqual([
      { do: 'base', of: `delta ${46 * KB}` },
    ]);
    expect(calls(rested(image('base', 2 * KB), image('delta', 32 * KB)))).toEqual([]);
    expect(calls(rested(image('base', 2 * KB), image('delta', 33 * KB)))).toHaveLength(1);
  });

  it('is taken at 64 deltas, however small', () => {
    const deltas = Array.from({ length: 64 }, (_, i) => image('delta', 10, `d${i}`));
    expect(calls(rested(image('base', 90 * KB), ...deltas.slice(1)))).toEqual([]);
    expect(calls(rested(image('base', 90 * KB), ...deltas))).toEqual([{ do: 'base', of: 'd63' }]);
  });

  it('is no work: the session awaits input meanwhile, and a message comes first', () => {
    const s = rested(image('base', 2 * KB), image('delta', 90 * KB));
    expect(phase(s.state)).toBe('awaiting_input');
    expect(summarize(s.state, s.state.at).dueAt).toBe(0);
    const { choices, calls: named } = next(s.message('March').state, s.state.at);
    expect(choices[0]).toMatchObject({ kind: 'turn.started' });
    expect(named).toEqual([]);
  });

  it('is not taken of a heap that this holder has not opened, and once is enough', () => {
    const s = rested(image('base', 2 * KB), image('delta', 90 * KB));
    expect(calls(s.lost())).toEqual([]);
    const based = s.event({ kind: 'heap.based', image: image('base', 80 * KB, `delta ${90 * KB}`) });
    expect(calls(based)).toEqual([]);
    expect(based.state.heap.chain?.deltas).toEqual([]);
    expect(checkLog(based.events)).toEqual([]);
    const forged = s.event({ kind: 'heap.based', image: image('base', 80 * KB, 'another heap') });
    expect(checkLog(forged.events)).toMatchObject([{ invariant: 'heap.based' }]);
  });
});

describe('R4 what rests on a decision', () => {
  const asks = (s: Sequence): Sequence =>
    s.event({
      ...{ kind: 'decision.requested', decision: 'd1' as never, about: 'question', effect: null },
      ...{ origin: null, question: 'which?', why: 'the work asks', options: ['answer'], choices: [] },
      ...{ digest: null, expiresAt: null },
    });
  const parkedAfter = ({ state }: Sequence) => parkAfterMs(keptOf(state));

  it('is parked seconds later, and as usual once that was decided', () => {
    const s = asks(rested(image('base', 90 * KB)));
    expect(calls(s, TUNABLES.askedMs - 1)).toEqual([]);
    expect(summarize(s.state, s.state.at).dueAt).toBe(s.state.activeAt + TUNABLES.askedMs);
    expect(calls(s, TUNABLES.askedMs)).toEqual([{ do: 'park', since: s.state.activeAt }]);
    const decided = s.decides('d1', 'answer', 'this one');
    expect(parkedAfter(decided)).toBeGreaterThan(TUNABLES.parkMs.least);
  });

  it('waits as long as ever beside a timer, a child at work, or a kernel that holds objects', () => {
    const s = asks(rested(image('base', 90 * KB)));
    const timed = s.event({
      ...{ kind: 'timer.set', timer: 't1' as never, due: s.state.at + 60_000 },
      origin: { by: 'call', call: 'k9' as never },
    });
    const spawned = s.event({
      ...{ kind: 'child.spawned', effect: 'e9' as never, child: 'ses_9' as never, message: 'm9' as never },
      ...{ title: 'part', waits: false },
    });
    const object = { name: 'df', type: 'DataFrame', size: 3, effect: 'e1' as never };
    const kernel = s.event({
      ...{ kind: 'kernel.noted', epoch: 1, process: 1, set: [object], gone: [], lost: [] },
    });
    for (const one of [timed, spawned, kernel])
      expect(parkedAfter(one)).toBeGreaterThan(TUNABLES.parkMs.least);
  });
});

describe('U2 parking', () => {
  it('comes some minutes after the last activity, whoever holds the session by then', () => {
    const s = rested(image('base', 90 * KB));
    const since = s.state.activeAt;
    const after = parkAfterMs(keptOf(s.state));
    expect(calls(s, after - 1)).toEqual([]);
    expect(summarize(s.state, s.state.at).dueAt).toBe(since + after);
    expect(calls(s, after)).toEqual([{ do: 'park', since }]);
    // Taking the lease is no activity: else the worker that comes to park would wait as long again.
    expect(calls(s.lost(), after)).toEqual([{ do: 'park', since }]);
    expect(phase(s.lost().state)).toBe('awaiting_input');
  });

  it('is done once; then only the archive is due, once, until something comes in', () => {
    const s = rested(image('base', 90 * KB));
    const parked = s.lost().event({ kind: 'session.parked', since: s.state.activeAt });
    expect(residency(s.state)).toBe('resident');
    expect(residency(parked.state)).toBe('parked');
    const since = s.state.activeAt;
    const due = since + archiveAfterMs(keptOf(s.state));
    expect(next(parked.state, due - 1)).toEqual({ choices: [], calls: [], wakeAt: due });
    expect(calls(parked, due - since)).toEqual([{ do: 'archive', since }]);
    expect(checkLog(parked.events)).toEqual([]);
    const archived = parked.event({ kind: 'session.archived', since, images: 0, bytes: 0 });
    expect(residency(archived.state)).toBe('archived');
    expect(next(archived.state, due + 1e10)).toEqual({ choices: [], calls: [], wakeAt: null });
    const read = archived.message('April');
    expect(residency(read.state)).toBe('resident');
    expect(read.state.residence).toMatchObject({
      followUps: 1,
      archivedSince: since,
      woke: { from: 'archived' },
    });
    const twice = parked.event({ kind: 'session.parked', since: 0 });
    expect(checkLog(twice.events)).toMatchObject([{ invariant: 'park.once' }]);

    const woken = parked.message('March').turn();
    expect(calls(woken)).toEqual([{ do: 'open' }]);
    expect(residency(woken.state)).toBe('resident');
  });

  it('is nothing to a session that never had a heap', () => {
    const s = sequence().started().acquired(1).message('Hello').turn().reply('Hello.').surfaced('Hello.');
    expect(next(s.state, s.state.at + 1e9)).toEqual({ choices: [], calls: [], wakeAt: null });
    expect(residency(s.state)).toBe('parked');
  });
});
