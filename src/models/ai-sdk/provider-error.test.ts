import { describe, expect, it } from 'vitest';
import { type Circumstances, toModelError } from './provider-error.ts';

const at: Circumstances = { name: 'a/b', partial: 'so far', streaming: false, secrets: [], now: 1_000 };
const inStream: Circumstances = { ...at, streaming: true };

function apiError(statusCode: number | undefined, rest: object = {}): Error {
  const error = new Error('message of the SDK');
  return Object.assign(error, { name: 'AI_APICallError', statusCode, ...rest });
}

function network(code: string): Error {
  return new TypeError('terminated', { cause: Object.assign(new Error('other side closed'), { code }) });
}

const verdict = (error: unknown, where = at) => {
  const { code, retry } = toModelError(error, where);
  return `${code} ${retry ? 'again' : 'never'}`;
};

describe('provider-error', () => {
  it.each([
    [400, 'refused_request never'],
    [401, 'unauthorized never'],
    [402, 'refused_request never'],
    [403, 'unauthorized never'],
    [404, 'refused_request never'],
    [408, 'overloaded again'],
    [409, 'overloaded again'],
    [413, 'refused_request never'],
    [429, 'rate_limited again'],
    [500, 'overloaded again'],
    [529, 'overloaded again'],
  ])('E1 status %i: %s', (status, expected) => {
    expect(verdict(apiError(status))).toBe(expected);
    expect(verdict(apiError(status), inStream)).toBe(expected);
  });

  it.each([
    [{ type: 'overloaded_error', message: 'x' }, 'overloaded again'],
    [{ type: 'api_error', message: 'x' }, 'overloaded again'],
    [{ type: 'rate_limit_error', message: 'x' }, 'rate_limited again'],
    [{ type: 'invalid_request_error', message: 'x' }, 'refused_request never'],
    [{ type: 'authentication_error', message: 'x' }, 'unauthorized never'],
    [{ code: 429, message: 'x' }, 'rate_limited again'],
    [{ code: '503', message: 'x' }, 'overloaded again'],
    [{ statusCode: 500, code: 'context_length_exceeded', message: 'x' }, 'refused_request never'],
    [{ message: 'no kind at all' }, 'overloaded again'],
    ['only words', 'overloaded again'],
  ])('E1 B074 said in a stream: %j is %s', (error, expected) => {
    expect(verdict(error, inStream)).toBe(expected);
  });

  it('E1 an account without money is not waited for', () => {
    const data = { error: { type: 'insufficient_quota', message: 'You exceeded your current quota' } };
    expect(verdict(apiError(429, { data }))).toBe('rate_limited never');
  });

  it('E2 the network: unreachable before the stream, incomplete in it', () => {
    for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_SOCKET']) {
      expect(verdict(network(code))).toBe('unreachable again');
      expect(verdict(network(code), inStream)).toBe('incomplete again');
    }
    expect(verdict(apiError(undefined, { cause: network('ECONNRESET') }))).toBe('unreachable again');
    expect(verdict(apiError(200, { cause: network('UND_ERR_SOCKET') }))).toBe('incomplete again');
  });

  it('E2 what the SDK cannot read: incomplete in a stream, a failure before', () => {
    const unread = Object.assign(new Error('no finish reason'), { name: 'AI_InvalidResponseDataError' });
    expect(verdict(unread, inStream)).toBe('incomplete again');
    expect(verdict(unread)).toBe('failed never');
    const event = Object.assign(new Error('bad shape'), {
      value: { type: 'error', error: { code: 'overloaded' } },
    });
    expect(verdict(event, inStream)).toBe('overloaded again');
  });

  it('E3 shows no key', () => {
    const key = 'quite+secret/key';
    const leaks = [
      new TypeError(`Headers.append: "Bearer ${key}\nx" is an invalid header value.`),
      apiError(401, { data: { error: { message: `Incorrect API key provided: ${key}` } } }),
      ...[340, 350, 360, 370].map((n) => apiError(400, { responseBody: `${'x'.repeat(n)} ${key}` })),
      apiError(undefined, { message: `http://me:${key}@host/ refused`, requestBodyValues: { key } }),
    ];
    for (const leak of leaks) {
      const error = toModelError(leak, { ...at, secrets: [key] });
      expect(`${error.message} ${error.stack} ${JSON.stringify(error)} ${error.cause}`).not.toContain(
        'quite',
      );
    }
    const guessed = toModelError(
      apiError(401, { message: 'bad key sk-ab**********yz or Bearer abc.def' }),
      at,
    );
    expect(guessed.message).toBe('a/b refuses our key (401): bad key [key] or [key]');
  });

  it('says what the provider said, in its words or its bytes', () => {
    const said = apiError(400, { data: { error: { message: 'max_tokens is too large' } } });
    expect(toModelError(said, at).message).toBe('a/b refuses this request (400): max_tokens is too large');
    const other = apiError(404, { message: 'Not Found', responseBody: '<html>\n nothing here' });
    expect(toModelError(other, at).message).toBe(
      'a/b refuses this request (404): Not Found <html> nothing here',
    );
    expect(toModelError(undefined, inStream)).toMatchObject({ code: 'overloaded', partial: 'so far' });
  });

  it.each([
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after': '1.5' }, 1500],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:03 GMT' }, 2000],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, null],
    [{}, null],
  ])('waits as %j asks: %s ms', (responseHeaders, ms) => {
    expect(toModelError(apiError(429, { responseHeaders }), at).retryAfterMs).toBe(ms);
  });

  it('finds the wait that Google puts into the body', () => {
    const responseBody = '{"error":{"details":[{"@type":"RetryInfo","retryDelay": "34.5s"}]}}';
    expect(toModelError(apiError(429, { responseBody }), at).retryAfterMs).toBe(34_500);
  });
});
