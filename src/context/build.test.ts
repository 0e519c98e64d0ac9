import { expect, it } from 'vitest';
import type { State } from '../core/state.ts';
import { sequence } from '../testing/facts.ts';
import { buildRequest } from './build.ts';

const around = { tools: [], briefing: '' };
const built = (s: State) => buildRequest(s, around).messages;
/** Equal, and made of other items: nothing of it was ever rendered. */
const unseen = (s: State): State => structuredClone(s);

it('C4: a request is the same whatever was rendered before', () => {
  const first = sequence().started().message('Report').turn().state;
  const older: State = {
    ...first,
    transcript: [...first.transcript, { kind: 'note', seq: 1, text: 'one', at: 1 }],
  };
  const grown: State = {
    ...older,
    transcript: [...older.transcript, { kind: 'note', seq: 1, text: 'two', at: 2 }],
  };
  const other: State = {
    ...older,
    transcript: [...older.transcript, { kind: 'note', seq: 1, text: 'else', at: 2 }],
  };
  for (const s of [older, grown, older, grown, other, grown, first, other]) {
    expect(built(s)).toEqual(built(unseen(s)));
  }
});

it('C4: limits on what is shown count for what was rendered under others', () => {
  const s = sequence().started().message('Report').turn().state;
  const long: State = {
    ...s,
    transcript: [...s.transcript, { kind: 'note', seq: 1, text: 'x'.repeat(900), at: 1 }],
  };
  const limits = { ...long.contract.limits, outputChars: 100 };
  const short: State = { ...long, contract: { ...long.contract, limits } };
  expect(JSON.stringify(built(long))).not.toContain('left out');
  expect(JSON.stringify(built(short))).toContain('left out');
  expect(JSON.stringify(built(long))).not.toContain('left out');
});

it('C4: a request that was handed out does not grow', () => {
  const s = sequence().started().message('Report').turn().state;
  const before = built(s);
  const copy = structuredClone(before);
  built({ ...s, transcript: [...s.transcript, { kind: 'note', seq: 1, text: 'later', at: 2 }] });
  expect(before).toEqual(copy);
});
