/** The tail of the context: the present, rendered from its slices. Volatile, so it stands last. */

import { isConversation } from '../core/conversation/state.ts';
import { type Decision, openDecisions, type State, unknownEffects } from '../core/state.ts';
import type { Touched } from '../core/workspace/state.ts';
import { canonical } from '../lib/json.ts';
import { oneLine } from '../lib/text.ts';
import { driftInWords } from '../projections/files.ts';
import { report } from '../projections/report.ts';
import { family } from './family.ts';
import { budgetLine, fileLine } from './past.ts';
import { tasksInView } from './tasks.ts';

export function present(s: State): string {
  const lines = [
    `time: ${new Date(stepTime(s)).toISOString()}`,
    ...lossOf(s),
    ...instructions(s),
    ...budgetSince(s),
    ...(isConversation(s) ? tasksInView(s) : liveObjects(s)),
    ...pythonObjects(s),
    ...files(s),
    ...unknowns(s),
    ...openDecisions(s).map((d) => `open decision ${d.id}: a person is asked ${about(d)}${until(d)}`),
    ...(isConversation(s) ? [] : family(s)),
    ...s.timers.map((timer) => `timer ${timer.id}: until ${new Date(timer.due).toISOString()}`),
  ];
  return `[outlast] The present\n${lines.join('\n')}`;
}

function about({ about: subject, effect, question }: Decision): string {
  if (effect === null) return `"${oneLine(question, 120)}"`;
  return subject === 'approval' ? `whether ${effect} may be sent` : `about ${effect}`;
}

const until = ({ expiresAt }: Decision): string =>
  expiresAt === null ? '' : `, until ${new Date(expiresAt).toISOString()}`;

/** Once after a loss, and again until a model has answered a request that held it. */
function lossOf(s: State): readonly string[] {
  if (s.loss === null || s.loss.isTold) return [];
  const { last, lines } = report(s);
  const since = last === null ? '' : ` after ${new Date(last.lastAt).toISOString()} (event ${last.head})`;
  return [
    `recovery report: the worker of this session or part of its sandbox was lost${since}. What became of each kind of state:`,
    ...lines.map(
      ({ kind, fate, what, evidence }) =>
        `- ${kind}, ${fate}: ${oneLine(what, 400)}: ${oneLine(evidence, 200)}`,
    ),
  ];
}

/** Of what stands as open in the compacted past: what has become of it since. */
function instructions({ context, turn }: State): readonly string[] {
  const open = (context.past?.instructions ?? []).filter(({ status }) => status === 'open');
  const isOf = (one: number) => one === turn?.number;
  return [
    ...open.filter((one) => isOf(one.turn)).map(({ n }) => `instruction I${n}: not answered yet`),
    ...open.filter((one) => !isOf(one.turn)).map(({ n }) => `instruction I${n}: its turn is over`),
  ];
}

/** What somebody has changed of it since the contract was last shown. */
function budgetSince({ context: { past }, budget: { limits } }: State): readonly string[] {
  return past === null || canonical(past.terms.budget) === canonical(limits)
    ? []
    : [`now ${budgetLine(limits)}`];
}

function stepTime(s: State): number {
  return s.turn?.step.phase === 'generating' ? s.turn.step.startedAt : s.at;
}

function liveObjects(s: State): readonly string[] {
  if (s.heap.live.length === 0) return ['live objects: none'];
  const named = s.heap.live.map(({ name, type, size, cell }) => {
    const of = size === null ? type : `${type}(${size})`;
    return `${name}: ${of} from ${cell}`;
  });
  return [`live objects (generation ${s.heap.generation}): ${named.join('; ')}`];
}

/** Of a kernel that never had any there is nothing to say. */
function pythonObjects({ kernel: { live, generation } }: State): readonly string[] {
  if (live.length === 0) return generation === 1 ? [] : [`python objects (generation ${generation}): none`];
  const named = live.map(
    ({ name, type, size, effect }) => `${name}: ${size === null ? type : `${type}(${size})`} from ${effect}`,
  );
  return [`python objects (generation ${generation}): ${named.join('; ')}`];
}

/** What stands in the workspace, and what others have changed there since the model last heard of it. */
function files({ context, workspace: { tree, generation, drift, left, touched } }: State): readonly string[] {
  if (tree === null) return [];
  const of = generation === 1 ? '' : ` (generation ${generation}: earlier files were lost)`;
  return [
    `workspace${of}: ${tree.files} files, ${tree.bytes} bytes`,
    ...(context.past === null ? [] : touchedSince(touched)),
    ...(drift === null ? [] : [driftInWords(drift)]),
    ...left.slice(0, 5).map(({ path, why }) => `not kept with the workspace: ${oneLine(path, 120)}: ${why}`),
  ];
}

const MOST_FILES = 12;

/** The newest first. What was changed before the last compaction stands in the past. */
function touchedSince({ files, more }: Touched): readonly string[] {
  if (files.length === 0) return [];
  const named = [...files].reverse().slice(0, MOST_FILES).map(fileLine);
  const rest = files.length - named.length + more;
  const others = rest === 0 ? '' : `, and ${rest} more changes: list_files shows what stands there`;
  return [`files changed after that past: ${named.join(', ')}${others}`];
}

function unknowns(s: State): readonly string[] {
  return unknownEffects(s).map(
    (effect) =>
      `unknown effect ${effect.id}: ${effect.tool} to ${effect.target}, ${oneLine(JSON.stringify(effect.args), 200)}; ` +
      'nobody knows whether it happened. Other writes to this target wait for it.',
  );
}
