/** From the address of hands to the ports that the runtime stands on. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isRecord, parseJson } from '../lib/json.ts';
import type { Processes } from '../sandbox/process/port.ts';
import type { Workspaces } from '../workspace/port.ts';
import { type HandsAddress, httpEnvironments } from './http.ts';
import { isUnreachable, Places, type PlacesOptions } from './places.ts';
import type { Environments } from './port.ts';
import { remoteProcesses } from './processes.ts';
import { remoteWorkspaces } from './workspaces.ts';

export interface HandsOptions extends Pick<PlacesOptions, 'isHeld' | 'report' | 'everyMs'> {
  readonly hands: HandsAddress | Environments;
  /** What they said of themselves last, for a brain that starts while they are away; null keeps nothing. */
  readonly remembered: string | null;
  /** Files of this machine. */
  readonly here: Workspaces;
}

type Said = Awaited<ReturnType<Environments['abilities']>>;

export async function openHands({
  hands,
  remembered,
  here,
  ...rest
}: HandsOptions): Promise<{ readonly processes: Processes; readonly workspaces: Workspaces }> {
  const environments = 'exec' in hands ? hands : httpEnvironments(hands);
  const { abilities, says } = await saidBy(environments, remembered, rest.report);
  const canPause = abilities.pauseKeeps !== 'no pause';
  const places = new Places({ environments, canPause, ...rest });
  return {
    processes: remoteProcesses(places, abilities, `${says}, by ${environments.name}`),
    workspaces: remoteWorkspaces(places, here),
  };
}

/** Hands that are away are no reason to refuse people: what they can do is known from before. */
async function saidBy(
  environments: Environments,
  remembered: string | null,
  report: HandsOptions['report'],
): Promise<Said> {
  try {
    const said = await environments.abilities();
    if (remembered !== null) {
      mkdirSync(dirname(remembered), { recursive: true });
      writeFileSync(remembered, JSON.stringify({ of: environments.name, said }), { mode: 0o600 });
    }
    return said;
  } catch (error) {
    const before = remembered === null ? null : saidBefore(remembered, environments.name);
    if (!isUnreachable(error) || before === null) throw error;
    report('the hands do not answer; what needs them waits', error);
    return before;
  }
}

function saidBefore(path: string, name: string): Said | null {
  try {
    const kept = parseJson(readFileSync(path, 'utf8'));
    return isRecord(kept) && kept.of === name ? (kept.said as unknown as Said) : null;
  } catch {
    return null;
  }
}
