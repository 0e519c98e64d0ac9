// Owns: what a scripted model reads of a request: the words of people, without those of the runtime.

const isSaid = ({ role, text }) => role === 'user' && !text.startsWith('[outlast]');

export const people = (messages) => messages.filter(isSaid).map(({ text }) => text);

/** What people said last, and whether something was done for it already. */
export function lastWord(messages) {
  const last = messages.findLastIndex(isSaid);
  return { text: messages[last].text, isDone: messages.slice(last).some(({ role }) => role === 'tool') };
}
