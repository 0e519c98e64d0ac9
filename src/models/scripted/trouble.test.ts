// Owns: what the end of a call means, by its words. The jobs around it are in planner.test.ts.
import { expect, test } from 'vitest';
import type { ResultStatus } from '../../core/message.ts';
import type { Called, Note } from './observations.ts';
import { fateOf, troubleOf } from './trouble.ts';

const LOAD: Note = { cell: 'load', month: '2026-02', defines: false, lost: false };
const MAIL: Note = { cell: 'mail', month: '2026-02', leaveOut: [], lost: false };

const call = (note: Note, status: ResultStatus, text: string, data: Called['data'] = null): Called => ({
  ...{ kind: 'called', turn: 1, askedIn: 1 },
  ...{ note, status, text, data },
});
const failed = (text: string): Called => call(LOAD, 'failed', text);

const torn = 'page 1 of 4: 10 invoices\nEffectError [no_answer]: No answer: lost.\n    at cell c4:3';

test.each([
  ['nothing yet', [], 'none'],
  ['a result', [call(LOAD, 'done', '{}', { cell: 'load' })], 'none'],
  ['no line of ours', [call(LOAD, 'done', 'fine!')], 'end'],
  ['a call that waits for a person', [call(LOAD, 'suspended', 'It waits.')], 'end'],
  ['an unknown end', [call(LOAD, 'unknown', 'Nobody knows.')], 'end'],
  ['a refusal of the runtime', [call(LOAD, 'refused', 'No.')], 'end'],
  ['an interruption', [call(LOAD, 'interrupted', 'Stopped.')], 'end'],
  ['a 503', [failed('Error: HTTP 503: {}')], 'retry'],
  ['a 503 for the third time', Array(3).fill(failed('Error: HTTP 503: {}')), 'end'],
  ['a 404', [failed('Error: HTTP 404: {}')], 'end'],
  ['a 401', [failed('Error: HTTP 401: {}')], 'renew'],
  ['no answer', [failed(torn)], 'retry'],
  ['no answer for the second time', [failed(torn), failed(torn)], 'end'],
  ['a grant that is not there', [failed('EffectError [grant.none]: GET x is not granted.')], 'end'],
  ['an answer of another shape', [failed('Error: Not as described: {}')], 'end'],
  ['an abort', [failed('Aborted: the cell ran too long.')], 'end'],
  ['a lost variable', [failed('ReferenceError: client is not defined\n    at cell c4:2')], 'none'],
  ['one that is lost for ever', Array(3).fill(failed('ReferenceError: client is not defined')), 'end'],
  ['words of a service', [failed('Error: HTTP 400: {"error":\nReferenceError: x is not defined')], 'end'],
])('%s: %#', (_, calls, kind) => {
  expect(troubleOf(calls).kind).toBe(kind);
});

test('a token is renewed once in a turn', () => {
  const refused = failed('Error: HTTP 401: {}');
  const renewed = call({ cell: 'renew', lost: false }, 'done', '', { cell: 'renew' });
  expect(troubleOf([refused, renewed, refused]).kind).toBe('end');
});

const answered = (status: number | undefined, answer: string): Called =>
  call(MAIL, 'done', '', { cell: 'mail', to: 'a@b.example', answer, ...(status && { status }) });

test.each([
  ['its id', answered(201, '{"id":"mail_1"}'), 'sent'],
  ['a record by reference', answered(200, '{"messages":[{"id":"mail_1"}]}'), 'sent'],
  ['no id', answered(201, 'ok'), 'unclear'],
  ['no answer, by the word of a person', answered(undefined, ''), 'unclear'],
  ['a 500', answered(500, '{}'), 'unclear'],
  ['a 400', answered(400, '{}'), 'not-sent'],
  ['output that cannot be read', call(MAIL, 'done', 'fine!'), 'unclear'],
  ['a torn connection', call(MAIL, 'failed', torn), 'unclear'],
  ['an abort', call(MAIL, 'failed', 'Aborted: the engine broke.'), 'unclear'],
  ['a lost sandbox', call(MAIL, 'failed', 'The sandbox was lost while the cell ran.'), 'unclear'],
  ['a lost variable', call(MAIL, 'failed', 'ReferenceError: account is not defined'), 'not-sent'],
  ['the word of a person', call(MAIL, 'failed', 'EffectError [rejected]: It did not happen'), 'not-sent'],
  ['unknown', call(MAIL, 'unknown', ''), 'unclear'],
  ['an interruption', call(MAIL, 'interrupted', 'Already sent: e7.'), 'unclear'],
  ['a refusal of the runtime', call(MAIL, 'refused', ''), 'not-sent'],
  ['a question to a person', call(MAIL, 'suspended', ''), 'waits'],
])('a mail that ends in %s', (_, ended, kind) => {
  expect(fateOf(ended).kind).toBe(kind);
  expect(troubleOf([ended]).kind).toBe('none');
});
