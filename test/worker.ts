/** A worker that dies while it works. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { OutlastOptions } from '../src/compose.ts';
import { alive, until } from '../src/sandbox/process/suite-kit.ts';

/** A worker in a process of its own, killed once its call is answered, or runs. */
export async function killedWorker(
  options: OutlastOptions,
  session: string | null,
  message: string,
  running?: string,
): Promise<string> {
  const script = `
    const { createOutlast } = await import(${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)});
    const [options, session, message] = JSON.parse(process.argv[1]);
    const model = { name: 'scripted/test', scripted: true, async generate({ messages }) {
      const last = messages.findLastIndex((m) => m.role === 'user' && !m.text.startsWith('[outlast]'));
      const isAnswered = messages.slice(last).some((m) => m.role === 'tool');
      const text = messages[last].text;
      const input = isAnswered ? null : JSON.parse(text.slice(text.indexOf(' ')));
      return {
        parts: [isAnswered ? { type: 'text', text: 'done' } : { type: 'tool-call', tool: text.split(' ')[0], input }],
        finish: isAnswered ? 'stop' : 'tool-calls',
        usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
      };
    } };
    const outlast = await createOutlast({ ...options, model });
    const id = session ?? (await outlast.start({ message, persist: true })).session;
    if (session) await outlast.send(id, message);
    console.log(id);
    await outlast.rest(id);
    console.log('rests');
  `;
  const args = ['--input-type=module', '-e', script, JSON.stringify([options, session, message])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let said = '';
  child.stdout.on('data', (data) => {
    said += data;
  });
  try {
    if (running) await until(() => alive(running).length > 0, 'the command runs');
    else await until(() => said.includes('rests'), 'the call is answered');
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
  return said.split('\n')[0] ?? '';
}
