import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answer, type Caller, caller, refusal } from '../../test/server/caller.ts';
import { type World, world } from '../../test/server/world.ts';
import { pathOf } from '../protocol/routes.ts';
import { app } from './app.ts';

let outlast: World;
let server: ReturnType<typeof app>;
let http: Caller;

beforeEach(() => {
  outlast = world();
  server = app(outlast, { version: '1.2.3' });
  http = caller(server);
});

afterEach(async () => {
  outlast.release();
  await outlast.close();
});

describe('the calls', () => {
  test('start answers with a receipt, and the session comes to rest with its response', async () => {
    const started = await http.call('start', '', { message: 'say hello', persist: true, title: 'Greeting' });
    const session = expect.stringMatching(/^ses_/);
    expect(started).toEqual({ session, message: 'm1', seq: 2, rule: 'starts turn 1' });
    expect(await http.rested(started.session)).toMatchObject({
      phase: 'awaiting_input',
      title: 'Greeting',
      model: 'test/parrot',
      lastTurn: { text: 'hello' },
    });
  });

  test('a one-shot session ends completed', async () => {
    const id = await http.start('say done', {});
    expect(await http.rested(id)).toMatchObject({ phase: 'completed', persist: false });
  });

  test('send answers with the rule that applies, while it works and at rest', async () => {
    const id = await http.start('hold');
    await outlast.holding;
    expect(await http.call('send', id, { message: 'say more' })).toMatchObject({
      message: 'm2',
      rule: 'joins turn 1 at its next step, or starts turn 2 if this step is its last',
    });
    const later = await http.call('send', id, { message: 'say x', when: 'later' });
    expect(later.rule).toBe('starts turn 2 after the response');
    outlast.release();
    expect((await http.rested(id)).phase).toBe('awaiting_input');
    expect((await http.call('send', id, { message: 'say bye' })).rule).toMatch(/^starts turn/);
    expect((await http.rested(id)).lastTurn?.text).toBe('bye');
  });

  test('list pages, newest first, and filters by phase', async () => {
    const ids = [await http.start('say a'), await http.start('say b'), await http.start('say c', {})];
    for (const id of ids) await http.rested(id);
    const page = await answer('list', await http.get('/v1/sessions?limit=2'));
    const rest = await answer('list', await http.get(`/v1/sessions?limit=2&after=${page.after}`));
    expect([page.sessions.length, rest.after]).toEqual([2, null]);
    expect([...page.sessions, ...rest.sessions].map(({ id }) => id).sort()).toEqual(ids.sort());
    const completed = await answer('list', await http.get('/v1/sessions?phase=completed'));
    expect(completed.sessions.map(({ title }) => title)).toEqual(['say c']);
    expect(Object.keys(completed.sessions[0] ?? {})).not.toContain('owner');
  });

  test('pause, resume, interrupt, stop and reopen turn it as they say', async () => {
    const id = await http.start('hold');
    await outlast.holding;
    expect(await http.call('pause', id)).toEqual({ session: id, phase: 'paused' });
    expect(await http.call('resume', id)).toEqual({ session: id, phase: 'working' });
    expect(await http.call('interrupt', id)).toEqual({ session: id, phase: 'awaiting_input' });
    expect(await refusal(http.post(`/v1/sessions/${id}/interrupt`))).toMatchObject({
      status: 409,
      code: 'turn.none',
    });
    expect(await http.call('stop', id)).toEqual({
      session: id,
      status: 'stopped',
      unknown: [],
      children: [],
    });
    const refused = await refusal(http.post(`/v1/sessions/${id}/messages`, { message: 'say x' }));
    expect(refused).toMatchObject({ status: 409, code: 'session.stopped' });
    expect(await http.call('reopen', id)).toMatchObject({ phase: 'awaiting_input' });
  });

  test('a lost blind effect becomes a question; the first answer stands', async () => {
    const id = await http.start('pay');
    const decide = (body: object) => http.post(`/v1/sessions/${id}/decisions`, body);
    const asked = await http.rested(id);
    expect(asked).toMatchObject({
      phase: 'awaiting_decision',
      ledger: [{ effect: 'e1', status: 'unknown' }],
      decisions: [{ id: 'd1', effect: 'e1' }],
    });
    expect(await refusal(decide({ decision: 'd1', answer: 'answer' }))).toMatchObject({
      status: 400,
      code: 'decision.invalid',
    });
    expect(await refusal(decide({ decision: 'd99', answer: 'done' }))).toMatchObject({
      status: 404,
      code: 'decision.unknown',
    });
    await http.call('decide', id, { decision: 'd1', answer: 'done', text: 'seen it' });
    expect(await refusal(decide({ decision: 'd1', answer: 'not-done' }))).toMatchObject({
      status: 409,
      code: 'decision.closed',
    });
    const [row] = (await http.rested(id)).ledger;
    expect(row).toMatchObject({ status: 'done', evidence: expect.stringMatching(/^person/) });
  });

  test('an approval shows the exact action, takes one word for it, and no other action', async () => {
    const id = await http.start('refund');
    const asked = await http.rested(id);
    expect(asked).toMatchObject({
      phase: 'awaiting_decision',
      ledger: [{ effect: 'e1', status: 'intended', rule: 'default:blind' }],
      decisions: [
        {
          ...{ id: 'd1', about: 'approval', effect: 'e1', options: ['approve', 'reject'] },
          action: { tool: 'refund', target: 'POST test://shop', args: { cents: 700 } },
          why: 'the rule "default:blind" asks',
          digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      ],
    });
    const [{ digest, since, expiresAt } = { digest: null, since: 0, expiresAt: 0 }] = asked.decisions;
    expect(expiresAt).toBe(since + 7 * 86_400_000);
    const decide = (body: object) => http.post(`/v1/sessions/${id}/decisions`, { decision: 'd1', ...body });
    const stale = { answer: 'approve', digest: 'f'.repeat(64) };
    expect(await refusal(decide(stale))).toMatchObject({ status: 409, code: 'decision.stale' });
    expect(await refusal(decide({ answer: 'done' }))).toMatchObject({
      status: 400,
      code: 'decision.invalid',
    });
    await http.call('decide', id, { decision: 'd1', answer: 'approve', digest });
    expect(await http.rested(id)).toMatchObject({
      ...{ phase: 'awaiting_input', decisions: [] },
      ledger: [{ effect: 'e1', status: 'done' }],
    });
    expect(await refusal(decide({ answer: 'reject' }))).toMatchObject({
      status: 409,
      code: 'decision.closed',
    });
  });

  test('B139 a request that a task sends is refused, whatever was granted to it', async () => {
    const id = await http.start('refund');
    await http.rested(id);
    const body = { decision: 'd1', answer: 'approve' };
    const sent = http.post(`/v1/sessions/${id}/decisions`, body, { 'x-outlast-epoch': '1' });
    expect(await refusal(sent)).toMatchObject({ status: 403, code: 'owner.unauthorized' });
    expect((await http.rested(id)).decisions).toHaveLength(1);
  });

  test('a question of the work takes one of its choices, word for word', async () => {
    const id = await http.start('choose blue|red');
    expect(await http.rested(id)).toMatchObject({
      phase: 'awaiting_decision',
      decisions: [
        { id: 'd1', effect: null, question: 'Which one?', options: ['answer'], choices: ['blue', 'red'] },
      ],
    });
    const refused = await refusal(
      http.post(`/v1/sessions/${id}/decisions`, { decision: 'd1', answer: 'answer', text: 'green' }),
    );
    expect(refused).toMatchObject({ status: 400, code: 'decision.invalid' });
    await http.call('decide', id, { decision: 'd1', answer: 'answer', text: 'red' });
    expect(await http.rested(id)).toMatchObject({ phase: 'awaiting_input', decisions: [] });
  });

  test('ask answers beside the work and leaves no event; a model that fails is 502', async () => {
    const id = await http.start('say hello');
    const before = await http.rested(id);
    expect(await http.call('ask', id, { question: 'say well' })).toEqual({
      answer: 'well',
      model: 'test/parrot',
      asOf: before.head,
      usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 },
    });
    const ask = (question: string) => refusal(http.post(`/v1/sessions/${id}/ask`, { question }));
    expect(await ask('fail')).toEqual({
      status: 502,
      code: 'model.failed',
      message: 'The model will not.',
      next: 'ask again; the task itself is as it was',
    });
    expect(await ask(' ')).toMatchObject({ status: 400, code: 'message.invalid' });
    expect(await http.rested(id)).toEqual(before);
  });

  test('images come in base64, with a start and with a message; what is no image is refused', async () => {
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
    const images = [{ mediaType: 'image/png', data: png.toString('base64') }];
    const { session } = await http.call('start', '', { message: 'say hello', persist: true, images });
    await http.rested(session);
    await http.call('send', session, { message: 'say more', images: [...images, ...images] });
    await http.rested(session);
    const { events } = await answer('events', await http.get(`/v1/sessions/${session}/events`));
    const kept = events.flatMap((event) => (event.kind === 'message.accepted' ? [event.images] : []));
    const reference = {
      mediaType: 'image/png',
      bytes: 11,
      blob: expect.any(String),
      digest: expect.any(String),
    };
    expect(kept).toEqual([[reference], [reference, reference]]);

    const send = (data: string, mediaType = 'image/png') =>
      refusal(http.post(`/v1/sessions/${session}/messages`, { message: 'x', images: [{ mediaType, data }] }));
    expect(await send('no base64!')).toMatchObject({
      status: 400,
      code: 'request.invalid',
      message: expect.stringContaining('body.images.0.data: no base64'),
    });
    expect(await send(png.toString('base64'), 'image/gif')).toMatchObject({
      status: 400,
      code: 'message.invalid',
    });
  });

  test('the largest message that is legal fits into a body', async () => {
    const large = (bytes: number) => {
      const data = Buffer.alloc(bytes);
      data.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
      return { mediaType: 'image/png', data: data.toString('base64') };
    };
    const images = [5, 5, 4].map((mb) => large(mb * 1024 * 1024));
    const { session } = await http.call('start', '', { message: 'say hello', images });
    expect((await http.rested(session)).phase).toBe('completed');
  });

  test('a budget: the session rests and says why, takes a message, and goes on when it is raised', async () => {
    const budget = { session: { steps: 1 }, turn: { tokens: 1_000_000 } };
    const id = await http.start('look', { persist: true, budget });
    const rests = await http.rested(id);
    expect(rests).toMatchObject({
      phase: 'paused',
      reason: expect.stringContaining("The session's budget is used up: 1 model call of 1 model call."),
      budget: {
        ...budget,
        spent: { steps: 1, unpriced: 1 },
        words: expect.stringContaining('1 call unpriced'),
      },
    });
    const receipt = await http.call('send', id, { message: 'say more' });
    expect(receipt.rule).toContain('waits until its budget is raised');
    await http.call('setBudget', id, { session: { steps: null } });
    expect(await http.rested(id)).toMatchObject({
      phase: 'awaiting_input',
      budget: { session: {}, turn: budget.turn },
    });
    expect(await refusal(http.post(`/v1/sessions/${id}/budget`, { session: { steps: -1 } }))).toMatchObject({
      ...{ status: 400, code: 'request.invalid' },
    });
    expect(await refusal(http.post(`/v1/sessions/${id}/budget`, { session: { dollars: 1 } }))).toMatchObject({
      ...{ status: 400, code: 'request.invalid' },
    });
  });

  test("an owner's budget bounds all sessions together, and raising it wakes those that rest on it", async () => {
    expect(await http.call('ownerBudget')).toMatchObject({ limits: {}, spent: { steps: 0 } });
    await http.call('setOwnerBudget', '', { limits: { steps: 1 } });
    const ids = [await http.start('say one'), await http.start('say two')];
    const phases = [(await http.rested(ids[0] ?? '')).phase, (await http.rested(ids[1] ?? '')).phase];
    expect(phases.sort()).toEqual(['awaiting_input', 'paused']);
    expect(await http.call('setOwnerBudget', '', { limits: null })).toMatchObject({
      limits: {},
      spent: { steps: 1 },
    });
    for (const id of ids) expect((await http.rested(id)).phase).toBe('awaiting_input');
  });

  test('slots: a full house shows each place, and the number is changed for oneself', async () => {
    expect(await http.call('setSlots', '', { slots: 1 })).toMatchObject({ slots: 1, isOwn: true });
    const busy = await http.start('hold');
    await outlast.holding;
    const id = await http.start('say hello');
    await expect.poll(async () => (await http.call('inspect', id)).place).toBe(1);
    const { sessions } = await http.call('list');
    expect(sessions.find((row) => row.id === id)).toMatchObject({ phase: 'working', place: 1 });
    expect(await http.call('slots')).toEqual({ slots: 1, isOwn: true, working: 1, waiting: 1 });
    outlast.release();
    for (const one of [busy, id]) expect((await http.rested(one)).place).toBeNull();
    expect(await http.call('setSlots', '', { slots: null })).toMatchObject({ isOwn: false, working: 0 });
    expect(await http.call('stats')).toMatchObject({ closedTooEarly: { sessions: 0 } });
    expect(await refusal(http.post('/v1/slots', { slots: 0 }))).toMatchObject({ status: 400 });
  });

  test('verify checks the log', async () => {
    const id = await http.start('say hello');
    await http.rested(id);
    expect(await http.call('verify', id)).toMatchObject({ violations: [], image: 'none', identical: null });
  });

  test('the recovery report can be read at any time', async () => {
    const id = await http.start('say hello');
    await http.rested(id);
    const found = await http.call('report', id);
    expect(found).toMatchObject({ losses: 0, last: null });
    expect(found.lines).toContainEqual(
      expect.objectContaining({ kind: 'answers', fate: 'survived', what: 'the response of turn 1' }),
    );
  });

  test('its log can be recalled by words, by kind and time, and by id, word for word', async () => {
    const id = await http.start('say hello to INV-2031-0042');
    await http.rested(id);
    const { passages } = await http.call('recall', id, { words: 'what about INV-2031-0042' });
    expect(passages[0]).toMatchObject({ id: '#2', kind: 'message', text: 'say hello to INV-2031-0042' });
    const [original] = (await http.call('recall', id, { id: '#2' })).passages;
    expect(original).toMatchObject({ seq: 2, text: 'say hello to INV-2031-0042', offset: 0, length: 26 });
    const listed = await http.call('recall', id, { kind: 'response', from: '2020-01-01' });
    expect(listed).toMatchObject({ by: 'time', older: 0, passages: [{ kind: 'response' }] });
    expect((await http.call('recall', id, { to: '2020-01-01' })).passages).toEqual([]);
    for (const query of ['id=%2399', 'kind=rumour', 'from=yesterday', 'limit=0', 'word=x'])
      expect((await http.get(`${pathOf('recall', id)}?${query}`)).status, query).toBe(400);
  });

  test('a failed turn leaves the session awaiting input, with the reason', async () => {
    const id = await http.start('fail');
    const reason = expect.stringMatching(/will not/);
    expect(await http.rested(id)).toMatchObject({ phase: 'awaiting_input', reason });
  });
});

