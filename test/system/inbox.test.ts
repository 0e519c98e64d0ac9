/** The inbox: one list of everything that awaits a person, over all sessions, from a real disk and through restarts. */

import { expect, it } from 'vitest';
import type { ModelRequest } from '../../src/core/message.ts';
import type { Model, ModelReply } from '../../src/models/port.ts';
import { call, createOutlast, defineTool, say, since, withFolder } from './outlast.ts';

/** Does what it is told in one word, and then says what came of it. */
const obedient: Model = {
  name: 'scripted/test',
  scripted: true,
  generate: async (request: ModelRequest): Promise<ModelReply> => {
    const { instruction, results } = since(request);
    if (results.length > 0) return say(`${instruction}: ${results.at(-1)}`);
    switch (instruction) {
      case 'post':
        return call('post', { to: 'ada' });
      case 'lose':
        return call('lose', { to: 'ada' });
      case 'ask':
        return call('ask_person', { question: 'Which month?', choices: ['May', 'June'] });
      default:
        return say('nothing');
    }
  },
};

const tools = (sent: string[]) => [
  defineTool({
    name: 'post',
    description: 'Posts.',
    input: { type: 'object' },
    capability: { kind: 'blind' },
    target: () => 'post office',
    run: async () => {
      sent.push('post');
      return { receipt: 'R-1' };
    },
  }),
  defineTool({
    name: 'lose',
    description: 'Loses its answer.',
    input: { type: 'object' },
    capability: { kind: 'blind' },
    target: () => 'black hole',
    run: async () => {
      sent.push('lose');
      throw new Error('the line was cut');
    },
  }),
];

it('shows what, why, evidence, since when, what happens on each answer and expiry; a late comer sees it whole', () =>
  withFolder(async (dataDir) => {
    const sent: string[] = [];
    const policy = { rules: [{ name: 'losers go', when: { tool: 'lose' }, verdict: 'allow' }] } as const;
    const open = () =>
      createOutlast({ dataDir, model: obedient, tools: tools(sent), policy, report: () => {} });
    const first = await open();
    const start = async (message: string): Promise<string> => {
      const { session } = await first.start({ message, persist: true });
      expect(await first.rest(session)).toBe('awaiting_decision');
      return session;
    };
    const [post, lose, ask] = [await start('post'), await start('lose'), await start('ask')];
    await first.start({ message: 'rest', persist: true });
    await first.close();

    const second = await open();
    const { items, after } = await second.inbox();
    expect(after).toBeNull();
    expect(new Set(items.map(({ session, about }) => `${session} ${about}`))).toEqual(
      new Set([`${post} approval`, `${lose} unknown`, `${ask} question`]),
    );
    const by = (about: string) => items.find((item) => item.about === about);
    expect(by('approval')).toMatchObject({
      ...{ id: 'd1', effect: 'e1', title: 'post', why: 'the rule "default:blind" asks' },
      action: { tool: 'post', target: 'post office', args: { to: 'ada' } },
      answers: [
        { answer: 'approve', brings: 'it is sent, exactly so' },
        { answer: 'reject', brings: 'it is not sent, and whoever asked for it is told why' },
      ],
    });
    expect(by('approval')?.expiresAt).toBeGreaterThan(by('approval')?.since ?? 0);
    expect(by('unknown')?.evidence).toContain('the line was cut');
    expect(by('unknown')?.answers.map(({ answer }) => answer)).toEqual(['done', 'not-done', 'reject']);
    expect(by('question')).toMatchObject({ question: 'Which month?', choices: ['May', 'June'] });
    expect((await second.as('eve' as never).inbox()).items).toEqual([]);
    expect((await second.inbox({ limit: 1 })).after).not.toBeNull();

    await second.decide(post, 'd1', 'approve', '', { digest: by('approval')?.digest ?? '' });
    await second.decide(lose, 'd1', 'done');
    await second.decide(ask, 'd1', 'answer', 'May');
    for (const session of [post, lose, ask]) expect(await second.rest(session)).toBe('awaiting_input');
    expect((await second.inbox()).items).toEqual([]);
    expect(sent.sort()).toEqual(['lose', 'post']);
    await second.close();
  }));
