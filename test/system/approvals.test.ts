// Owns: approvals over a real store and real requests: through restarts and days, in a cell, and against the own server.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as realTime } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Owner } from '../../src/core/ids.ts';
import { type Policy, policyOf } from '../../src/core/policy.ts';
import { leaseDriver } from '../../src/driver/leases.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { seededEntropy } from '../../src/lib/entropy.ts';
import { openSeal } from '../../src/lib/seal.ts';
import { localBell } from '../../src/loop/bell.ts';
import { registry } from '../../src/loop/tools/registry.ts';
import { type Outlast, outlast } from '../../src/runtime/runtime.ts';
import { app } from '../../src/server/app.ts';
import { listen } from '../../src/server/listen.ts';
import { sqliteStore } from '../../src/store/sqlite/open.ts';
import { tool } from '../../src/testing/harness.ts';
import { inlineSandbox } from '../../src/testing/inline-sandbox.ts';
import { memoryWorkspaces } from '../../src/workspace/memory.ts';
import { cell, cellByCell, createOutlast, say, since, withFolder } from './outlast.ts';

const DAY_MS = 86_400_000;

/** Time as it is, in which days pass at once while nobody is there. */
function leaping(): Clock & { leap(ms: number): void } {
  let ahead = 0;
  return {
    ...systemClock,
    now: () => systemClock.now() + ahead,
    leap(ms) {
      ahead += ms;
    },
  };
}

describe('over SQLite, in virtual days', () => {
  const sent: unknown[] = [];
  const post = tool('post', { kind: 'blind' }, async (args, { reference }) => {
    sent.push([args, reference]);
    return { status: 'done', result: 'posted' };
  });
  const source = `const box = { n: 40, add(k) { this.n += k; return this; } };
    const said = await tools.post({ what: 'letter' });
    box.add(2).n + ' ' + said`;

  async function worker(dir: string, clock: Clock, policy: Policy): Promise<Outlast> {
    const store = await sqliteStore({ dir, clock });
    const ports = {
      ...{
        store,
        clock,
        policy,
        prices: { price: async () => null },
        entropy: seededEntropy(3),
        bell: localBell(),
        leaseMs: 15_000,
        briefing: '',
      },
      model: cellByCell({ 'post it from code': [source] }),
      sandbox: await inlineSandbox(),
      workspaces: memoryWorkspaces(),
      tools: registry([post]),
      sealer: openSeal(new Uint8Array(32).fill(1)),
      holder: `worker-${clock.now()}`,
      report: (line: string, cause?: unknown) => expect.soft(cause, line).toBeUndefined(),
    };
    return outlast(ports, leaseDriver({ ...ports, sweepMs: 100 }), 'local' as Owner);
  }

  async function until(holds: () => Promise<boolean>): Promise<void> {
    for (let i = 0; i < 2_000; i++) {
      if (await holds()) return;
      await realTime(5);
    }
    throw new Error('it never came to that');
  }

  it('B029 a cell waits for its approval through a restart and five days, and goes on from that line', () =>
    withFolder(async (dir) => {
      sent.length = 0;
      const clock = leaping();
      const first = await worker(dir, clock, policyOf([]));
      const { session } = await first.start({ message: 'post it from code', persist: true });
      await until(async () => (await first.inspect(session)).phase === 'awaiting_decision');
      await first.close();
      clock.leap(5 * DAY_MS);

      const second = await worker(dir, clock, policyOf([]));
      const [open] = (await second.inspect(session)).decisions;
      expect(open).toMatchObject({ id: 'd1', about: 'approval', action: { args: { what: 'letter' } } });
      expect((open?.expiresAt ?? 0) - clock.now()).toBeGreaterThan(DAY_MS);
      expect(sent).toEqual([]);
      await second.decide(session, 'd1', 'approve', 'go', { digest: open?.digest ?? '' });
      await until(async () => (await second.inspect(session)).phase === 'awaiting_input');
      const seen = await second.inspect(session);
      expect(seen.lastTurn?.text).toBe('"42 posted"');
      expect(seen.heap.restored?.rung).toBe('exact');
      expect(sent).toEqual([[{ what: 'letter' }, `${session}.e1`]]);
      const verified = await second.verify(session);
      expect([verified.violations, verified.identical]).toEqual([[], true]);
      const started = (await second.events(session, 0, 1_000)).filter(({ kind }) => kind === 'cell.started');
      expect(started).toHaveLength(1);
      await second.close();
    }));

  it('B153 it expires while no worker is there; the first that comes tells the code, and nothing is sent', () =>
    withFolder(async (dir) => {
      sent.length = 0;
      const clock = leaping();
      const soon = policyOf([
        { name: 'soon', when: ({ tool }) => tool === 'post', verdict: 'ask', expiresAfterMs: DAY_MS },
      ]);
      const first = await worker(dir, clock, soon);
      const { session } = await first.start({ message: 'post it from code', persist: true });
      await until(async () => (await first.inspect(session)).phase === 'awaiting_decision');
      await first.close();
      clock.leap(2 * DAY_MS);

      const second = await worker(dir, clock, soon);
      await expect(second.decide(session, 'd1', 'approve')).rejects.toMatchObject({
        code: 'decision.expired',
      });
      await until(async () => (await second.inspect(session)).phase === 'awaiting_input');
      expect((await second.inspect(session)).lastTurn?.text).toContain('Nobody approved it in time (d1)');
      expect(sent).toEqual([]);
      await second.close();
    }));
});

