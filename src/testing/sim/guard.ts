/**
 * While the simulator runs, the machine's own clock, randomness, timers and network throw, with the name of the port to
 * use. Whatever slips past a port would make runs differ.
 */

export function forbidAmbient(): () => void {
  const globals = globalThis as unknown as Record<string, unknown>;
  const saved = new Map<string, unknown>();
  for (const [name, port] of Object.entries(FORBIDDEN)) {
    saved.set(name, globals[name]);
    globals[name] = () => {
      throw new Error(`${name} is used in the simulator: go through ${port}`);
    };
  }
  const { now } = Date;
  const { random } = Math;
  Date.now = forbid('Date.now', 'the Clock port');
  Math.random = forbid('Math.random', 'the Entropy port');
  return () => {
    for (const [name, value] of saved) globals[name] = value;
    Date.now = now;
    Math.random = random;
  };
}

const FORBIDDEN: Readonly<Record<string, string>> = {
  setTimeout: 'the Clock port',
  setInterval: 'the Clock port',
  fetch: 'a tool',
};

function forbid(name: string, port: string): () => never {
  return () => {
    throw new Error(`${name} is used in the simulator: go through ${port}`);
  };
}
