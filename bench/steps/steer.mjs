// steerMs: a message over HTTP into a step of 1.5 seconds, sent 0.2 s after the step began: from the call until it is
// durable and seen inside the step.
//
// Seen, while the model speaks and the message says `now`: the model call was ended, and a step that has read the message is
// committed. Seen, while a tool runs: the holder of the session has folded it; the tool goes on, and what comes next knows.
// The figure is the slower of the two. Both are also taken in-process, without HTTP.

import { setTimeout as sleep } from 'node:timers/promises';
import { instant } from '../kit/instant.mjs';
import { post, startServer } from '../kit/process.mjs';
import { model, tools } from '../kit/script.mjs';
import { median, rounded, spread } from '../kit/spread.mjs';
import { folder, stage } from '../kit/stage.mjs';

export const names = ['steerMs'];

const INTO_MS = 200;

export async function measure({ quick = false } = {}) {
  const count = quick ? 3 : 15;
  const http = await overHttp(count);
  const inProcess = await within(count);
  return {
    figures: { steerMs: rounded(Math.max(median(http.thinks), median(http.acts))) },
    details: {
      http: { thinks: spread(http.thinks), acts: spread(http.acts), receipt: spread(http.receipts) },
      inProcess: { thinks: spread(inProcess.thinks), acts: spread(inProcess.acts) },
    },
  };
}

async function overHttp(count) {
  const dir = folder();
  const server = startServer(dir.path);
  const { url } = await server.ready();
  const taken = { thinks: [], acts: [], receipts: [] };
  try {
    for (let n = 0; n <= count; n++) {
      for (const doing of ['thinks', 'acts']) {
        const { session } = await post(url, '/v1/sessions', { message: `${doing} for long`, persist: true });
        await server.line((line) => line.session === session && hasBegun(line, doing));
        await sleep(INTO_MS);
        const from = server.heardSoFar();
        const sentAt = instant();
        await post(url, `/v1/sessions/${session}/messages`, { message: 'change of plan', when: 'now' });
        const receiptMs = instant() - sentAt;
        const seen = await server.line((line) => line.session === session && isSeen(line, doing), { from });
        if (n === 0) continue; // The first of each opens what is opened once.
        taken[doing].push(Math.max(seen.at - sentAt, receiptMs));
        taken.receipts.push(receiptMs);
      }
    }
    return taken;
  } finally {
    await server.kill();
    dir.remove();
  }
}

function hasBegun({ did, kinds = [] }, doing) {
  return did === 'committed' && kinds.includes(doing === 'thinks' ? 'step.started' : 'effect.dispatched');
}

function isSeen({ did, kinds = [] }, doing) {
  return doing === 'thinks'
    ? did === 'committed' && kinds.includes('message.read')
    : did === 'folded' && kinds.includes('message.accepted');
}

async function within(count) {
  const on = await stage({ model, tools });
  const taken = { thinks: [], acts: [] };
  for (let n = 0; n <= count; n++) {
    for (const doing of ['thinks', 'acts']) {
      const session = await on.start(`${doing} for long`);
      await sleep(INTO_MS);
      on.marks.length = 0;
      const sentAt = performance.now();
      await on.outlast.send(session, 'change of plan', { when: 'now' });
      while (!on.marks.some((mark) => isSeen(mark, doing))) await sleep(1);
      if (n === 0) continue;
      taken[doing].push(on.marks.find((mark) => isSeen(mark, doing)).at - sentAt);
      if (doing === 'thinks') await on.outlast.rest(session);
    }
  }
  await on.end();
  return taken;
}