describe('the policy of a runtime', () => {
  const model = { name: 'test/none', scripted: true, generate: async () => say('hello') };
  const refusal = (options: Parameters<typeof createOutlast>[0]) =>
    createOutlast({ model, ...options }).then(
      async (outlast) => {
        await outlast.close();
        return 'opened';
      },
      (error: Error) => error.message,
    );

  it('is read from the data folder, or from where one says; a bad one is refused with its place', () =>
    withFolder(async (dataDir) => {
      const path = join(dataDir, 'policy.json');
      expect(await refusal({ dataDir })).toBe('opened');
      writeFileSync(path, '{"rules":[{"name":"a","verdict":"ask","when":{"args":{"maximum":3}}}]}');
      expect(await refusal({ dataDir })).toContain(
        `${path}: The policy is wrong. rules[0].when.args.type: is one of`,
      );
      writeFileSync(path, '{"rules":[{"name":"a","verdict":"ask"}]}');
      expect(await refusal({ dataDir })).toBe('opened');
      expect(await refusal({ dataDir, policy: join(dataDir, 'gone.json') })).toMatch(/gone\.json: ENOENT/);
      expect(await refusal({ policy: { rules: [{ name: '', verdict: 'ask' }] } })).toContain(
        'rules[0].name: ',
      );
    }));
});

it('B139 a task to which its own server was granted cannot decide there, from code or without', async () => {
  let serve: (request: Request) => Response | Promise<Response> = () => new Response(null, { status: 503 });
  const listening = await listen({ fetch: async (request) => serve(request), port: 0 });
  const decisions = (id: string) => `${listening.url}/v1/sessions/${id}/decisions`;
  const outlast = await createOutlast({
    model: {
      name: 'test/sly',
      scripted: true,
      generate: async (request) => {
        const { instruction, results } = since(request);
        if (results.length === 2) return say(results.join('\n'));
        const url = decisions(instruction);
        const body = { decision: 'd1', answer: 'approve' };
        const http = { type: 'tool-call', tool: 'http', input: { url, method: 'POST', body } } as const;
        if (results.length === 0 && instruction.startsWith('ses_')) return { ...cell(''), parts: [http] };
        return cell(`const sent = await fetch('${url}', { method: 'POST', body: '${JSON.stringify(body)}',
            headers: { 'content-type': 'application/json', 'x-outlast-epoch': '' } });
          sent.status + ' ' + (await sent.json()).error.code`);
      },
    },
    grants: [{ name: 'me', origin: listening.url, rules: [{ method: '*', path: '/**' }] }],
    policy: {
      rules: [
        { name: 'careless', verdict: 'allow', when: ({ args }) => JSON.stringify(args).includes('ses_') },
      ],
    },
  });
  try {
    const server = app(outlast);
    serve = (request) => server.fetch(request);
    // Its request is asked about: no session is named in it.
    const { session } = await outlast.start({ message: 'wait', persist: true });
    expect(await outlast.rest(session)).toBe('awaiting_decision');
    const sly = await outlast.start({ message: session, persist: true });
    expect(await outlast.rest(sly.session)).toBe('awaiting_input');
    const { lastTurn, ledger } = await outlast.inspect(sly.session);
    expect(lastTurn?.text).toMatch(/"status":403.*owner\.unauthorized.*\n"403 owner\.unauthorized"$/s);
    expect(ledger.map(({ status, rule }) => [status, rule])).toEqual([
      ['done', 'careless'],
      ['done', 'careless'],
    ]);
    expect((await outlast.inspect(session)).decisions).toHaveLength(1);
    // A person can.
    const decided = await fetch(decisions(session), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ decision: 'd1', answer: 'reject' }),
    });
    expect(decided.status).toBe(200);
  } finally {
    await listening.close(0);
    await outlast.close();
  }
});