describe('keys', () => {
  const key = { 'idempotency-key': 'k-1' };

  test('B003: a repeated send with its key is one message and gets the first receipt', async () => {
    const id = await http.start('say hello');
    await http.rested(id);
    const first = await http.call('send', id, { message: 'say again' }, key);
    await http.rested(id);
    expect(await http.call('send', id, { message: 'say again' }, key)).toEqual(first);
    expect((await http.rested(id)).lastTurn?.number).toBe(2);
    const other = await refusal(http.post(`/v1/sessions/${id}/messages`, { message: 'say other' }, key));
    expect(other).toMatchObject({ status: 409, code: 'key.conflict' });
  });

  test('a repeated start with its key is one session', async () => {
    const start = () => http.call('start', '', { message: 'say hello' }, key);
    const [first, second] = await Promise.all([start(), start()]);
    expect(second).toEqual(first);
    expect((await http.call('list')).sessions).toHaveLength(1);
    expect((await http.post('/v1/sessions', { message: 'say bye' }, key)).status).toBe(409);
  });

  test('a repeated interrupt with its key does not end the next turn', async () => {
    const id = await http.start('hold');
    await outlast.holding;
    const first = await http.call('interrupt', id, {}, key);
    await http.call('send', id, { message: 'say next' });
    expect(await http.call('interrupt', id, {}, key)).toEqual(first);
    expect((await http.rested(id)).lastTurn).toMatchObject({ end: 'surfaced', text: 'next' });
  });

  test('one key cannot mean two calls, and a call that failed may be tried again', async () => {
    const id = await http.start('pay');
    await http.rested(id);
    const decide = (body: object) => http.post(`/v1/sessions/${id}/decisions`, body, key);
    expect((await decide({ decision: 'd1', answer: 'answer' })).status).toBe(400);
    expect((await decide({ decision: 'd1', answer: 'done' })).status).toBe(200);
    expect((await decide({ decision: 'd1', answer: 'done' })).status).toBe(200);
    expect(await refusal(decide({ decision: 'd1', answer: 'not-done' }))).toMatchObject({
      code: 'key.conflict',
    });
  });

  test('a key that no header should carry is refused', async () => {
    const refused = await refusal(
      http.post('/v1/sessions', { message: 'say x' }, { 'idempotency-key': 'a b' }),
    );
    expect(refused).toMatchObject({ status: 400, code: 'request.invalid' });
  });
});

