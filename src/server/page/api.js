// The API as the page needs it: calls, and a stream that is opened again from the last event that was seen.

const TOKEN = 'outlast.token';
let askForToken = null;

/** Who is asked for a token when the server wants one. */
export function onUnauthorized(ask) {
  askForToken = ask;
}

export function keepToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

export class Refused extends Error {
  constructor({ code, message, next }) {
    super(message);
    this.code = code;
    this.next = next;
  }
}

/** What went wrong, and what to do now. */
export const wordsOf = ({ message, next }) => (next ? `${message} → ${next}` : message);

/** GET without a body, POST with one. A POST is repeated under its key, so it is done once. */
export async function call(path, body, key = newKey()) {
  const init = { headers: headers() };
  if (body !== undefined) {
    init.method = 'POST';
    init.body = JSON.stringify(body);
    init.headers['content-type'] = 'application/json';
    init.headers['idempotency-key'] = key;
  }
  const response = await fetch(path, init);
  if (response.ok) return response.json();
  const error = await refusalOf(response);
  if (response.status === 401 && askForToken) {
    await askForToken();
    return call(path, body, key);
  }
  throw error;
}

export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** Events after `after`, each once and in order, until `signal` aborts; `state` is told how the line is. */
export async function* follow(session, after, signal, state) {
  let cursor = after;
  for (let pause = 300; !signal.aborted; ) {
    try {
      for await (const { event, data } of frames(`${path(session)}/events?after=${cursor}`, signal)) {
        if (event === 'stale' || event === 'failed') throw new Refused(data.error);
        state('live');
        pause = 300;
        if (event === '') continue;
        if (event !== 'whisper') cursor = data.seq;
        yield event === 'whisper' ? { kind: 'whisper', text: data.text } : data;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused && error.code !== 'server.closing') throw error;
    }
    if (signal.aborted) return;
    state('away');
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, 3000);
  }
}

export const path = (session) => `/v1/sessions/${encodeURIComponent(session)}`;

/** The frames of one connection; a comment or a bare `retry` is a frame without a name. */
async function* frames(url, signal) {
  const response = await fetch(url, { headers: { ...headers(), accept: 'text/event-stream' }, signal });
  if (!response.ok) throw await refusalOf(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop();
    for (const part of parts) yield frameOf(part);
  }
}

function frameOf(text) {
  let event = '';
  let data = null;
  for (const line of text.split('\n')) {
    if (line.startsWith('event: ')) event = line.slice(7);
    if (line.startsWith('data: ')) data = JSON.parse(line.slice(6));
  }
  return { event, data };
}

async function refusalOf(response) {
  const { error } = await response.json().catch(() => ({}));
  return new Refused(
    error ?? { code: 'internal', message: `The server answered ${response.status}.`, next: 'try again' },
  );
}

function headers() {
  const token = sessionStorage.getItem(TOKEN);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}
