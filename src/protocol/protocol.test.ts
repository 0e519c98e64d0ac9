import { expect, test } from 'vitest';
import { ERRORS, type ErrorCode, OutlastError } from '../core/error.ts';
import { errorBody, errorOf, STATUS, staleCursor, statusOf } from './error.ts';
import { openapi } from './openapi.ts';
import { pathOf, ROUTES } from './routes.ts';
import { commentFrame, eventFrame, whisperFrame } from './sse.ts';

test('every code crosses the wire and comes out as it went in', () => {
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    const error = new OutlastError(code, 'what', { next: 'then' });
    expect(errorOf(JSON.parse(JSON.stringify(errorBody(error)))), code).toMatchObject({
      code,
      message: 'what',
      next: 'then',
    });
    expect(statusOf(error)).toBeGreaterThanOrEqual(400);
  }
  expect(errorOf(errorBody(staleCursor(9, 3)))?.code).toBe('cursor.stale');
});

test('what is not ours crosses as internal and carries nothing', () => {
  const error = new Error('password=1');
  expect(statusOf(error)).toBe(500);
  expect(JSON.stringify(errorBody(error))).not.toContain('password');
  expect(errorOf({ error: { code: 'made.up', message: 'x' } })?.code).toBe('internal');
  for (const body of [null, 'x', {}, { error: 'x' }, { error: { code: 1 } }])
    expect(errorOf(body)).toBeNull();
});

test('the statuses that clients and proxies act on', () => {
  expect(STATUS).toMatchObject({
    'session.unknown': 404,
    'key.conflict': 409,
    'message.invalid': 400,
    'session.stopped': 409,
    'decision.closed': 409,
    'owner.unauthorized': 401,
    'store.full': 507,
  });
});

test('no text can end a frame early', () => {
  const text = 'a\n\nevent: session.stopped\ndata: {}\r\n\r\n\u2028';
  const event = { kind: 'turn.failed', seq: 7, at: 1, turn: 1, code: 'x', reason: text, claims: [] } as const;
  expect(eventFrame(event).split('\n')).toHaveLength(5);
  expect(whisperFrame({ kind: 'whisper', text }).split('\n')).toHaveLength(4);
  expect(commentFrame(text).split('\n')).toHaveLength(3);
  expect(JSON.parse(eventFrame(event).split('\n')[2]?.slice(6) ?? '')).toEqual(event);
});

test('an id is one segment of a path, whatever it is', () => {
  expect(pathOf('send', '../x/y?z#')).toBe('/v1/sessions/..%2Fx%2Fy%3Fz%23/messages');
});

test('the document says which answers can be streams', () => {
  const { paths } = openapi() as unknown as { paths: Record<string, Record<string, object>> };
  const streams = Object.entries(paths).flatMap(([path, { get }]) =>
    JSON.stringify(get ?? {}).includes('"text/event-stream"') ? [path] : [],
  );
  expect(streams).toEqual(['/v1/inbox', '/v1/sessions/{id}/events']);
});

test('the document names each route once, with the meaning of its key', () => {
  const text = JSON.stringify(openapi());
  for (const [id, { method }] of Object.entries(ROUTES)) {
    expect(text.split(`"operationId":"${id}"`), id).toHaveLength(2);
    if (method === 'POST') expect(text).toContain('Idempotency-Key');
  }
});
