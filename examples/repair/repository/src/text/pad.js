/** Filled up with spaces on the right. */
export const padEnd = (text, width) => text + ' '.repeat(Math.max(0, Math.floor(width - text.length)));

/** Filled up with spaces on the left. */
export const padStart = (text, width) => ' '.repeat(Math.max(0, Math.floor(width - text.length))) + text;