describe('refusals', () => {
  test('what does not fit is named by its path', async () => {
    const cases: [unknown, RegExp][] = [
      [{}, /body\.message/],
      [{ message: 'x', limits: { heapMb: 0 } }, /body\.limits\.heapMb/],
      [{ message: 'x', persits: true }, /persits/],
      [[], /body/],
    ];
    for (const [body, path] of cases) {
      expect(await refusal(http.post('/v1/sessions', body))).toEqual({
        status: 400,
        code: 'request.invalid',
        message: expect.stringMatching(path),
        next: expect.stringMatching(/openapi/),
      });
    }
    expect((await refusal(http.post('/v1/sessions', { message: ' ' }))).code).toBe('message.invalid');
    expect((await refusal(http.get('/v1/sessions?limit=9000'))).message).toMatch(/query\.limit/);
    expect((await refusal(http.get('/v1/sessions?lmit=9'))).message).toMatch(/lmit/);
    const headers = { 'content-type': 'application/json' };
    const broken = await server.request('/v1/sessions', { method: 'POST', headers, body: '{"message":' });
    expect(await refusal(broken)).toMatchObject({ status: 400, message: expect.stringMatching(/no JSON/) });
  });

  test('a body is limited, and JSON by its content type', async () => {
    const long413 = { status: 413, code: 'request.invalid' };
    const big = http.post(`/v1/sessions/ses_00000000000000000000/decisions`, { text: 'x'.repeat(3_000_000) });
    expect(await refusal(big)).toMatchObject(long413);
    const huge = http.post('/v1/sessions', { message: 'x'.repeat(22_000_000) });
    expect(await refusal(huge)).toMatchObject(long413);
    const long = http.post('/v1/sessions', { message: 'x'.repeat(250_000) });
    expect(await refusal(long)).toMatchObject({ status: 400, code: 'message.invalid' });
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
      const form = http.post('/v1/sessions', { message: 'say x' }, { 'content-type': type });
      expect(await refusal(form)).toMatchObject({ status: 415, code: 'request.invalid' });
    }
    expect((await http.call('list')).sessions).toEqual([]);
  });

  test('B141: an id that is none, or a path, is unknown', async () => {
    const ids = [
      'ses_0000000000000000000',
      '..%2f..%2fx',
      'a%2fb',
      'x'.repeat(300),
      '%00',
      'ses_%D0%B0bcdefghjkmnpq',
    ];
    for (const id of ids) {
      expect(await refusal(http.get(`/v1/sessions/${id}`))).toMatchObject({
        status: 404,
        code: 'session.unknown',
      });
    }
  });

  test('a route that is not there says so', async () => {
    const id = await http.start('say x');
    for (const path of [`/v1/sessions/${id}/merge`, '/v1/nothing', '/../etc/passwd']) {
      expect(await refusal(http.post(path))).toMatchObject({ status: 404, code: 'route.unknown' });
    }
    expect(await refusal(http.get('/v1/outbox'))).toMatchObject({ status: 404, code: 'route.unknown' });
  });

  test('a failure inside tells nothing of the inside, and is reported', async () => {
    const reports: unknown[] = [];
    const broken = {
      ...outlast,
      as: () => ({ ...outlast, list: () => Promise.reject(new Error('secret')) }),
    };
    const failing = app(broken, { report: (...args) => reports.push(args) });
    const refused = await refusal(failing.request('/v1/sessions'));
    expect(refused).toMatchObject({ status: 500, code: 'internal' });
    expect(JSON.stringify(refused)).not.toContain('secret');
    expect(reports).toHaveLength(1);
  });
});

describe('what it says about itself', () => {
  test('healthz', async () => {
    expect(await http.call('health')).toEqual({
      ok: true,
      product: 'outlast',
      version: '1.2.3',
      owner: 'local',
      pid: process.pid,
      data: null,
      store: 'memory',
      model: { name: 'test/parrot', scripted: true },
      parking: null,
    });
  });

  test('the OpenAPI document describes each route and its body', async () => {
    const text = await (await http.get('/v1/openapi.json')).text();
    const { openapi, paths } = JSON.parse(text);
    expect(openapi).toBe('3.1.0');
    expect(Object.keys(paths)).toContain('/v1/sessions/{id}/messages');
    const { schema } = paths['/v1/sessions'].post.requestBody.content['application/json'];
    expect(schema.required).toEqual(['message']);
    expect(text).not.toContain('readOnly');
  });

  test('the page is ours alone: a strict policy, no inline script, nothing from elsewhere', async () => {
    const page = await http.get('/');
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self';/);
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    const text = await page.text();
    expect(text).not.toMatch(/<script(?![^>]*src=)|style=|https?:\/\/|\son\w+=/);
    const parts = [...text.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map((found) => found[1] ?? '');
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect((await http.get(part)).status, part).toBe(200);
  });
});
