/**
 * The tool `recall`: how a model reads its own past. Planned and kept as any tool that only reads, and answered by the
 * runtime from the log of the very session that asks.
 *
 * O1  An answer fits into what the view shows of a result, so it is never cut again.
 * O2  What it gives stands in the log a second time, as its result; it is bounded, and no search finds it (A3 of the passages).
 */

import { inWords } from '../../context/recall/render.ts';
import { RECALL } from '../../core/effect.ts';
import { OutlastError } from '../../core/error.ts';
import type { State } from '../../core/state.ts';
import { assert } from '../../lib/assert.ts';
import { given } from '../../lib/given.ts';
import { boundOf } from '../../lib/instant.ts';
import { isRecord, type Json } from '../../lib/json.ts';
import { wellFormed } from '../../lib/well-formed.ts';
import { PASSAGE_KINDS } from '../../projections/recall/passages.ts';
import type { Answer, Plan, Refusal, Tool } from '../../tools/port.ts';
import { type Past, type RecallRequest, recall } from './recall.ts';

/** As the registry offers and plans it. Whoever performs it knows the session (`recallFor`). */
export const RECALL_TOOL: Tool = {
  spec: {
    name: RECALL,
    description:
      'Read the log of this task, which keeps everything that was said and done, byte for byte. By id: the original of ' +
      'what a citation such as #41 names. By words: the passages that answer a question best. By kind and time: a list. ' +
      'Use it for what is cut or not in view any more.',
    input: {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'A citation: "#41", or "#41.2" for a part.' },
        words: {
          type: 'string',
          description: 'A question, or the words and exact values that it would have.',
        },
        kind: { type: 'string', enum: [...PASSAGE_KINDS], description: 'Only this kind.' },
        from: { type: 'string', description: 'Not before this day or instant, as ISO 8601.' },
        to: { type: 'string', description: 'Not after this day or instant.' },
        offset: {
          type: 'integer',
          description: 'By id: characters to skip. In a list: newer passages to skip.',
        },
        limit: { type: 'integer', description: 'By id: characters. In a list: passages.' },
      },
      additionalProperties: false,
    },
  },
  direct: true,
  plan,
  async run() {
    throw new OutlastError('internal', 'What is recalled is read by whoever performs the call.');
  },
};

/** The same for one session as it stands. */
export const recallFor = (session: Past['session'], s: State, store: Past['store']): Tool => ({
  ...RECALL_TOOL,
  async run(args, { signal }): Promise<Answer> {
    const request = requestOf(args);
    assert(typeof request !== 'string', 'what was planned can be asked');
    try {
      const recalled = await recall(
        { session, state: s, store, signal },
        request,
        s.contract.limits.outputChars,
      );
      return { status: 'done', result: wellFormed(inWords(recalled)) };
    } catch (error) {
      if (!(error instanceof OutlastError) || error.code !== 'request.invalid') throw error;
      return { status: 'failed', code: error.code, message: error.message };
    }
  },
});

function plan(args: Json): Plan | Refusal {
  const request = requestOf(args);
  if (typeof request === 'string')
    return { refused: { code: 'call.invalid', message: `recall: ${request}.` } };
  return { capability: { kind: 'read' }, target: `tools.${RECALL}`, identity: null, args };
}

const MEMBERS = ['id', 'words', 'kind', 'from', 'to', 'offset', 'limit'];
const LONGEST = 2_000;

/** What is asked for, or what is wrong with the arguments. */
function requestOf(args: Json): RecallRequest | string {
  if (!isRecord(args)) return 'the arguments are an object';
  const strange = Object.keys(args).find((name) => !MEMBERS.includes(name));
  if (strange !== undefined) return `there is no "${strange}"; there are ${MEMBERS.join(', ')}`;
  const { id, words, kind, from, to, offset, limit } = args;
  if (id === undefined && words === undefined && kind === undefined && from === undefined && to === undefined)
    return 'give an id, words, a kind or a time';
  if (id !== undefined && [words, kind, from, to].some((other) => other !== undefined))
    return 'an id stands alone, with offset and limit';
  if (id !== undefined && !(typeof id === 'string' && id.length < 40))
    return 'an id is as results cite it: "#41"';
  if (words !== undefined && !(typeof words === 'string' && words.trim() !== '' && words.length <= LONGEST))
    return `words are a text of at most ${LONGEST} characters`;
  const known = PASSAGE_KINDS.find((one) => one === kind);
  if (kind !== undefined && !known) return `the kinds are ${PASSAGE_KINDS.join(', ')}`;
  const first = from === undefined ? undefined : boundOf(from, 'from');
  const last = to === undefined ? undefined : boundOf(to, 'to');
  if (Number.isNaN(first) || Number.isNaN(last))
    return 'from and to are a day or an instant with its zone, as ISO 8601';
  if (!isCount(offset, 0) || !isCount(limit, 1)) return 'offset and limit are whole numbers';
  return given({ id, words, kind: known, from: first, to: last, offset, limit }) as RecallRequest;
}

const isCount = (value: Json | undefined, least: number): boolean =>
  value === undefined || (typeof value === 'number' && Number.isSafeInteger(value) && value >= least);
