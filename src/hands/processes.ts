/**
 * The port to processes over environments elsewhere: what a supervisor there guards is asked for over the wire.
 *
 * C1 holds over a line that is cut: an answer that is missing is asked for by the reference, and only that is done
 * again. C2 and C3 are the supervisor's; C4 by the epoch in every call.
 */

import { Disconnected } from '../sandbox/process/connection.ts';
import type { Found, KernelObjects, Parked, ProcessBox, Processes, Report } from '../sandbox/process/port.ts';
import { isLostHands, type Places } from './places.ts';
import {
  type At,
  type EnvironmentAbilities,
  type Exec,
  type ExecAnswers,
  type ExecCall,
  PENDING,
} from './port.ts';

export function remoteProcesses(
  places: Places,
  { pauseKeeps, ...abilities }: EnvironmentAbilities,
  says: string,
): Processes {
  const { environments } = places;

  /** What may be asked again: W2. */
  async function asked<Op extends Exec['op']>(
    session: string,
    epoch: number | undefined,
    request: ExecCall<Op>,
  ): Promise<ExecAnswers[Op] | undefined> {
    const more = epoch === undefined ? {} : { epoch };
    const answer = await places.ask(session, (at) => environments.exec<Op>(at, request), more);
    return answer === PENDING ? undefined : answer;
  }

  async function find(
    session: string,
    epoch: number,
    reference: string,
    signal: AbortSignal,
  ): Promise<Found> {
    const off = onAbort(signal, () => callOff(session, epoch, reference));
    try {
      for (;;) {
        const look = (at: At) => environments.exec(at, { op: 'find', reference });
        const found = await places.ask(session, look, { epoch, signal });
        if (found === undefined) return { status: 'gone' };
        if (found !== PENDING) return found;
      }
    } catch (error) {
      if (isLostHands(error)) return { status: 'gone' };
      throw error;
    } finally {
      off();
    }
  }

  /** Whoever does not want it any more ends it, and hears what became of it. */
  function callOff(session: string, epoch: number, reference: string): void {
    asked(session, epoch, { op: 'callOff', reference }).catch(() => {});
  }

  function boxOf(session: string, epoch: number): ProcessBox {
    const once = async <Op extends Exec['op']>(request: ExecCall<Op>): Promise<ExecAnswers[Op]> => {
      const answer = await places.once(session, epoch, (at) => environments.exec<Op>(at, request));
      if (answer === undefined || answer === PENDING) throw new Disconnected('the hands gave no answer');
      return answer;
    };
    /** Sent once; what takes long is then asked for. */
    async function run<Op extends 'run' | 'cell'>(
      reference: string,
      request: ExecCall<Op>,
      signal: AbortSignal,
    ): Promise<ExecAnswers[Op]> {
      const off = onAbort(signal, () => callOff(session, epoch, reference));
      try {
        const answer = await places.once(session, epoch, (at) => environments.exec<Op>(at, request));
        if (answer !== undefined && answer !== PENDING) return answer;
        const found = await find(session, epoch, reference, signal);
        if (found.status === 'known') return found.report as ExecAnswers[Op];
        throw new Disconnected('the environment of this session ended before it answered');
      } finally {
        off();
      }
    }
    return {
      run: (command, signal) => run<'run'>(command.reference, { op: 'run', command }, signal),
      cell: (cell, signal) => run<'cell'>(cell.reference, { op: 'cell', cell }, signal),
      find: (reference, signal) => find(session, epoch, reference, signal),
      jobs: () => once<'jobs'>({ op: 'jobs' }),
      look: (job, chars) => once<'look'>({ op: 'look', job, chars: chars ?? null }),
      input: (job, text, reference) => once<'input'>({ op: 'input', job, text, reference }),
      kill: (job) => once<'kill'>({ op: 'kill', job }),
    };
  }

  return {
    abilities,
    says,
    async open(session, epoch) {
      await places.entered(session, epoch);
      places.hold(session, epoch);
      await asked(session, epoch, { op: 'open' });
      return boxOf(session, epoch);
    },
    find,
    hold: (session, epoch) => places.hold(session, epoch),
    async running(session): Promise<readonly Report[]> {
      const running = (await asked(session, undefined, { op: 'running' }).catch(() => undefined)) ?? [];
      // It was woken to be asked.
      if (running.length === 0) places.rest(session);
      return running;
    },
    async park(session, epoch, mayLose): Promise<Parked> {
      // Where a pause keeps the memory, the kernel is as safe as it is.
      const parked =
        pauseKeeps === 'memory' ? undefined : await asked(session, epoch, { op: 'park', mayLose });
      if (parked?.status === 'kept') return parked;
      const running = await asked(session, epoch, { op: 'running' });
      if (running?.length === 0) places.rest(session);
      return parked ?? { status: 'parked', kept: [] };
    },
    async objects(session, epoch): Promise<KernelObjects | null> {
      try {
        return (await asked(session, epoch, { op: 'objects' })) ?? null;
      } catch (error) {
        if (isLostHands(error)) return null;
        throw error;
      }
    },
    async end(session) {
      try {
        await asked(session, undefined, { op: 'end' });
      } catch (error) {
        // Nothing of it is left.
        if (!isLostHands(error)) throw error;
      }
      places.rest(session);
    },
    // With its environment, which has the files as well.
    erase: (session, epoch) => places.destroy(session, epoch),
    close: () => places.close(),
  };
}

/** Now or later; the function that comes back ends the watching. */
function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) act();
  signal.addEventListener('abort', act, { once: true });
  return () => signal.removeEventListener('abort', act);
}
