// Owns: a history as the log of a session: the very events that a runtime writes for such turns, and where in the log each
// piece of evidence stands.

const USAGE = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
const LIMITS = {
  ...{
    stepsPerTurn: 40,
    modelAttempts: 4,
    modelTimeoutMs: 600_000,
    effectTimeoutMs: 30_000,
    readAttempts: 3,
  },
  ...{ cellMs: 10_000, heapMb: 256, outputChars: 16_000, crashes: 5 },
};

/** `events`, and for each turn the places of its members: `{ message, call, row, response }`. */
export function eventsOf(turns) {
  const events = [];
  const places = [];
  const add = (at, body) => events.push({ ...body, seq: events.length + 1, at });
  add(turns[0].at, {
    kind: 'session.started',
    ...{
      owner: 'local',
      persist: true,
      objective: turns[0].message,
      title: 'retention',
      model: 'scripted/bench',
    },
    ...{ tools: ['look'], limits: LIMITS, seed: 1, budget: { turn: {}, session: {} } },
  });
  add(turns[0].at, { kind: 'lease.acquired', epoch: 1, holder: 'bench', clean: true });
  let step = 0;
  for (const [index, { at, message, call, row, response }] of turns.entries()) {
    const turn = index + 1;
    const completed = (parts, finish) =>
      add(at, {
        kind: 'model.completed',
        turn,
        step,
        model: 'scripted/bench',
        parts,
        finish,
        usage: USAGE,
        cost: null,
        ms: 0,
      });
    const own = { message: 0, call: 0, row: 0, response: 0 };
    add(at, {
      kind: 'message.accepted',
      ...{
        message: `m${turn}`,
        key: null,
        text: message,
        images: [],
        when: 'next',
        rule: `starts turn ${turn}`,
      },
    });
    own.message = events.length;
    add(at, { kind: 'turn.started', turn });
    step = 1;
    add(at, { kind: 'step.started', turn, step });
    add(at, { kind: 'message.read', turn, step, messages: [`m${turn}`] });
    if (call !== undefined) {
      const effect = `e${turn}`;
      const id = `call_${turn}`;
      completed([{ type: 'tool-call', call: id, tool: 'look', input: call }], 'tool-calls');
      own.call = events.length;
      add(at, {
        kind: 'effect.intended',
        ...{
          effect,
          origin: { by: 'call', call: id },
          tool: 'look',
          capability: { kind: 'read' },
          target: 'look',
        },
        ...{ identity: null, args: call, digest: `d${turn}` },
        policy: { verdict: 'allow', rule: 'bench', expiresAfterMs: null },
      });
      add(at, { kind: 'effect.dispatched', effect, attempt: 1, epoch: 1 });
      add(at, { kind: 'effect.settled', effect, attempt: 1, outcome: { status: 'done', result: row } });
      own.row = events.length;
      step = 2;
      add(at, { kind: 'step.started', turn, step });
    }
    completed([{ type: 'text', text: response }], 'stop');
    own.response = events.length;
    add(at, {
      kind: 'response.surfaced',
      ...{ turn, text: response, answers: [`m${turn}`], complete: true, claims: [] },
    });
    places.push(own);
  }
  return { events, places };
}

/** What was asked, with its evidence as places in the log. */
export const questionsOf = (asked, places) =>
  asked.map(({ kind, words, evidence }) => ({
    kind,
    words,
    evidence: [...new Set(evidence.map(({ turn, member }) => places[turn][member]))],
  }));
