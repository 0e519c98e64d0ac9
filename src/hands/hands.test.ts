import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll } from 'vitest';
import { detectCage } from '../sandbox/process/confine/detect.ts';
import { hasProgram } from '../sandbox/process/limits.ts';
import type { ProcessLimits } from '../sandbox/process/port.ts';
import { findPython } from '../sandbox/process/python.ts';
import { processSuite, SESSION } from '../sandbox/process/suite.ts';
import { listen } from '../server/listen.ts';
import { directoryWorkspaces } from '../workspace/directory.ts';
import { handsIn, workspaceSuite } from '../workspace/suite.ts';
import { openMachine } from './machine.ts';
import { openHands } from './open.ts';
import { handsApp } from './server.ts';

beforeAll(() => {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/ensure.mjs', import.meta.url))]);
}, 120_000);

const newDir = (): string => mkdtempSync(join(tmpdir(), 'outlast-hands-'));

/** Hands on a port of this machine, and brains that have nothing but its address. */
async function startHands(options: { dataDir: string; limits?: Partial<ProcessLimits>; pollMs?: number }) {
  const report = (): void => {};
  const machine = await openMachine({ ...options, report });
  const { fetch } = handsApp(machine, { token: TOKEN, report });
  const listening = await listen({ fetch, port: 0, hasTokens: true });
  const brain = () =>
    openHands({
      hands: { url: listening.url, token: TOKEN },
      remembered: null,
      here: directoryWorkspaces(join(options.dataDir, 'here')),
      isHeld: async () => true,
      report,
    });
  return {
    brain,
    async close() {
      await listening.close(0);
      await machine.close();
    },
  };
}

const TOKEN = 'token-of-these-tests';

const detected = await detectCage();
const python = await findPython();

processSuite({
  name: 'elsewhere, over HTTP',
  missing: detected.found ? null : detected.why.join('; '),
  skips: {
    ...(hasProgram('script') ? {} : { pty: 'script of util-linux is not here' }),
    ...(python === null ? { python: 'no CPython was found' } : {}),
  },
  async open(limits = {}) {
    const dataDir = newDir();
    // Shorter than most commands: what takes long is asked for by its reference.
    const hands = await startHands({ dataDir, limits, pollMs: 150 });
    const { processes } = await hands.brain();
    return {
      processes,
      workspace: join(dataDir, 'workspaces', SESSION, 'files'),
      again: async () => (await hands.brain()).processes,
      async dispose() {
        await processes.close();
        await hands.close();
        rmSync(dataDir, { recursive: true, force: true });
      },
    };
  },
});

workspaceSuite({
  name: 'elsewhere, over HTTP',
  async open() {
    const dataDir = newDir();
    // So short that most looks are asked for again.
    const hands = await startHands({ dataDir, pollMs: 2 });
    const [{ workspaces }, other] = [await hands.brain(), await hands.brain()];
    return {
      workspaces,
      hands: handsIn((session) => join(dataDir, 'workspaces', session, 'files')),
      again: () => other.workspaces,
      place: (name) => join(dataDir, name),
      async dispose() {
        await Promise.all([workspaces.close(), other.workspaces.close()]);
        await hands.close();
        rmSync(dataDir, { recursive: true, force: true });
      },
    };
  },
});
