// Owns: what a scripted model answers when the oldest part of its view is to leave it: the entries as they are listed.

const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
/** As many lines as are asked for, at the most. */
const LINES = 40;
const CHARS = 160;

export function summary({ messages }) {
  const entries = [...messages.at(-1).text.matchAll(/^#(\d+) (.+)$/gm)].slice(-LINES);
  const lines = entries.map(
    ([, seq, text]) => `fact: ${text.replaceAll(/[[\]]/g, '').slice(0, CHARS)} [#${seq}]`,
  );
  return { parts: [{ type: 'text', text: lines.join('\n') }], finish: 'stop', usage };
}
