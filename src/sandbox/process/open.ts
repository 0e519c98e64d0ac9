/** From what the machine allows to the process sandboxes of a worker. */

import { join } from 'node:path';
import { given } from '../../lib/given.ts';
import { type CageSpec, detectCage } from './confine/detect.ts';
import { shownOf } from './confine/visible.ts';
import { type HostOptions, ProcessHost } from './host.ts';
import { findKeeper, type Keeper, parkingOf } from './image/detect.ts';
import { hasProgram } from './limits.ts';
import { allowedOf } from './network/allow.ts';
import { type ConfinementName, PROCESS_LIMITS, type Processes, type ProcessLimits } from './port.ts';
import { findPython, type Python } from './python.ts';
import { type Found, remembered } from './remembered.ts';

export interface ProcessOptions extends Pick<HostOptions, 'isHeld' | 'report' | 'imageKey'> {
  readonly dataDir: string;
  /** Only this confinement, instead of the strongest that works; `none` lets commands run without any. */
  readonly confinement?: ConfinementName | undefined;
  /** Hosts that commands may reach, with or without a port; none by default. */
  readonly network?: readonly string[];
  readonly limits?: Partial<ProcessLimits>;
  /** How long commands go on when no worker renews. */
  readonly holdMs?: number;
  /** How long a sandbox stays with nothing running and nobody asking. */
  readonly idleMs?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export type OpenedProcesses =
  | {
      readonly offered: true;
      readonly processes: Processes;
      /** What is kept of a kernel that is parked; null without Python. In a line for people, like all of these. */
      readonly parking: string | null;
    }
  | { readonly offered: false; readonly says: string };

/** Long enough for a server that is started again by hand, short enough for a machine that nobody comes back to. */
const HOLD_MS = 120_000;
/** A follow-up within it finds its sandbox; another is started within a tenth of a second. */
const IDLE_MS = 30_000;

const BARE_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export async function openProcesses(options: ProcessOptions): Promise<OpenedProcesses> {
  const { dataDir, confinement: only, env = process.env } = options;
  const find = async (): Promise<Found | Missing> => {
    const [detected, python, keeper] = await Promise.all([cages(only), findPython(env), findKeeper(env)]);
    return detected.found ? { cage: detected.spec, python, keeper } : { why: detected.why };
  };
  // Only the usual question is asked again and again.
  const found = only
    ? await find()
    : await remembered(join(dataDir, 'run', 'found.json'), env, find, isFound);
  if (isFound(found)) {
    const { cage, python, keeper } = found;
    const parking = python && parkingOf(keeper, cage.name);
    return { offered: true, processes: processesIn(cage, python, options, keeper), parking };
  }
  return {
    offered: false,
    says: `shell, python: not offered: no confinement found (${found.why.join('; ')}); --unconfined runs them without`,
  };
}

interface Missing {
  readonly why: readonly string[];
}

const isFound = (found: Found | Missing): found is Found => 'cage' in found;

/** Found once: the machine stays as it is while this process lives. */
const known = new Map<string, ReturnType<typeof detectCage>>();

function cages(only?: ConfinementName): ReturnType<typeof detectCage> {
  const key = only ?? 'best';
  const detecting = known.get(key) ?? detectCage(only);
  known.set(key, detecting);
  return detecting;
}

/** With what was found. */
export function processesIn(
  cage: CageSpec,
  python: Python | null,
  options: ProcessOptions,
  { criu }: Pick<Keeper, 'criu'> = { criu: null },
): Processes {
  const {
    dataDir,
    isHeld,
    report,
    imageKey,
    limits,
    network = [],
    holdMs = HOLD_MS,
    idleMs = IDLE_MS,
  } = options;
  allowedOf(network);
  const isConfined = cage.name !== 'none';
  // Without a key nothing could be sealed, and no image is made.
  const keeper = cage.name === 'bubblewrap' && imageKey ? criu : null;
  const hosts = isConfined ? network : [];
  const bin = python?.program.slice(0, python.program.lastIndexOf('/'));
  const path = !bin || BARE_PATH.split(':').includes(bin) ? BARE_PATH : `${bin}:${BARE_PATH}`;
  const abilities: Processes['abilities'] = {
    confinement: cage.name,
    network: !isConfined ? 'open' : hosts.length > 0 ? 'listed' : 'denied',
    outlivesWorker: true,
    pty: hasProgram('script'),
    python: python?.version ?? null,
    keepsWhole: keeper && `criu ${keeper.version}`,
  };
  const settings = {
    ...{
      cage,
      shown: isConfined ? shownOf(python) : [],
      path,
      python: python?.program ?? null,
      holdMs,
      idleMs,
    },
    limits: { ...PROCESS_LIMITS, ...limits },
    criu: keeper?.program ?? null,
  };
  const says = saysOf(abilities, hosts);
  return new ProcessHost({
    dir: join(dataDir, 'run'),
    abilities,
    says,
    settings,
    hosts,
    isHeld,
    report,
    ...given({ imageKey }),
  });
}

function saysOf({ confinement, python }: Processes['abilities'], hosts: readonly string[]): string {
  const what = `shell${python === null ? '' : `, python ${python}`}`;
  if (confinement === 'none') return `${what}: NOT confined: commands see and change what this server can`;
  const reach = hosts.length > 0 ? `only ${hosts.join(', ')} to reach` : 'no network';
  const by = confinement === 'bubblewrap' ? 'bubblewrap' : 'namespaces of the kernel';
  return `${what}: confined by ${by} (a user without rights, ${reach}, only the workspace can be written)`;
}
