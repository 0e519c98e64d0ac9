// killToStepMs, killToStepStandbyMs, processStartMs: SIGKILL in the middle of a turn, and the next committed step.
//
// Restart: from the start of a new process on the same folder until it has committed something that the killed turn waited
// for. Standby: another process is up and waits for the folder; from the kill until its first commit of that kind. In turn
// with them: a process started on an empty folder, until it can be reached.

import { instant } from '../kit/instant.mjs';
import { post, startServer } from '../kit/process.mjs';
import { BEAT_MS } from '../kit/script.mjs';
import { median, rounded, spread } from '../kit/spread.mjs';
import { folder } from '../kit/stage.mjs';

export const names = ['killToStepMs', 'killToStepStandbyMs', 'processStartMs'];

/** Steps that a turn has made before the kill. */
const INTO = 10;

export async function measure({ quick = false } = {}) {
  const count = quick ? 2 : 9;
  const restarts = [];
  const standbys = [];
  const starts = [];
  for (let n = 0; n < count; n++) {
    restarts.push(await restart());
    starts.push(await start());
    standbys.push(await standby());
  }
  return {
    figures: {
      killToStepMs: rounded(median(restarts)),
      killToStepStandbyMs: rounded(median(standbys)),
      processStartMs: rounded(median(starts)),
    },
    details: {
      restart: spread(restarts),
      standby: spread(standbys),
      processStart: spread(starts),
      restartBeyondProcessStartMs: rounded(median(restarts) - median(starts)),
      modelAndToolMs: BEAT_MS,
    },
  };
}

async function restart() {
  const dir = folder();
  const first = startServer(dir.path);
  await work(first);
  await first.kill();
  const second = startServer(dir.path);
  const { at } = await second.line(isStep);
  await second.kill();
  dir.remove();
  return at - second.spawnedAt;
}

async function standby() {
  const dir = folder();
  const first = startServer(dir.path);
  await first.ready();
  const second = startServer(dir.path, { standby: true });
  await second.line(({ did }) => did === 'waiting');
  await work(first);
  const killedAt = instant();
  await first.kill();
  const { at } = await second.line(isStep);
  await second.kill();
  dir.remove();
  return at - killedAt;
}

async function start() {
  const dir = folder();
  const server = startServer(dir.path);
  const { at } = await server.ready();
  await server.kill();
  dir.remove();
  return at - server.spawnedAt;
}

/** Brings a server into the middle of a turn. */
async function work(server) {
  const { url } = await server.ready();
  await post(url, '/v1/sessions', { message: 'steady work', persist: true });
  await server.line(isStep, { nth: 2 * INTO });
}

/** A model reply or a settlement: what only a step that went on can commit. */
function isStep({ did, kinds = [] }) {
  return did === 'committed' && (kinds.includes('model.completed') || kinds.includes('effect.settled'));
}
